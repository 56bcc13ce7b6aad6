//! Huffman-coded bytes.

use super::EntropyError;
use super::bits::{BackwardBits, WINDOW};
use super::weights::{Weights, cells};
use crate::lz::copy;
use crate::lz::hint::opaque;
use crate::lz::matching::load;
use crate::lz::vectors::{Job, Vectors};

/// The longest code.
pub(super) const MAX_BITS: u32 = 12;
const ENTRIES: usize = 1 << MAX_BITS;
const PAIRS: usize = 1 << FAST_BITS;
/// The bit streams that many bytes are in, each of which makes a quarter of them.
const STREAMS: usize = 4;
/// Three lengths of two bytes, before the streams.
const LENGTHS_LEN: usize = 6;

/// The longest code that is decoded in turns, as are all that the writers of today make. Tables of
/// shorter ones are as large.
const FAST_BITS: u32 = 11;
/// The codes of a turn, and the most bits that they have.
const TURN: usize = 5;
const TURN_BITS: usize = TURN * FAST_BITS as usize;
const _: () = assert!(TURN_BITS <= Window::REFILLED as usize);

/// What a code stands for: its length, and the byte above it.
#[derive(Clone, Copy)]
struct Entry(u16);

impl Entry {
    fn new(byte: u8, bits: u32) -> Self {
        Self(u16::from_le_bytes([bits.to_le_bytes()[0], byte]))
    }

    #[inline(always)]
    fn byte(self) -> u8 {
        self.0.to_le_bytes()[1]
    }

    /// At most [`MAX_BITS`], as the compiler should know that it need not look at what is above.
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self.0) & 63
    }
}

/// What the next [`FAST_BITS`] bits stand for: the lengths of one or two codes together, above them
/// how many there are, and above those the bytes.
#[derive(Clone, Copy)]
struct Pair(u32);

impl Pair {
    fn new(first: Entry, second: Option<Entry>) -> Self {
        let (bits, bytes, count) = match second {
            Some(second) => (first.bits() + second.bits(), [first.byte(), second.byte()], 2),
            None => (first.bits(), [first.byte(), 0], 1),
        };
        Self(bits | count << 8 | u32::from(u16::from_le_bytes(bytes)) << 16)
    }
}

/// A Huffman code, looked up with the next `bits` bits.
#[derive(Clone)]
pub(crate) struct Table {
    entries: [Entry; ENTRIES],
    bits: u32,
    pairs: [Pair; PAIRS],
    has_pairs: bool,
}

impl Table {
    pub(crate) const fn new() -> Self {
        Self { entries: [Entry(0); ENTRIES], bits: 1, pairs: [Pair(0); PAIRS], has_pairs: false }
    }

    /// Makes the code whose weights are at the start of `src`; none may be above `max_weight`.
    /// Returns how long they are there.
    pub(crate) fn read(&mut self, src: &[u8], max_weight: u8) -> Result<usize, EntropyError> {
        let (weights, len) = Weights::parse(src, max_weight)?;
        self.make(&weights);
        Ok(len)
    }

    /// Makes four streams be decoded two bytes at a time, where two codes are short enough
    /// together.
    pub(crate) fn make_pairs(&mut self) {
        if self.bits > FAST_BITS {
            return;
        }
        for (index, pair) in self.pairs.iter_mut().enumerate() {
            let first = self.entries[index];
            let second = self.entries[(index << first.bits()) % PAIRS];
            *pair = Pair::new(first, (first.bits() + second.bits() <= FAST_BITS).then_some(second));
        }
        self.has_pairs = true;
    }

    /// Makes the code in which those bytes have short codes that have large weights.
    fn make(&mut self, weights: &Weights) {
        let mut starts = [0_usize; MAX_BITS as usize + 2];
        for &weight in weights.all() {
            starts[usize::from(weight) + 1] += cells(weight);
        }
        for weight in 1..starts.len() {
            starts[weight] += starts[weight - 1];
        }
        self.has_pairs = false;
        self.bits = weights.bits.max(FAST_BITS);
        // Each entry as often as makes the table as large as the fast ones are.
        let scale = self.bits - weights.bits;
        for (byte, &weight) in (0..=u8::MAX).zip(weights.all()) {
            if weight > 0 {
                let start = &mut starts[usize::from(weight)];
                let entry = Entry::new(byte, weights.bits + 1 - u32::from(weight));
                self.entries[*start << scale..][..cells(weight) << scale].fill(entry);
                *start += cells(weight);
            }
        }
    }

    /// Decodes the four streams that are in `src` from `from` on, behind their lengths, and fill
    /// `dst`.
    #[inline(always)]
    pub(crate) fn four_streams<V: Vectors>(
        &self,
        vectors: V,
        src: &[u8],
        from: usize,
        dst: &mut [u8],
    ) -> Result<(), EntropyError> {
        vectors.outline(FourStreams { table: self, src, from, dst })
    }

    /// Decodes the stream that is in `src` from `from` on, and fills `dst`.
    pub(crate) fn one_stream(&self, src: &[u8], from: usize, dst: &mut [u8]) -> Result<(), EntropyError> {
        let bits = BackwardBits::new(src, from).ok_or(EntropyError::BadBits)?;
        self.rest(bits, dst)
    }

    /// Decodes what is left of a stream, which has to end with it.
    #[inline(always)]
    fn rest(&self, mut bits: BackwardBits<'_>, part: &mut [u8]) -> Result<(), EntropyError> {
        const FEW: usize = 4;
        const { assert!(FEW * MAX_BITS as usize <= WINDOW as usize) };
        let (turns, last) = part.as_chunks_mut::<FEW>();
        for turn in turns {
            if bits.left() < FEW * MAX_BITS as usize {
                for byte in turn {
                    *byte = self.checked(&mut bits)?;
                }
                continue;
            }
            let mut window = bits.window();
            let mut used = 0;
            for byte in turn {
                let entry = self.entry(window);
                *byte = entry.byte();
                window <<= entry.bits();
                used += entry.bits();
            }
            bits.skip(used as usize);
        }
        for byte in last {
            *byte = self.checked(&mut bits)?;
        }
        if bits.left() == 0 { Ok(()) } else { Err(EntropyError::BadBits) }
    }

    #[inline(always)]
    fn checked(&self, bits: &mut BackwardBits<'_>) -> Result<u8, EntropyError> {
        let entry = self.entry(bits.window());
        if entry.bits() as usize > bits.left() {
            return Err(EntropyError::BadBits);
        }
        bits.skip(entry.bits() as usize);
        Ok(entry.byte())
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the remainder is less than ENTRIES")]
    fn entry(&self, window: u64) -> Entry {
        self.entries[(window >> (64 - self.bits)) as usize % ENTRIES]
    }
}

struct FourStreams<'a> {
    table: &'a Table,
    src: &'a [u8],
    from: usize,
    dst: &'a mut [u8],
}

impl Job for FourStreams<'_> {
    type Output = Result<(), EntropyError>;

    #[inline(always)]
    fn run<V: Vectors>(self, _: V) -> Self::Output {
        let Self { table, src, from, dst } = self;
        let (streams, quarter) = split(src, from, dst.len())?;
        let done = match table.bits {
            ..=FAST_BITS if table.has_pairs => pair_turns(table, src, streams, quarter, dst),
            ..=FAST_BITS => turns(table, src, streams, quarter, dst),
            _ => Done { streams, bytes: [0; STREAMS] },
        };
        let mut rest = dst;
        for (bits, bytes) in done.streams.into_iter().zip(done.bytes) {
            let (part, behind) = rest.split_at_mut(quarter.min(rest.len()));
            table.rest(bits, &mut part[bytes..])?;
            rest = behind;
        }
        Ok(())
    }
}

/// The four streams of `len` bytes, and how many bytes each of them but the last one makes.
fn split(src: &[u8], from: usize, len: usize) -> Result<([BackwardBits<'_>; STREAMS], usize), EntropyError> {
    let too_short = EntropyError::BadLength { decoded: len, coded: src.len().saturating_sub(from) };
    let Some(&[a, b, c, d, e, f]) = src.get(from..).and_then(<[u8]>::first_chunk::<LENGTHS_LEN>) else {
        return Err(EntropyError::Ended { input: src.len() });
    };
    let quarter = len.div_ceil(STREAMS);
    if quarter * (STREAMS - 1) > len {
        return Err(too_short);
    }
    let mut start = from + LENGTHS_LEN;
    let mut next = |len: Option<usize>| {
        let end = len.map_or(src.len(), |len| start + len);
        let bytes = src.get(..end).ok_or(EntropyError::Ended { input: src.len() })?;
        let bits = BackwardBits::new(bytes, start).ok_or(EntropyError::BadBits)?;
        start = end;
        Ok(bits)
    };
    let length = |low, high| Some(usize::from(u16::from_le_bytes([low, high])));
    Ok(([next(length(a, b))?, next(length(c, d))?, next(length(e, f))?, next(None)?], quarter))
}

/// What [`turns`] has left.
struct Done<'a> {
    streams: [BackwardBits<'a>; STREAMS],
    /// How many bytes of each stream were decoded.
    bytes: [usize; STREAMS],
}

/// The next bits of a stream.
///
/// Each code has to wait for the one before it, so that it is latency that counts. The next word is
/// loaded from where it is known to be since the last refill; only shifting it into its place waits
/// for the length of the last code.
#[derive(Clone, Copy)]
struct Window {
    /// The bits that come next, from the highest one down. Below `count` of them are zeros, or
    /// those that follow.
    bits: u64,
    count: u32,
    /// Behind the bytes of which nothing is in `bits` for certain.
    next: usize,
}

impl Window {
    /// How many bits there are after a refill.
    const REFILLED: u32 = 56;

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "less than 64")]
    fn new(stream: &BackwardBits<'_>) -> Self {
        let end = stream.end();
        Self { bits: stream.window(), count: (end % 8) as u32, next: end / 8 }
    }

    /// # Safety
    /// `next` is at least 8 and inside of `src`.
    #[inline(always)]
    unsafe fn refill(&mut self, src: &[u8]) {
        // SAFETY: the caller has eight bytes before `next`.
        let word = u64::from_le_bytes(unsafe { load(src, self.next - 8) });
        self.bits |= word >> self.count;
        self.next -= ((63 - self.count) / 8) as usize;
        self.count |= Self::REFILLED;
    }

    /// Behind the bit that is next, counted from the start of the slice.
    fn end(&self) -> usize {
        8 * self.next + self.count as usize
    }
}

/// The bits of a turn may begin in the byte before the stream, and the word that is loaded for them
/// ends there.
const MIN_START: usize = 8 * 9;

/// Decodes while all streams have bits for [`TURN`] codes.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "bytes, and sums of lengths that are below 256")]
fn turns<'a>(
    table: &Table,
    src: &'a [u8],
    mut streams: [BackwardBits<'a>; STREAMS],
    quarter: usize,
    dst: &mut [u8],
) -> Done<'a> {
    // The last stream makes no more bytes than the others.
    let shortest = dst.len() - (STREAMS - 1) * quarter;
    let mut windows = [0, 1, 2, 3].map(|stream: usize| Window::new(&streams[stream]));
    let mut done = 0;
    loop {
        let fewest = streams.iter().map(BackwardBits::left).min().unwrap_or(0);
        let turns = (fewest / TURN_BITS).min((shortest - done) / TURN);
        if turns == 0 || streams[0].start() < MIN_START {
            return Done { streams, bytes: [done; STREAMS] };
        }
        for _ in 0..turns {
            for window in &mut windows {
                // SAFETY: no code has more than FAST_BITS, so that there are TURN_BITS for each
                // turn, of which less than 64 are in the window. So `next` is no more than a byte
                // before the start of the stream, which is MIN_START or behind.
                unsafe { window.refill(src) };
            }
            let mut used = [0; STREAMS];
            for code in 0..TURN {
                for stream in 0..STREAMS {
                    let window = &mut windows[stream];
                    let entry = table.entries[(window.bits >> (64 - FAST_BITS)) as usize];
                    // Vectors of four bytes would take longer to make than to store one by one.
                    let entry = opaque(usize::from(entry.0));
                    // SAFETY: each stream makes TURN bytes more, inside its quarter.
                    unsafe { put(dst, stream * quarter + done + code, (entry >> 8) as u8) };
                    window.bits <<= entry & 63;
                    used[stream] += entry;
                }
            }
            for (window, used) in windows.iter_mut().zip(used) {
                window.count -= u32::from(used as u8);
            }
            done += TURN;
        }
        for (bits, window) in streams.iter_mut().zip(&windows) {
            bits.skip(bits.end() - window.end());
        }
    }
}

/// [`turns`] with a table of pairs.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "bytes, and sums of lengths that are below 256")]
fn pair_turns<'a>(
    table: &Table,
    src: &'a [u8],
    mut streams: [BackwardBits<'a>; STREAMS],
    quarter: usize,
    dst: &mut [u8],
) -> Done<'a> {
    let starts = [0, quarter, 2 * quarter, 3 * quarter];
    let ends = [quarter, 2 * quarter, 3 * quarter, dst.len()];
    let mut windows = [0, 1, 2, 3].map(|stream: usize| Window::new(&streams[stream]));
    let mut ats = starts;
    loop {
        let fewest = streams.iter().map(BackwardBits::left).min().unwrap_or(0);
        let least = ends.iter().zip(ats).map(|(end, at)| end - at).min().unwrap_or(0);
        let turns = (fewest / TURN_BITS).min(least / (2 * TURN));
        if turns == 0 || streams[0].start() < MIN_START {
            let bytes = [0, 1, 2, 3].map(|stream: usize| ats[stream] - starts[stream]);
            return Done { streams, bytes };
        }
        for _ in 0..turns {
            for window in &mut windows {
                // SAFETY: as in `turns`; two codes together have no more than FAST_BITS either.
                unsafe { window.refill(src) };
            }
            let mut used = [0; STREAMS];
            for _ in 0..TURN {
                for stream in 0..STREAMS {
                    let window = &mut windows[stream];
                    let pair = table.pairs[(window.bits >> (64 - FAST_BITS)) as usize].0;
                    // SAFETY: each stream makes up to twice TURN bytes more, inside its part, and
                    // two are left for the last.
                    unsafe { copy::chunk::<2>(&(pair >> 16).to_le_bytes(), 0, dst, ats[stream]) };
                    window.bits <<= pair & 63;
                    ats[stream] += (pair >> 8 & 3) as usize;
                    used[stream] = u32::wrapping_add(used[stream], pair);
                }
            }
            for (window, used) in windows.iter_mut().zip(used) {
                window.count -= u32::from(used as u8);
            }
        }
        for (bits, window) in streams.iter_mut().zip(&windows) {
            bits.skip(bits.end() - window.end());
        }
    }
}

/// # Safety
/// `at` is less than `dst.len()`.
#[inline(always)]
unsafe fn put(dst: &mut [u8], at: usize, byte: u8) {
    debug_assert!(at < dst.len());
    // SAFETY: the caller has `at` inside `dst`.
    *unsafe { dst.get_unchecked_mut(at) } = byte;
}
