//! How much a writer waits for.

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The process being killed.
    None,
    /// The power going out as well: it waits for the disk, twice.
    #[default]
    Fsync,
}
