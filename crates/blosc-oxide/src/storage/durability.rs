//! How much a writer waits for.

/// What a commit survives.
///
/// ```
/// use blosc_oxide::{FrameOptions, Options, storage::Durability};
/// let scratch = FrameOptions::new(Options::new(8)).with_durability(Durability::None);
/// assert_eq!(scratch.durability(), Durability::None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The process being killed.
    None,
    /// The power going out as well: it waits for the disk, twice.
    #[default]
    Fsync,
}
