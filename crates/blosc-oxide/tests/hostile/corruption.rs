//! Damaged chunks give an error that says what is wrong, or data; never a panic, and never the
//! output's old content. Damaged files of every kind give an error or data, in no time and within
//! the limits; where there are checksums, an error.

use blosc_oxide::{Chunk, Codec, Compressor, Decompressor, ErrorKind, Filter, LazyChunk, Limits, Options, Threads};
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::alloc::CountingAllocator;
use testkit::golden::Golden;
use testkit::{Rng, mutate};

/// More than most of the files hold, and little enough that a mutant which declares it costs
/// nothing.
const MOST: usize = 64 << 10;

fn decompressor() -> Decompressor {
    Decompressor::new().with_threads(Threads::serial()).with_limits(Limits::new().with_max_allocation(MOST))
}

/// Every chunk of the repository, small ones whole and large ones not at all.
fn small_chunks() -> Vec<(String, Vec<u8>)> {
    let golden = Golden::repository();
    let entries = golden.chunks().into_iter();
    let mut chunks: Vec<_> =
        entries.map(|entry| (entry.file.clone(), entry.read())).filter(|(_, bytes)| bytes.len() < 4_000).collect();
    chunks.extend(many_blocks());
    chunks
}

/// Chunks of our own with many blocks in few bytes.
fn many_blocks() -> Vec<(String, Vec<u8>)> {
    let data: Vec<u8> = (0..2000_u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
    let mut chunks = Vec::new();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![Filter::Shuffle], vec![Filter::Delta, Filter::BitShuffle]] {
            let options = Options::new(4).with_codec(codec).with_filters(filters).with_blocksize(500);
            chunks.push((format!("{codec} in many blocks"), blosc_oxide::compress(&data, &options).unwrap()));
        }
        let blocks: Vec<&[u8]> = data.chunks(700).collect();
        let mut compressor = Compressor::new(Options::new(4).with_codec(codec)).unwrap();
        chunks.push((format!("{codec} in its own blocks"), compressor.compress_vlblocks(&blocks).unwrap()));
    }
    chunks
}

/// Reads `bytes` in every way there is. What is not refused must be consistent.
fn read_in_every_way(bytes: &[u8]) {
    let mut decompressor = decompressor();
    if let Err(error) = LazyChunk::parse(bytes) {
        assert_sensible(error.kind(), &error.to_string());
    }
    let plain = decompressor.decompress(bytes);
    let chunk = match Chunk::parse(bytes) {
        Ok(chunk) => chunk,
        Err(error) => return assert_eq!(plain.unwrap_err().to_string(), error.to_string()),
    };
    let plain = match plain {
        Ok(plain) => plain,
        Err(error) => {
            assert_sensible(error.kind(), &error.to_string());
            let _ = chunk.block_info(0);
            let _ = decompressor.block(&chunk, 0);
            return;
        }
    };
    assert_eq!(plain.len(), chunk.header().nbytes());
    check_output_is_all_written(&mut decompressor, bytes, &plain);
    for index in sample_of(chunk.header().nblocks()) {
        chunk.block_info(index).unwrap();
        let range = chunk.block_range(index).unwrap();
        assert!(decompressor.block(&chunk, index).unwrap() == plain[range], "block {index} alone has other bytes");
    }
}

fn check_output_is_all_written(decompressor: &mut Decompressor, bytes: &[u8], plain: &[u8]) {
    let mut out = vec![0x5a; plain.len() + 3];
    assert_eq!(decompressor.decompress_into(bytes, &mut out).unwrap(), plain.len());
    assert!(out[..plain.len()] == *plain, "the output's old content shows through");
    assert_eq!(out[plain.len()..], [0x5a; 3], "something was written after the data");
}

/// The first, the last and one between.
fn sample_of(nblocks: usize) -> impl Iterator<Item = usize> {
    [0, nblocks / 2, nblocks.saturating_sub(1)].into_iter().filter(move |&index| index < nblocks)
}

fn assert_sensible(kind: ErrorKind, message: &str) {
    let expected = [
        ErrorKind::Corrupt,
        ErrorKind::Truncated,
        ErrorKind::Unsupported,
        ErrorKind::LimitExceeded,
        ErrorKind::InvalidArgument,
    ];
    assert!(expected.contains(&kind), "{kind:?}: {message}");
    assert!(message.len() > 10, "{message:?} says nothing");
}

fn check(name: &str, mutant: &mutate::Mutant) {
    let outcome = catch_unwind(AssertUnwindSafe(|| read_in_every_way(&mutant.bytes)));
    assert!(outcome.is_ok(), "{name}, {}", mutant.what);
}

/// All of what leads to the streams, and some places in them.
fn positions(len: usize, rng: &mut Rng) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..len.min(80)).collect();
    if len > 80 {
        positions.extend((0..30).map(|_| 80 + rng.below(len - 80)));
    }
    positions
}

#[test]
fn a_changed_byte_never_panics() {
    let mut rng = Rng::new(5);
    for (name, bytes) in small_chunks() {
        for mutant in mutate::single_byte(&bytes, positions(bytes.len(), &mut rng)) {
            check(&name, &mutant);
        }
    }
}

#[test]
fn several_changed_bytes_never_panic() {
    for (seed, (name, bytes)) in (1..).zip(small_chunks()) {
        for mutant in mutate::random_bytes(&bytes, 100, seed) {
            check(&name, &mutant);
        }
    }
}

#[test]
fn noise_after_a_good_header_never_panics() {
    let mut rng = Rng::new(9);
    for (name, mut bytes) in small_chunks() {
        for round in 0..10 {
            let from = 16 + rng.below(40);
            for byte in bytes.iter_mut().skip(from) {
                *byte = rng.byte();
            }
            let what = format!("noise {round} from byte {from} on");
            check(&name, &mutate::Mutant { bytes: bytes.clone(), what });
        }
    }
}

/// 3 blocks of 2000 bytes and one of 400, lz4, not split: the streams start at 32 + 4 * 4.
fn sample() -> Vec<u8> {
    let data: Vec<u8> = (0..1600_u32).flat_map(|i| (i / 5).to_le_bytes()).collect();
    let options = Options::new(4)
        .with_codec(Codec::Lz4)
        .with_filters([])
        .with_blocksize(2000)
        .with_split(blosc_oxide::SplitMode::Never);
    blosc_oxide::compress(&data, &options).unwrap()
}

fn with(at: usize, patch: &[u8]) -> Vec<u8> {
    let mut chunk = sample();
    chunk[at..at + patch.len()].copy_from_slice(patch);
    chunk
}

/// The error for the sample with `patch` at `at` has this kind and says all of these words.
#[track_caller]
fn assert_error(at: usize, patch: &[u8], kind: ErrorKind, words: &[&str]) {
    let Err(error) = blosc_oxide::decompress(&with(at, patch)) else { panic!("{patch:?} at {at} does no harm") };
    let message = error.to_string();
    assert_eq!(error.kind(), kind, "{message}");
    for word in words {
        assert!(message.contains(word), "{message:?} does not say {word:?}");
    }
}

#[test]
fn a_broken_header_names_the_field_and_the_number() {
    use ErrorKind::{Corrupt, Truncated, Unsupported};
    assert_error(0, &[9], Unsupported, &["version", "9"]);
    assert_error(0, &[1], Unsupported, &["version", "1"]);
    assert_error(3, &[0], Corrupt, &["typesize", "0"]);
    assert_error(4, &(-7_i32).to_le_bytes(), Corrupt, &["nbytes", "-7"]);
    assert_error(8, &0_i32.to_le_bytes(), Corrupt, &["blocksize", "0"]);
    assert_error(8, &(-1_i32).to_le_bytes(), Corrupt, &["blocksize", "-1"]);
    assert_error(8, &600_000_000_i32.to_le_bytes(), Corrupt, &["blocksize", "600000000"]);
    assert_error(8, &1_i32.to_le_bytes(), Corrupt, &["6400 blocks", "25600"]);
    assert_error(12, &20_i32.to_le_bytes(), Corrupt, &["cbytes", "20", "32"]);
    assert_error(12, &100_000_i32.to_le_bytes(), Truncated, &["cbytes", "100000", &sample().len().to_string()]);
    assert_error(30, &[0x02], Unsupported, &["30", "0x02"]);
    assert_error(31, &[0x50], Corrupt, &["special", "5"]);
    assert_error(31, &[0x30], Corrupt, &["nbytes", "6400", &(sample().len() - 32).to_string()]);
    let split = [4, 1, 0x25, 3];
    assert_error(0, &split, Corrupt, &["2000", "3", "split"]);
}

#[test]
fn an_offset_outside_the_chunk_names_the_block_and_the_numbers() {
    let len = sample().len();
    assert_error(36, &9_999_i32.to_le_bytes(), ErrorKind::Corrupt, &["block 1", "9999", &len.to_string()]);
    assert_error(40, &(-4_i32).to_le_bytes(), ErrorKind::Corrupt, &["block 2", "-4"]);
    assert_error(32, &40_i32.to_le_bytes(), ErrorKind::Corrupt, &["block 0", "40", "48"]);
}

#[test]
fn a_bad_stream_names_the_block_and_the_size() {
    assert_error(48, &5_000_i32.to_le_bytes(), ErrorKind::Corrupt, &["block 0", "5000", "2000"]);
    assert_error(48, &1_900_i32.to_le_bytes(), ErrorKind::Corrupt, &["block 0", "1900", "left"]);
    assert_error(48, &(-256_i32).to_le_bytes(), ErrorKind::Corrupt, &["block 0", "-256"]);
    assert_error(48, &7_i32.to_le_bytes(), ErrorKind::Corrupt, &["block 0", "2000"]);
    assert_error(48, &[0xff, 0xff, 0xff, 0xff, 0x02], ErrorKind::Corrupt, &["block 0", "token", "0x02"]);
}

#[test]
fn an_unknown_codec_or_filter_is_named() {
    assert_error(2, &[0x05 | 0x10 | 6 << 5], ErrorKind::Unsupported, &["codec"]);
    assert_error(21, &[77], ErrorKind::Unsupported, &["filter", "77"]);
    assert_error(21, &[200], ErrorKind::Unsupported, &["filter", "200"]);
    assert_error(21, &[32], ErrorKind::Unsupported, &["ndcell"]);
    let mut chunk = with(2, &[0x05 | 0x10 | 6 << 5]);
    chunk[22] = 211;
    let error = blosc_oxide::decompress(&chunk).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("211"), "{error}");
}

#[test]
fn a_bad_dictionary_is_named() {
    for size in [0, -3, 1 << 20, 2000] {
        let mut chunk = with(31, &[0x01]);
        chunk[48..52].copy_from_slice(&i32::to_le_bytes(size));
        let error = blosc_oxide::decompress(&chunk).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        let message = error.to_string();
        assert!(message.contains("dictionary") && message.contains(&size.to_string()), "{message}");
    }
}

#[test]
fn a_place_is_named_once() {
    let error = blosc_oxide::decompress(&with(36, &9_999_i32.to_le_bytes())).unwrap_err();
    assert_eq!(error.to_string().matches("block 1").count(), 1, "{error}");
}

#[test]
fn an_output_that_is_too_small_is_told_both_sizes() {
    let error = Decompressor::new().decompress_into(&sample(), &mut [0; 6399]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputTooSmall);
    assert_eq!(error.to_string(), "the chunk holds 6400 bytes, the output has room for 6399");
    let mut compressor = Compressor::new(Options::new(1).with_filters([])).unwrap();
    let error = compressor.compress_into(&[1, 2, 3], &mut [0; 34]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputTooSmall);
    assert_eq!(error.to_string(), "the chunk is longer than the output, which has room for 34 bytes");
}

#[test]
fn a_range_outside_the_data_is_refused() {
    let bytes = sample();
    let chunk = Chunk::parse(&bytes).unwrap();
    let backwards = std::ops::Range { start: 5, end: 4 };
    for error in [
        chunk.bytes(0..6401).unwrap_err(),
        chunk.bytes(backwards).unwrap_err(),
        chunk.items(1600..1601).unwrap_err(),
        chunk.items(0..usize::MAX).unwrap_err(),
        chunk.block(4).unwrap_err(),
        chunk.block_info(4).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().contains(char::is_numeric), "{error}");
    }
}

mod files {
    use super::*;
    use crate::common::child::is_long;
    use crate::common::specimen::{Content, Kind, LIMIT, Specimen, specimens};
    use std::time::{Duration, Instant};

    /// How long one damaged file may take.
    const PATIENCE: Duration = Duration::from_millis(100);
    /// How many bytes of files of each kind are damaged, each byte in ten ways.
    const BUDGET: usize = 12_000;
    const LONG_BUDGET: usize = 400_000;
    /// What is allocated besides what the limit is for: states of codecs, the file itself.
    const BESIDES: u64 = 300 << 10;

    /// What became of damaged files.
    #[derive(Debug, Default)]
    struct Tally {
        mutants: usize,
        /// An error.
        refused: usize,
        /// All data as before: what was changed does not count.
        harmless: usize,
        /// Other data, and nobody has noticed.
        unseen: usize,
    }

    impl Tally {
        fn count(&mut self, original: &Content, found: Option<&Content>) {
            self.mutants += 1;
            match found {
                None => self.refused += 1,
                Some(found) if found == original => self.harmless += 1,
                Some(_) => self.unseen += 1,
            }
        }

        #[expect(
            clippy::print_stdout,
            clippy::cast_precision_loss,
            reason = "the figures of SECURITY.md come from here"
        )]
        fn tell(&self, what: &str) {
            let share = |count: usize| count as f64 * 100.0 / self.mutants.max(1) as f64;
            let (refused, harmless, unseen) = (share(self.refused), share(self.harmless), share(self.unseen));
            println!(
                "{what}: {} mutants, {refused:.2} % refused, {harmless:.2} % without effect, {unseen:.2} % unseen",
                self.mutants
            );
        }
    }

    /// Reads a damaged file; `None` if that is refused.
    fn read(specimen: &Specimen, what: &str) -> Option<Content> {
        let place = || format!("{} ({:?}), {what}", specimen.name, specimen.kind);
        let start = Instant::now();
        let (outcome, used) = CountingAllocator::on_this_thread(|| catch_unwind(AssertUnwindSafe(|| specimen.read())));
        let mut took = start.elapsed();
        // On a busy machine the first tries say little.
        for _ in 0..5 {
            if took < PATIENCE {
                break;
            }
            let again = Instant::now();
            let _ = specimen.read();
            took = again.elapsed();
        }
        assert!(took < PATIENCE, "{}: took {took:?}", place());
        assert!(used.largest <= LIMIT as u64 + BESIDES, "{}: {} bytes allocated at once", place(), used.largest);
        let result = outcome.unwrap_or_else(|_| panic!("{}: it panicked", place()));
        result.inspect_err(|error| assert!(error.to_string().len() > 10, "{}: {error:?}", place())).ok()
    }

    fn damage(kind: Kind) {
        let (mut plain, mut checked) = (Tally::default(), Tally::default());
        let specimens = specimens(kind, if is_long() { LONG_BUDGET } else { BUDGET });
        assert!(specimens.len() >= 3, "{} of {kind:?}", specimens.len());
        for specimen in &specimens {
            let original = specimen.read().unwrap();
            let tally = if specimen.has_checksums { &mut checked } else { &mut plain };
            for (number, (name, bytes)) in specimen.files.iter().enumerate() {
                for mutant in mutate::single_byte(bytes, 0..bytes.len()) {
                    let what = format!("{name}: {}", mutant.what);
                    let found = read(&specimen.with_file(number, mutant.bytes), &what);
                    let is_unseen = found.as_ref().is_some_and(|found| *found != original);
                    assert!(!(specimen.has_checksums && is_unseen), "{}, {what}: nobody has noticed", specimen.name);
                    tally.count(&original, found.as_ref());
                }
            }
        }
        plain.tell(&format!("{} of {kind:?}, those without checksums", specimens.len()));
        if checked.mutants > 0 {
            checked.tell(&format!("{} of {kind:?}, those with checksums", specimens.len()));
        }
    }

    #[test]
    fn no_damaged_byte_of_a_chunk_does_harm() {
        damage(Kind::Chunk);
    }

    #[test]
    fn no_damaged_byte_of_a_frame_does_harm() {
        damage(Kind::Frame);
    }

    #[test]
    fn no_damaged_byte_of_a_sparse_frame_does_harm() {
        damage(Kind::Sparse);
    }

    #[test]
    fn no_damaged_byte_of_an_early_frame_does_harm() {
        damage(Kind::Early);
    }

    #[test]
    fn no_damaged_byte_of_a_packed_super_chunk_does_harm() {
        damage(Kind::Packed);
    }

    #[test]
    fn no_damaged_byte_of_an_array_does_harm() {
        damage(Kind::Array);
    }

    #[test]
    fn no_damaged_byte_of_a_bloscpack_file_does_harm() {
        damage(Kind::Bloscpack);
    }

    #[test]
    fn every_prefix_of_a_file_is_refused_or_holds_a_commit() {
        use Kind::{Array, Bloscpack, Early, Frame, Packed, Sparse, SparseArray};
        for kind in [Frame, Sparse, Early, Packed, Array, SparseArray, Bloscpack] {
            for specimen in specimens(kind, if is_long() { LONG_BUDGET } else { 3 * BUDGET }) {
                let original = specimen.read().unwrap();
                for (number, (name, bytes)) in specimen.files.iter().enumerate() {
                    for prefix in mutate::prefixes(bytes) {
                        let what = format!("{name}: cut to {} of {} bytes", prefix.len(), bytes.len());
                        let found = read(&specimen.with_file(number, prefix.to_vec()), &what);
                        // What stands after the data may be missing: old bytes, room, a copy of the
                        // header.
                        let is_commit = prefix.len() > 24 && prefix[prefix.len() - 24..].starts_with(b"b2footer");
                        let is_fine = found.is_none_or(|found| found == original) || is_commit;
                        assert!(is_fine, "{} ({kind:?}), {what}: other data", specimen.name);
                    }
                }
            }
        }
    }
}
