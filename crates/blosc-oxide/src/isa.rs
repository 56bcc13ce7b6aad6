//! The instruction set that the kernels run on: reported, and forced by name.

use crate::error::{Result, error};
use blosc_kernels::isa::Isa;

/// The instruction set that filters, copies and our own codecs run on: the best of this processor,
/// or the one that was [forced](force). One of `scalar`, `sse2`, `avx2`, `avx512`, `neon`
/// and `simd128`, the last where a program for WebAssembly was compiled with that feature.
#[must_use]
pub fn current() -> &'static str {
    Isa::best().name()
}

/// The instruction sets of this processor that kernels are written for, the slowest first.
pub fn available() -> impl Iterator<Item = &'static str> {
    Isa::available().map(Isa::name)
}

/// Makes the whole process use this instruction set, one of [`available`], for all that is done
/// from now on.
///
/// This is for finding a fault that only some processors show, and for benchmarks. Results are the
/// same on every instruction set, and so this is the only setting of the process. `scalar` is
/// portable Rust. It has no effect on zstd, the checksums of Bloscpack and the encoder of zlib at
/// levels 6 to 9, which are other libraries.
///
/// # Errors
/// `InvalidArgument` if there is no instruction set of this name, or the processor does not have
/// it; nothing changes then.
///
/// ```
/// blosc_oxide::isa::force("scalar")?;
/// assert_eq!(blosc_oxide::isa::current(), "scalar");
/// assert!(blosc_oxide::isa::force("mmx").is_err());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub fn force(name: &str) -> Result<()> {
    if Isa::from_name(name).is_some_and(Isa::choose) {
        return Ok(());
    }
    let there_are: Vec<&str> = available().collect();
    Err(error!(InvalidArgument, "instruction set {name:?}: this processor has {}", there_are.join(", ")))
}
