//! The quickest way: the first match that is found, the fixed codes, and nothing kept in between.

use super::bits::BitWriter;
use super::block::FIXED;
use super::symbols::{BLOCK_END, Codes, MAX_DISTANCE, MAX_MATCH, MIN_MATCH, fixed_codes};
use crate::lz::matching::{common_length, hash4, low4};
use crate::lz::window::{Key, Positions, Window};

/// How many slots the table has.
const SLOT_BITS: u32 = 15;
const SLOTS: usize = 1 << SLOT_BITS;
/// Words are found by so many bytes; matches of three are not.
const HASHED: usize = 4;
/// How many literals are put between two flushes: their codes have at most nine bits.
const LITERALS_AT_ONCE: usize = 6;
/// How many bytes at the end are not the start of a match.
const TAIL: usize = 12;

/// The memory of [`compress`].
#[derive(Debug, Clone)]
pub(super) struct Table(Positions<u32, SLOTS>);

impl Default for Table {
    fn default() -> Self {
        Self(Positions::new())
    }
}

/// Words by their first four bytes.
struct FourBytes;

impl Key<SLOTS> for FourBytes {
    #[inline(always)]
    fn slot(word: u64) -> usize {
        hash4(low4(word), SLOT_BITS)
    }
}

/// Writes the whole stream as one block.
pub(super) fn compress(table: &mut Table, src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let codes = fixed_codes();
    let mut writer = BitWriter::new(dst);
    writer.put(1 | FIXED << 1, 3);
    let mut anchor = 0;
    if src.len() > TAIL
        && let Some(mut window) = Window::<FourBytes, u32, SLOTS>::new(&mut table.0, src)
    {
        let last = src.len() - TAIL;
        let accept =
            |at: usize, from: usize| (at.wrapping_sub(from).wrapping_sub(1) < MAX_DISTANCE).then_some((at, from));
        while let Some((at, from)) = window.scan::<HASHED, _>(anchor, last, accept) {
            let length = common_length(src, from, at, src.len().min(at + MAX_MATCH));
            write_literals(&src[anchor..at], &codes, &mut writer)?;
            let bits = codes.lengths[length - MIN_MATCH];
            writer.put(bits.value().into(), bits.count());
            let (value, count) = codes.distance(at - from);
            writer.put(value, count);
            writer.flush()?;
            anchor = at + length;
        }
    }
    write_literals(&src[anchor..], &codes, &mut writer)?;
    let end = codes.literals[BLOCK_END];
    writer.put(end.value().into(), end.count());
    writer.finish()
}

#[inline(always)]
fn write_literals(literals: &[u8], codes: &Codes, writer: &mut BitWriter<'_>) -> Option<()> {
    let (together, rest) = literals.as_chunks::<LITERALS_AT_ONCE>();
    for bytes in together {
        writer.flush()?;
        for &byte in bytes {
            let bits = codes.literals[usize::from(byte)];
            writer.put(bits.value().into(), bits.count());
        }
    }
    writer.flush()?;
    for &byte in rest {
        let bits = codes.literals[usize::from(byte)];
        writer.put(bits.value().into(), bits.count());
    }
    writer.flush()
}
