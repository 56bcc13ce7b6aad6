//! C-Blosc and ours in one process: each decodes what the other wrote, and both refuse what is
//! damaged.

use libblosc_tests::{Blosc, CODECS, data_sets, in_a_child, ours, theirs};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use testkit::Rng;

const LEVELS: [i32; 5] = [0, 1, 5, 6, 9];
const TYPESIZES: [usize; 9] = [1, 2, 3, 4, 8, 12, 16, 17, 255];
const LENGTHS: [usize; 11] = [0, 1, 15, 16, 127, 128, 129, 1000, 32_768, 65_537, usize::MAX];

/// The split mode is one for the whole process: tests that count on it take turns with the one that
/// changes it.
static SPLIT_MODE: RwLock<()> = RwLock::new(());

fn usual_split_mode() -> RwLockReadGuard<'static, ()> {
    SPLIT_MODE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Codecs that both have.
fn codecs() -> impl Iterator<Item = &'static str> {
    CODECS.into_iter().filter(|codec| ours().has(codec) && theirs().has(codec))
}

/// The first `len` bytes, or all.
fn part(data: &[u8], len: usize) -> &[u8] {
    &data[..len.min(data.len())]
}

fn check_chunk(chunk: &[u8], typesize: usize, data: &[u8], what: &str) {
    for library in [ours(), theirs()] {
        let expected = if data.is_empty() { Err(0) } else { Ok(data.to_vec()) };
        assert_eq!(library.data(chunk, data.len()), expected, "{what}");
        assert_eq!(library.data_ctx(chunk, data.len() + 10, 2), expected, "{what}");
        check_items(library, chunk, typesize, data, what);
    }
    assert_eq!(ours().sizes(chunk), theirs().sizes(chunk), "{what}");
    assert_eq!(ours().description(chunk), theirs().description(chunk), "{what}");
}

fn check_items(library: &Blosc, chunk: &[u8], typesize: usize, data: &[u8], what: &str) {
    let count = data.len() / typesize;
    for (start, len) in [(0, count), (count / 3, count / 5), (count.saturating_sub(1), 1)] {
        let (from, to) = (start * typesize, (start + len) * typesize);
        if from < to && to <= data.len() {
            let (start, len) = (i32::try_from(start).unwrap(), i32::try_from(len).unwrap());
            let items = library.items(chunk, start, len, to - from);
            assert_eq!(items.as_deref(), Ok(&data[from..to]), "{what}: {start} {len}");
        }
    }
}

#[test]
#[ignore = "needs C-Blosc, which BLOSC1_LIBRARY names"]
fn each_reads_what_the_other_wrote() {
    let _guard = usual_split_mode();
    let mut count = 0;
    for (set, data) in data_sets().iter().enumerate() {
        for codec in codecs() {
            for typesize in TYPESIZES {
                for (turn, len) in LENGTHS.into_iter().enumerate() {
                    let data = part(data, len);
                    // Every level and shuffle meets every length of one set or another.
                    let level = LEVELS[(set + turn) % LEVELS.len()];
                    let shuffle = i32::try_from((set + turn + typesize) % 3).unwrap();
                    for writer in [ours(), theirs()] {
                        let what =
                            format!("set {set}, {codec}, typesize {typesize}, {} bytes, level {level}", data.len());
                        let room = data.len() + 16;
                        let chunk = writer.chunk_ctx(level, shuffle, typesize, data, room, codec, 0, 1).unwrap();
                        check_chunk(&chunk, typesize, data, &what);
                        count += 1;
                    }
                }
            }
        }
    }
    assert!(count > 4000, "{count} chunks");
}

#[test]
#[ignore = "needs C-Blosc, which BLOSC1_LIBRARY names"]
fn forced_blocks_and_split_modes_are_read_by_the_other() {
    let _guard = SPLIT_MODE.write().unwrap_or_else(PoisonError::into_inner);
    let all = data_sets();
    let data = &all[4];
    for mode in 1..=4 {
        for codec in codecs() {
            for (typesize, blocksize) in
                [(1, 300), (4, 4096), (4, 1 << 20), (8, 5000), (16, 100_000), (20, 7000), (40, 9000)]
            {
                for writer in [ours(), theirs()] {
                    // SAFETY: takes a number.
                    unsafe { (writer.set_splitmode)(mode) };
                    let room = data.len() + 16;
                    let chunk = writer.chunk_ctx(5, 1, typesize, data, room, codec, blocksize, 2).unwrap();
                    // Both of C's functions decode such chunks alike; it writes some that neither
                    // can read.
                    if theirs().data(&chunk, data.len()).is_ok() {
                        check_chunk(&chunk, typesize, data, &format!("{mode} {codec} {typesize} {blocksize}"));
                    }
                    // SAFETY: takes a number.
                    unsafe { (writer.set_splitmode)(4) };
                }
            }
        }
    }
}

#[test]
#[ignore = "needs C-Blosc, which BLOSC1_LIBRARY names"]
fn too_small_outputs_are_refused_alike() {
    let _guard = usual_split_mode();
    let all = data_sets();
    for codec in codecs() {
        for data in &all {
            let data = part(data, 20_000);
            for room in [0, 1, 15, 16, 17, 20, 100, data.len() / 2, data.len(), data.len() + 15] {
                // C writes the places of blocks behind an output that has no room for them.
                let libraries = if (16..100).contains(&room) { vec![ours()] } else { vec![ours(), theirs()] };
                for library in libraries {
                    if let Ok(chunk) = library.chunk_ctx(5, 1, 4, data, room, codec, 0, 1) {
                        assert_eq!(ours().data(&chunk, data.len()).unwrap(), data);
                        assert_eq!(theirs().data(&chunk, data.len()).unwrap(), data);
                    }
                }
            }
            let chunk = ours().chunk_ctx(5, 1, 4, data, data.len() + 16, codec, 0, 1).unwrap();
            let exact = ours().chunk_ctx(5, 1, 4, data, chunk.len(), codec, 0, 1);
            assert_eq!(exact.as_deref(), Ok(&*chunk), "a chunk fits into its own length");
            assert_eq!(ours().chunk_ctx(5, 1, 4, data, chunk.len() - 1, codec, 0, 1), Err(0));
        }
    }
}

/// A few changes of bytes, mostly where lengths and places are; the length of the chunk stays what
/// it is.
fn damaged(chunk: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bad = chunk.to_vec();
    for _ in 0..=random.below(3) {
        let most = if random.below(2) == 0 { bad.len().min(40) } else { bad.len() };
        let at = random.below(most);
        bad[at] = u8::try_from(random.below(256)).unwrap();
    }
    bad[12..16].copy_from_slice(&chunk[12..16]);
    bad
}

#[test]
fn damaged_chunks_give_an_error_or_data_and_never_more() {
    let _guard = usual_split_mode();
    let mut random = Rng::new(20);
    let all = data_sets();
    for codec in CODECS.into_iter().filter(|codec| ours().has(codec)) {
        for data in [&all[0], &all[1], &all[4]] {
            let data = part(data, 30_000);
            let chunk = ours().chunk_ctx(5, 1, 4, data, data.len() + 16, codec, 4000, 1).unwrap();
            for _ in 0..300 {
                let bad = damaged(&chunk, &mut random);
                // What is written behind the output would be seen, and so would a crash.
                let _ = ours().data(&bad, data.len());
                let _ = ours().data_ctx(&bad, data.len(), 2);
                let count = i32::try_from(data.len() / 255).unwrap();
                let _ = ours().items(&bad, 3, count - 3, data.len());
                let _ = ours().description(&bad);
            }
            assert_eq!(ours().data(&chunk, data.len()).unwrap(), data);
        }
    }
}

#[test]
#[ignore = "needs C-Blosc, which BLOSC1_LIBRARY names"]
fn what_both_make_of_damaged_chunks_is_the_same() {
    let _guard = usual_split_mode();
    let mut random = Rng::new(21);
    let all = data_sets();
    let (mut both, mut only_ours, mut only_theirs, mut crashes) = (0, 0, 0, 0);
    for codec in codecs() {
        let data = part(&all[4], 100_000);
        let chunk = theirs().chunk_ctx(5, 1, 4, data, data.len() + 16, codec, 0, 1).unwrap();
        for _ in 0..60 {
            let bad = damaged(&chunk, &mut random);
            let of_ours = ours().data(&bad, data.len());
            // C may crash.
            match in_a_child(|| theirs().data(&bad, data.len()).is_ok()) {
                None => crashes += 1,
                Some(true) if of_ours.is_ok() => {
                    assert_eq!(of_ours, theirs().data(&bad, data.len()));
                    both += 1;
                }
                Some(true) => only_theirs += 1,
                Some(false) if of_ours.is_ok() => only_ours += 1,
                Some(false) => {}
            }
        }
    }
    println!("{both} read by both, {only_ours} by ours, {only_theirs} by C, which died of {crashes}");
    assert!(both > 0 && only_ours + only_theirs <= both, "{both} {only_ours} {only_theirs}");
}

#[test]
fn the_same_bytes_come_out_for_any_number_of_threads() {
    let _guard = usual_split_mode();
    let all = data_sets();
    for codec in CODECS.into_iter().filter(|codec| ours().has(codec)) {
        let data = &all[4];
        let chunk = |threads| ours().chunk_ctx(5, 1, 4, data, data.len() + 16, codec, 16_384, threads).unwrap();
        let one = chunk(1);
        for threads in [2, 3, 4, 7, 100] {
            assert_eq!(chunk(threads), one, "{codec} {threads}");
        }
    }
}
