//! The five filter slots, of three bits each.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Result, bail};
use crate::filter::{Filter, id as filter_id};
use std::fmt;

const SLOTS: usize = 5;
const SLOT_BITS: u32 = 3;
const SLOT_MASK: u16 = 0b111;
/// The bits of a slot that the library of the time looked at, both when writing and when reading.
const ACTED_ON: u8 = 0b11;

/// The filters of a packed super-chunk. Delta can be the first, and refers to a chunk of its own;
/// after it, or in its place, there can be a shuffle or bit shuffle.
///
/// ```
/// use blosc_oxide::Filter;
/// use blosc_oxide::legacy::{PackedOptions, PackedSuperChunk};
/// let bytes = PackedOptions::new(4).with_filters([Filter::Shuffle]).pack([[7; 400]])?;
/// let packed = PackedSuperChunk::open_in(&bytes[..])?;
/// assert_eq!(packed.header().filters().iter().collect::<Vec<_>>(), [Filter::Shuffle]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PackedFilters {
    bits: u16,
}

impl PackedFilters {
    pub(super) fn from_bits(bits: u16) -> Self {
        Self { bits }
    }

    pub(super) fn to_bits(self) -> u16 {
        self.bits
    }

    /// The slots for `filters`.
    pub(super) fn new(filters: &[Filter]) -> Result<Self> {
        match filters {
            [] | [Filter::Delta | Filter::Shuffle | Filter::BitShuffle] => {}
            [Filter::Delta, Filter::Shuffle | Filter::BitShuffle] => {}
            _ => {
                let names: Vec<String> = filters.iter().map(Filter::to_string).collect();
                bail!(
                    InvalidArgument,
                    "a packed super-chunk can have delta, then shuffle or bitshuffle, not {}",
                    names.join(", ")
                );
            }
        }
        let slots = filters.iter().rev();
        Ok(Self { bits: slots.fold(0, |bits, filter| bits << SLOT_BITS | u16::from(filter.id())) })
    }

    /// The five slots as they are stored: 0 none, 1 shuffle, 2 bit shuffle, 3 delta; 4 to 7 were
    /// never given a meaning.
    #[must_use]
    pub fn slots(&self) -> [u8; SLOTS] {
        let mut bits = self.bits;
        [(); SLOTS].map(|()| {
            let [slot, _] = (bits & SLOT_MASK).to_le_bytes();
            bits >>= SLOT_BITS;
            slot
        })
    }

    /// Whether data is stored as its difference to a reference.
    #[must_use]
    pub fn has_delta(&self) -> bool {
        let [first, ..] = self.slots();
        first & ACTED_ON == filter_id::DELTA
    }

    /// The filters in the order of compression, as far as they had an effect: the first slot, and
    /// the one after a delta.
    pub fn iter(&self) -> impl Iterator<Item = Filter> + use<> {
        let [first, second, ..] = self.slots();
        let second = if self.has_delta() { second } else { filter_id::NONE };
        [first, second].into_iter().filter_map(|slot| Filter::from_id(slot & ACTED_ON, 0))
    }
}

impl fmt::Display for PackedFilters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|filter| filter.to_string()).collect();
        if names.is_empty() { f.write_str("none") } else { f.write_str(&names.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_stored_from_the_lowest_bits_up() {
        let filters = PackedFilters::new(&[Filter::Delta, Filter::BitShuffle]).unwrap();
        assert_eq!(filters.to_bits(), 0x13);
        assert_eq!(filters.slots(), [3, 2, 0, 0, 0]);
        assert_eq!(filters.to_string(), "delta, bitshuffle");
        assert_eq!(PackedFilters::new(&[Filter::Shuffle]).unwrap().to_bits(), 1);
        assert_eq!(PackedFilters::new(&[]).unwrap().to_string(), "none");
    }

    #[test]
    fn what_the_format_has_no_place_for_is_refused() {
        for filters in [vec![Filter::Shuffle, Filter::Delta], vec![Filter::TruncPrec(3)], vec![Filter::Shuffle; 2]] {
            assert!(PackedFilters::new(&filters).is_err(), "{filters:?}");
        }
    }

    #[test]
    fn all_three_bits_are_shown_but_two_are_acted_on() {
        let filters = PackedFilters::from_bits(0b0_110_101_100_010_111);
        assert_eq!(filters.slots(), [7, 2, 4, 5, 6]);
        assert!(filters.has_delta());
        assert_eq!(filters.iter().collect::<Vec<_>>(), [Filter::Delta, Filter::BitShuffle]);
        let filters = PackedFilters::from_bits(0b100);
        assert_eq!((filters.has_delta(), filters.iter().count()), (false, 0));
    }
}
