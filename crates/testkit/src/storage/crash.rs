//! What crashes leave behind.

use super::SECTOR;
use super::disk::{Call, Disk};
use super::image::{Change, FileId, Image};
use crate::Rng;
use std::collections::HashSet;

/// With this many pieces that can be lost or kept, all combinations are tried.
const MAX_EXHAUSTIVE: usize = 10;
/// With more, so many.
const RANDOM_SUBSETS: usize = 1000;

/// The calls that changed a disk, and what it was before.
#[derive(Debug, Clone)]
pub struct Log {
    /// What was there before the first call, all of which survives.
    pub start: Image,
    /// The calls.
    pub calls: Vec<Call>,
}

impl Log {
    /// Shows every image that a cut of power could have left, with the number of calls that had
    /// been made. An image is shown once for each number.
    ///
    /// Of what was not synced, each sector of each write, each change of a length and each change
    /// of a name is there or not: all combinations of up to 10 of them. With more, all combinations
    /// of up to 10 whole calls, and 1,000 random ones.
    pub fn power_cuts(&self, seed: u64, visit: &mut dyn FnMut(usize, &Image)) {
        visit(0, &self.start);
        self.power_cuts_after(0, 1, seed, visit);
    }

    /// The same for cuts after more than `calls` calls, of which some may not have been synced; of
    /// the images, one in so many is made and shown.
    pub fn power_cuts_after(&self, calls: usize, one_in: usize, seed: u64, visit: &mut dyn FnMut(usize, &Image)) {
        let mut rng = Rng::new(seed);
        let mut sample = Sample { one_in, count: 0 };
        let mut live = self.start.clone();
        let mut durable = self.start.clone();
        let mut pending: Vec<Vec<Change>> = Vec::new();
        for (number, call) in self.calls.iter().enumerate() {
            match call {
                Call::Change(change) => {
                    pending.push(pieces(change, &live));
                    live.apply(change);
                }
                Call::SyncFile(file) => settle(&mut durable, &mut pending, Some(*file)),
                Call::SyncNames => settle(&mut durable, &mut pending, None),
            }
            if number < calls {
                continue;
            }
            let mut seen = HashSet::new();
            subsets(&durable, &pending, &mut rng, &mut sample, &mut |image| {
                if seen.insert(image.digest()) {
                    visit(number + 1, image);
                }
            });
        }
    }

    /// Shows every image that a killed process could have left, with the number of calls that had
    /// been made wholly: all of those are there, and a part of the next one if it is a write.
    /// Writes to the start of the file `name` are cut short at every byte, others at up to
    /// `max_cuts`.
    pub fn kills(&self, name: &str, seed: u64, max_cuts: usize, visit: &mut dyn FnMut(usize, &Image)) {
        let mut rng = Rng::new(seed);
        let mut live = self.start.clone();
        visit(0, &live);
        for (number, call) in self.calls.iter().enumerate() {
            let Call::Change(change) = call else { continue };
            if let Change::Write { file, position, bytes } = change {
                let is_start = *position == 0 && live.names.get(name) == Some(file);
                for cut in cuts(bytes.len(), if is_start { usize::MAX } else { max_cuts }, &mut rng) {
                    let mut image = live.clone();
                    image.apply(&Change::Write { file: *file, position: *position, bytes: bytes[..cut].to_vec() });
                    visit(number, &image);
                }
            }
            live.apply(change);
            visit(number + 1, &live);
        }
    }

    /// Shows what is left when a write to the start of the file `name` is torn at any byte, which
    /// no disk does: its first bytes there and the others not, and the reverse. Everything before
    /// it is there, nothing after it.
    pub fn torn_starts(&self, name: &str, visit: &mut dyn FnMut(usize, &Image)) {
        let mut live = self.start.clone();
        for (number, call) in self.calls.iter().enumerate() {
            let Call::Change(change) = call else { continue };
            if let Change::Write { file, position: 0, bytes } = change
                && live.names.get(name) == Some(file)
            {
                for cut in 1..bytes.len() {
                    for (position, part) in [(0, &bytes[..cut]), (cut as u64, &bytes[cut..])] {
                        let mut image = live.clone();
                        image.apply(&Change::Write { file: *file, position, bytes: part.to_vec() });
                        visit(number, &image);
                    }
                }
            }
            live.apply(change);
        }
    }

    /// The first `calls` of the calls, and if the next one is a write, its first `cut` bytes.
    #[must_use]
    pub fn until(&self, calls: usize, cut: usize) -> Self {
        let mut until = Self { start: self.start.clone(), calls: self.calls[..calls].to_vec() };
        if let Some(Call::Change(Change::Write { file, position, bytes })) = self.calls.get(calls)
            && cut > 0
        {
            let bytes = bytes[..cut.min(bytes.len())].to_vec();
            until.calls.push(Call::Change(Change::Write { file: *file, position: *position, bytes }));
        }
        until
    }

    /// Whether the call after the first `calls` writes to the start of the file `name`.
    #[must_use]
    pub fn writes_start(&self, calls: usize, name: &str) -> bool {
        let live = Disk::after(self.until(calls, 0)).image();
        matches!(self.calls.get(calls), Some(Call::Change(Change::Write { file, position: 0, .. }))
            if live.names.get(name) == Some(file))
    }

    /// What was on the disk after each number of calls.
    pub fn states(&self) -> impl Iterator<Item = Image> {
        let mut live = self.start.clone();
        let changes = self.calls.iter().map(Some).chain([None]);
        changes.map(move |call| {
            let state = live.clone();
            if let Some(Call::Change(change)) = call {
                live.apply(change);
            }
            state
        })
    }
}

/// The parts of a change that can each be lost.
fn pieces(change: &Change, live: &Image) -> Vec<Change> {
    let Change::Write { file, position, bytes } = change else { return vec![change.clone()] };
    let mut pieces = Vec::new();
    let end = position + bytes.len() as u64;
    if end > live.bytes(*file).len() as u64 {
        pieces.push(Change::Grow { file: *file, len: end });
    }
    let mut at = *position;
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let room = usize::try_from(SECTOR - at % SECTOR).expect("less than a sector");
        let (piece, after) = rest.split_at(room.min(rest.len()));
        pieces.push(Change::Write { file: *file, position: at, bytes: piece.to_vec() });
        at += piece.len() as u64;
        rest = after;
    }
    pieces
}

/// Makes what concerns a file, or the names, survive.
fn settle(durable: &mut Image, pending: &mut Vec<Vec<Change>>, file: Option<FileId>) {
    pending.retain(|pieces| {
        let is_settled = pieces.iter().all(|piece| piece.file() == file);
        if is_settled {
            pieces.iter().for_each(|piece| durable.apply(piece));
        }
        !is_settled
    });
}

/// One in so many.
struct Sample {
    one_in: usize,
    count: usize,
}

impl Sample {
    fn takes_next(&mut self) -> bool {
        self.count += 1;
        self.count.is_multiple_of(self.one_in)
    }
}

fn subsets(
    durable: &Image,
    pending: &[Vec<Change>],
    rng: &mut Rng,
    sample: &mut Sample,
    visit: &mut dyn FnMut(&Image),
) {
    let pieces: Vec<&Change> = pending.iter().flatten().collect();
    if pieces.len() <= MAX_EXHAUSTIVE {
        for subset in (0..1_usize << pieces.len()).filter(|_| sample.takes_next()) {
            visit(&with(durable, &pieces, |piece| subset >> piece & 1 == 1));
        }
        return;
    }
    let call_of: Vec<usize> =
        pending.iter().enumerate().flat_map(|(call, pieces)| pieces.iter().map(move |_| call)).collect();
    if pending.len() <= MAX_EXHAUSTIVE {
        for subset in (0..1_usize << pending.len()).filter(|_| sample.takes_next()) {
            visit(&with(durable, &pieces, |piece| subset >> call_of[piece] & 1 == 1));
        }
    }
    for _ in 0..RANDOM_SUBSETS {
        let kept: Vec<u8> = pieces.iter().map(|_| rng.byte()).collect();
        // Few lost, few kept, or half of them.
        let share = [32, 128, 224][rng.below(3)];
        if !sample.takes_next() {
            continue;
        }
        visit(&with(durable, &pieces, |piece| kept[piece] < share));
    }
}

fn with(durable: &Image, pieces: &[&Change], is_kept: impl Fn(usize) -> bool) -> Image {
    let mut image = durable.clone();
    pieces.iter().enumerate().filter(|(number, _)| is_kept(*number)).for_each(|(_, piece)| image.apply(piece));
    image
}

/// Where a write of `len` bytes is cut short: at its ends, and at random places between them.
fn cuts(len: usize, max: usize, rng: &mut Rng) -> Vec<usize> {
    if len <= max {
        return (1..len).collect();
    }
    let at_end = max / 4;
    let mut cuts: Vec<usize> = (1..=at_end).chain(len - at_end..len).collect();
    cuts.extend((0..max - 2 * at_end).map(|_| 1 + rng.below(len - 1)));
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(log: &Log, name: &str) -> HashSet<Option<Vec<u8>>> {
        let mut found = HashSet::new();
        log.power_cuts(1, &mut |_, image| {
            found.insert(image.get(name).map(<[u8]>::to_vec));
        });
        found
    }

    #[test]
    fn what_was_not_synced_is_lost_kept_or_torn_at_sectors() {
        let disk = Disk::with_image(Image::of_file("a", vec![0; 1024]));
        let file = disk.open("a").unwrap();
        file.write_at(500, &[1; 24]).unwrap();
        let found = images(&disk.log(), "a");
        assert_eq!(found.len(), 4);
        for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut expected = vec![0; 1024];
            expected[500..512].fill(first);
            expected[512..524].fill(second);
            assert!(found.contains(&Some(expected)));
        }
    }

    #[test]
    fn what_was_synced_is_kept() {
        let disk = Disk::with_image(Image::of_file("a", Vec::new()));
        let file = disk.open("a").unwrap();
        file.write_at(0, b"first").unwrap();
        file.sync().unwrap();
        file.write_at(5, b"second").unwrap();
        let mut after_sync = HashSet::new();
        disk.log().power_cuts(1, &mut |number, image| {
            if number >= 2 {
                after_sync.insert(image.get("a").unwrap().to_vec());
            }
        });
        // The second write is lost, there as zeros, or there.
        let expected: [&[u8]; 3] = [b"first", b"first\0\0\0\0\0\0", b"firstsecond"];
        assert_eq!(after_sync, expected.map(<[u8]>::to_vec).into());
    }

    #[test]
    fn a_new_file_has_no_name_before_the_names_are_synced() {
        let disk = Disk::new();
        let file = disk.create("new").unwrap();
        file.write_at(0, b"x").unwrap();
        file.sync().unwrap();
        disk.rename("new", "old").unwrap();
        let found = images(&disk.log(), "old");
        assert_eq!(found, [None, Some(b"x".to_vec())].into());
        let mut last = Vec::new();
        disk.sync().unwrap();
        disk.log().power_cuts(1, &mut |number, image| {
            if number == 5 {
                last.push(image.get("old").map(<[u8]>::to_vec));
            }
        });
        assert_eq!(last, [Some(b"x".to_vec())]);
    }

    #[test]
    fn what_a_killed_process_did_not_sync_may_be_lost_under_the_next_one() {
        let disk = Disk::with_image(Image::of_file("a", b"____".to_vec()));
        disk.open("a").unwrap().write_at(0, b"ab").unwrap();
        let killed = disk.log().until(0, 1);
        let next = Disk::after(killed);
        assert_eq!(next.image().get("a"), Some(&b"a___"[..]));
        next.open("a").unwrap().write_at(3, b"x").unwrap();
        let mut found = HashSet::new();
        next.log().power_cuts_after(1, 1, 1, &mut |number, image| {
            found.insert((number, image.get("a").unwrap().to_vec()));
        });
        let expected: [&[u8]; 4] = [b"____", b"a___", b"___x", b"a__x"];
        assert_eq!(found, expected.map(|bytes| (2, bytes.to_vec())).into());
    }

    #[test]
    fn a_killed_process_leaves_calls_in_order_and_the_last_one_cut_short() {
        let disk = Disk::with_image(Image::of_file("a", b"____".to_vec()));
        let file = disk.open("a").unwrap();
        file.write_at(0, b"abc").unwrap();
        file.set_len(1).unwrap();
        let mut found = Vec::new();
        disk.log().kills("a", 1, 9, &mut |number, image| found.push((number, image.get("a").unwrap().to_vec())));
        let expected: [(usize, &[u8]); 5] = [(0, b"____"), (0, b"a___"), (0, b"ab__"), (1, b"abc_"), (2, b"a")];
        assert_eq!(found, expected.map(|(number, bytes)| (number, bytes.to_vec())));
    }

    #[test]
    fn a_torn_start_is_torn_both_ways() {
        let disk = Disk::with_image(Image::of_file("a", b"__".to_vec()));
        disk.open("a").unwrap().write_at(0, b"ab").unwrap();
        let mut found = Vec::new();
        disk.log().torn_starts("a", &mut |_, image| found.push(image.get("a").unwrap().to_vec()));
        assert_eq!(found, [b"a_".to_vec(), b"_b".to_vec()]);
    }
}
