//! What a commit waits for.

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
    /// That the process is killed.
    None,
    /// A loss of power as well: it waits for the disk, twice.
    #[default]
    Fsync,
}
