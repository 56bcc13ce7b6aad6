//! Other programs that keep the processors busy while something is measured.

use std::io::Read;
use std::process::{Child, Command, Stdio};

/// As many busy loops as there are processors, two at least, each in a process of its own. They end
/// when this is dropped, and also when this process dies.
pub(crate) struct BusyLoops(Vec<Child>);

impl BusyLoops {
    /// Starts them.
    pub(crate) fn start() -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|problem| problem.to_string())?;
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut loops = Self(Vec::new());
        for _ in 0..processors.max(2) {
            let child = Command::new(&program).arg("spin").stdin(Stdio::piped()).spawn();
            loops.0.push(child.map_err(|problem| format!("{}: {problem}", program.display()))?);
        }
        Ok(loops)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended already is no worse.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What each of these processes does: it computes until its input is closed.
pub(crate) fn spin() {
    std::thread::spawn(|| {
        let mut number = 1_u64;
        loop {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
