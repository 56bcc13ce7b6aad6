//! The six slots of a chunk's filters.

use super::{Filter, id};
use crate::error::{Result, bail};
use crate::limits::MAX_FILTERS;
use std::fmt;

/// Up to six filters, applied in order when compressing and backwards when decompressing.
///
/// ```
/// use blosc_oxide::{Filter, Pipeline};
/// let pipeline = Pipeline::new(&[Filter::Delta, Filter::Shuffle])?;
/// assert_eq!(pipeline.filters().collect::<Vec<_>>(), [Filter::Delta, Filter::Shuffle]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Pipeline {
    ids: [u8; MAX_FILTERS],
    metas: [u8; MAX_FILTERS],
}

impl Pipeline {
    /// No filter at all.
    #[must_use]
    pub const fn none() -> Self {
        Self { ids: [0; MAX_FILTERS], metas: [0; MAX_FILTERS] }
    }

    /// The pipeline of these slots, as a header stores them.
    #[must_use]
    pub const fn from_slots(ids: [u8; MAX_FILTERS], metas: [u8; MAX_FILTERS]) -> Self {
        Self { ids, metas }
    }

    /// These filters in the last slots, where the reference puts them.
    ///
    /// # Errors
    /// `InvalidArgument` for more than six.
    pub fn new(filters: &[Filter]) -> Result<Self> {
        let Some(free) = MAX_FILTERS.checked_sub(filters.len()) else {
            bail!(InvalidArgument, "{} filters given, a chunk has room for {MAX_FILTERS}", filters.len());
        };
        let mut pipeline = Self::none();
        for (slot, filter) in filters.iter().enumerate() {
            pipeline.ids[free + slot] = filter.id();
            pipeline.metas[free + slot] = filter.meta();
        }
        Ok(pipeline)
    }

    /// The id of each slot; 0 is empty.
    #[must_use]
    pub fn ids(&self) -> [u8; MAX_FILTERS] {
        self.ids
    }

    /// The meta byte of each slot.
    #[must_use]
    pub fn metas(&self) -> [u8; MAX_FILTERS] {
        self.metas
    }

    /// The id and the meta byte of each slot, byte by byte: a pipeline that has just been parsed is
    /// not all in one piece yet.
    #[inline(always)]
    pub(super) fn slots(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        self.ids.iter().copied().zip(self.metas.iter().copied())
    }

    /// The filters in the order of compression.
    pub fn filters(&self) -> impl DoubleEndedIterator<Item = Filter> + '_ {
        self.ids.iter().zip(&self.metas).filter_map(|(&id, &meta)| Filter::from_id(id, meta))
    }

    /// Whether a filter with this id is in any slot.
    #[must_use]
    pub fn contains(&self, id: u8) -> bool {
        self.ids.contains(&id)
    }

    /// The same with the number of planes in every bytedelta that takes it from the size of items.
    /// C-Blosc2 refuses a chunk without that number if it is in no super-chunk.
    pub(crate) fn with_planes(self, planes: u8) -> Self {
        let (ids, mut metas) = (self.ids(), self.metas());
        for (&id, meta) in ids.iter().zip(&mut metas) {
            if matches!(id, id::BYTEDELTA | id::BYTEDELTA_RESTARTING) && *meta == 0 {
                *meta = planes;
            }
        }
        Self::from_slots(ids, metas)
    }

    /// Refuses pipelines whose output could not be decoded again.
    pub(crate) fn check_order(&self) -> Result<()> {
        let deltas = self.ids.iter().filter(|&&id| id == id::DELTA).count();
        if deltas > 1 {
            bail!(InvalidArgument, "delta stands {deltas} times in the pipeline, it can only be undone once");
        }
        let first = self.filters().next().map(Filter::id);
        if deltas == 1 && first != Some(id::DELTA) {
            bail!(
                InvalidArgument,
                "delta refers to the unfiltered data, so it must be the first filter; the first is {}",
                self.filters().next().map_or_else(String::new, |filter| filter.to_string())
            );
        }
        Ok(())
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for filter in self.filters() {
            write!(f, "{separator}{filter}")?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_put_into_the_last_slots() {
        let pipeline = Pipeline::new(&[Filter::TruncPrec(-3), Filter::Shuffle]).unwrap();
        assert_eq!(pipeline.ids(), [0, 0, 0, 0, 4, 1]);
        assert_eq!(pipeline.metas(), [0, 0, 0, 0, 253, 0]);
        assert_eq!(pipeline.to_string(), "trunc_prec:-3, shuffle");
        assert!(Pipeline::new(&[Filter::Shuffle; 7]).is_err());
    }

    #[test]
    fn delta_is_refused_where_it_cannot_be_undone() {
        let bad = [vec![Filter::Shuffle, Filter::Delta], vec![Filter::Delta, Filter::Delta]];
        for filters in bad {
            assert!(Pipeline::new(&filters).unwrap().check_order().is_err(), "{filters:?}");
        }
        assert!(Pipeline::new(&[Filter::Delta, Filter::Shuffle]).unwrap().check_order().is_ok());
    }
}
