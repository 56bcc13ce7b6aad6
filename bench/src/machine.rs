//! Which machine the figures are of.

/// The processor, its vectors, and what is compared.
pub(crate) fn describe(peer: &str, blosc1: Option<&str>) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").ok();
    let model = cpu.as_deref().and_then(|cpu| cpu.lines().find(|line| line.starts_with("model name")));
    let model = model.and_then(|line| line.split(':').nth(1)).map_or(std::env::consts::ARCH, str::trim);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let isa = blosc_kernels::isa::Isa::best().name();
    let blosc1 = blosc1.map_or_else(String::new, |version| format!(" and C-Blosc {version}"));
    let ours = env!("CARGO_PKG_VERSION");
    format!("{model}, {threads} threads, {isa}; blosc-oxide {ours} against C-Blosc2 {peer}{blosc1}")
}
