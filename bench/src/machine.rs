//! Which machine the figures are of.

/// The processor, its vectors, and the two that are compared.
pub(crate) fn describe(peer: &str) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").ok();
    let model = cpu.as_deref().and_then(|cpu| cpu.lines().find(|line| line.starts_with("model name")));
    let model = model.and_then(|line| line.split(':').nth(1)).map_or(std::env::consts::ARCH, str::trim);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let isa = blosc_kernels::isa::Isa::best().name();
    format!("{model}, {threads} threads, {isa}; blosc-oxide {} against C-Blosc2 {peer}", env!("CARGO_PKG_VERSION"))
}
