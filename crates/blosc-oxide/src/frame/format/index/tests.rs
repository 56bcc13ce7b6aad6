//! Tests of the index.

use super::entry::{NAN, SPECIAL, UNINIT, ZEROS};
use super::packer::{MAX_WHOLE, options};
use super::*;
use crate::chunk::{Compressor, Options, Special};

fn committed_entries(index: &Index) -> Vec<Entry> {
    index.as_committed(index.committed().unwrap()).unwrap().entries().unwrap().collect()
}

fn entries() -> Vec<Entry> {
    vec![
        Entry::At(0),
        Entry::Special(Special::Zeros),
        Entry::Special(Special::NaN),
        Entry::Special(Special::Uninit),
        Entry::At(123_456),
    ]
}

/// Puts entries in place of those at `range`.
fn put<const N: usize>(index: &mut Index, range: Range<usize>, entries: [Entry; N]) {
    index.splice(range, entries.into_iter().map(|entry| (entry, 1))).unwrap();
}

/// Puts entries in place of all that there are.
fn put_all(index: &mut Index, entries: impl Iterator<Item = Entry>) {
    index.splice(0..index.len(), entries.map(|entry| (entry, 1))).unwrap();
}

#[test]
fn entries_are_read_back() {
    let index = Index::parse(pack(entries().into_iter()).unwrap().bytes(), Limits::new()).unwrap();
    assert_eq!(index.len(), 5);
    assert!(index.entries().unwrap().eq(entries()));
    assert_eq!(index.entry(2).unwrap(), Entry::Special(Special::NaN));
    assert!(index.entry(5).is_err());
}

#[test]
fn special_entries_have_the_bits_of_the_reference() {
    assert_eq!(Entry::Special(Special::Zeros).bits(), 0x8100_0000_0000_0000);
    assert_eq!(Entry::Special(Special::NaN).bits(), 0x8200_0000_0000_0000);
    assert_eq!(Entry::Special(Special::Uninit).bits(), 0x8400_0000_0000_0000);
}

#[test]
fn a_word_that_is_no_entry_is_refused_when_it_is_asked_for() {
    let packed = pack([Entry::At(0), Entry::Wrong(1 << 63)].into_iter()).unwrap();
    let index = Index::parse(packed.bytes(), Limits::new()).unwrap();
    assert!(index.entry(1).unwrap_err().to_string().contains("0x8000000000000000"));
    assert_eq!(index.entry(0).unwrap(), Entry::At(0), "the others can be read");
}

#[test]
fn the_first_of_several_bits_decides_what_is_special() {
    let all = SPECIAL | ZEROS | NAN | UNINIT;
    assert_eq!(Entry::from_bits(all), Entry::Special(Special::Zeros));
    assert_eq!(Entry::from_bits(all & !ZEROS), Entry::Special(Special::Uninit));
    assert_eq!(Entry::from_bits(SPECIAL | NAN), Entry::Special(Special::NaN));
    assert_eq!(Entry::from_bits(all & !SPECIAL), Entry::At(all & !SPECIAL));
    assert_eq!(Entry::from_bits(SPECIAL | 1), Entry::Wrong(SPECIAL | 1));
    assert_eq!(Entry::Special(Special::Value).bits(), SPECIAL | ZEROS);
}

#[test]
fn only_a_chunk_that_is_somewhere_has_a_place() {
    let (at, special) = (Entry::At(7), Entry::Special(Special::NaN));
    assert_eq!((at.offset(), special.offset()), (Some(7), None));
    assert_eq!((at.map_offset(|place| place + 1), special.map_offset(|place| place + 1)), (Entry::At(8), special));
}

#[test]
fn an_index_is_whole_entries_within_the_limits() {
    let packed = pack(entries().into_iter()).unwrap();
    assert!(packed.len() <= max_packed_len(5) && max_packed_len(5) == 40 + 32);
    let parse = |limits| Index::parse(packed.bytes(), limits).and_then(|index| index.entry(4));
    assert_eq!(parse(Limits::new().with_max_allocation(100).with_max_chunks(5)).unwrap(), Entry::At(123_456));
    assert!(parse(Limits::new().with_max_allocation(39)).is_err());
    assert!(parse(Limits::new().with_max_chunks(4)).is_err());
    let ragged = Compressor::new(options()).unwrap().compress(&[0; 12]).unwrap();
    let error = Index::parse(&ragged, Limits::new()).unwrap_err();
    assert_eq!(error.to_string(), "frame index: 12 bytes are no whole entries of 8");
    assert_eq!(Index::new().pack().unwrap().len(), 0);
}

#[test]
fn an_index_has_as_many_entries_as_a_chunk_holds() {
    assert!(check_count(268_435_455).is_ok());
    let error = check_count(268_435_456).unwrap_err();
    assert_eq!(error.to_string(), "a frame has room for 268435455 chunks, not for 268435456");
    assert!(check_count(268_435_457).is_err());
}

#[test]
fn what_has_been_changed_is_a_new_version_when_it_is_packed() {
    let mut index = Index::new();
    let mut versions = vec![index.version()];
    put(&mut index, 0..0, [Entry::At(5)]);
    versions.push(index.version());
    let packed = index.pack().unwrap();
    versions.push(index.version());
    index.pack().unwrap();
    versions.push(index.version());
    put(&mut index, 0..1, [Entry::At(6)]);
    index.pack().unwrap();
    versions.push(index.version());
    assert_eq!(versions, [0, 0, 1, 1, 2]);
    assert_eq!((packed.digest(), packed.len()), (xxh3_64(packed.bytes()), packed.bytes().len()));
    assert_eq!(committed_entries(&index), []);
    index.set_committed(Some(packed.clone()));
    assert_eq!(index.committed(), Some(packed.bytes()));
    assert_eq!(committed_entries(&index), [Entry::At(5)]);
}

#[test]
fn entries_behind_the_first_are_read_and_replaced() {
    let mut index = Index::parse(pack(entries().into_iter()).unwrap().bytes(), Limits::new()).unwrap();
    assert!(index.entries_from(3).unwrap().eq(entries().into_iter().skip(3)));
    assert_eq!(index.entries_from(6).unwrap().len(), 0);
    put(&mut index, 4..5, [Entry::At(1), Entry::At(2)]);
    assert_eq!((index.len(), index.entry(4).unwrap(), index.entry(5).unwrap()), (6, Entry::At(1), Entry::At(2)));
    put(&mut index, 6..6, [Entry::At(3)]);
    assert_eq!((index.len(), index.entry(6).unwrap()), (7, Entry::At(3)));
    let anew = pack(index.entries().unwrap()).unwrap();
    assert_eq!(index.pack().unwrap().bytes(), anew.bytes());
    assert!(committed_entries(&index) == entries(), "what counts is as before");
}

#[test]
fn what_is_packed_after_changes_is_what_would_be_packed_anew() {
    let mut index = Index::new();
    let mut model = Vec::new();
    let mut seed = 1_u64;
    for step in 0..3000_u64 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(seed >> 33).unwrap() % (model.len() + 1);
        match seed >> 62 {
            0 if at < model.len() => {
                model[at] = Entry::At(step);
                put(&mut index, at..at + 1, [Entry::At(step)]);
            }
            1 if at < model.len() && step > 2500 => {
                model.remove(at);
                put(&mut index, at..at + 1, []);
            }
            2 if step % 50 == 0 => {
                model.insert(at, Entry::Special(Special::Zeros));
                put(&mut index, at..at, [Entry::Special(Special::Zeros)]);
            }
            _ => {
                model.push(Entry::At(step * 1000));
                let end = index.len();
                put(&mut index, end..end, [Entry::At(step * 1000)]);
            }
        }
        if step % 7 == 0 {
            assert_eq!(index.pack().unwrap().bytes(), pack(model.iter().copied()).unwrap().bytes());
        }
    }
    assert!(index.entries().unwrap().eq(model.iter().copied()));
    put_all(&mut index, entries().into_iter());
    assert_eq!(index.pack().unwrap().bytes(), pack(entries().into_iter()).unwrap().bytes());
}

/// A hundred million special chunks, but for the last one and one in the middle.
fn hundred_million() -> Index {
    let mut index = Index::new();
    index.insert_run(0, Entry::Special(Special::Zeros), 100_000_000).unwrap();
    put(&mut index, 50_000_000..50_000_001, [Entry::At(7)]);
    put(&mut index, 100_000_000..100_000_000, [Entry::At(8)]);
    index
}

#[test]
fn an_index_of_long_runs_is_packed_and_read_without_all_of_its_words() {
    let mut index = hundred_million();
    let packed = index.pack().unwrap();
    assert!(packed.len() < 5_000_000, "{} bytes", packed.len());
    let limits = Limits::new().with_max_allocation(1 << 20);
    let mut again = Index::parse(packed.bytes(), limits).unwrap();
    assert_eq!(again.len(), 100_000_001);
    assert_eq!(again.entry(99_999_999).unwrap(), Entry::Special(Special::Zeros));
    assert_eq!(again.entry(50_000_000).unwrap(), Entry::At(7));
    assert_eq!(again.run(3).unwrap(), (Entry::Special(Special::Zeros), 50_000_000));
    assert_eq!(again.offsets().unwrap().collect::<Vec<_>>(), [7, 8]);
    again.relocate(|place| place + 10).unwrap();
    assert_eq!(again.offsets().unwrap().collect::<Vec<_>>(), [17, 18]);
    again.relocate(|place| place - 10).unwrap();
    assert_eq!(again.pack().unwrap().bytes(), packed.bytes(), "blocks that are copied are the same");
}

#[test]
fn an_index_packed_block_by_block_is_what_all_of_its_words_are_packed_to() {
    let mut index = Index::new();
    put_all(&mut index, (0..(MAX_WHOLE as u64 + 5000)).map(|at| Entry::At(at / 3000 * 1000)));
    let packed = index.pack().unwrap();
    let words: Vec<u8> = index.decoded().unwrap().words(0).flat_map(u64::to_le_bytes).collect();
    assert_eq!(packed.bytes(), Compressor::new(options()).unwrap().compress(&words).unwrap());
}

#[test]
fn words_that_are_no_run_are_held_to_the_limit() {
    let mut index = Index::new();
    put_all(&mut index, (0..100_000).map(Entry::At));
    let packed = index.pack().unwrap();
    let asked = |limit: usize| {
        let index = Index::parse(packed.bytes(), Limits::new().with_max_allocation(limit)).unwrap();
        index.entries().map(Iterator::last)
    };
    assert_eq!(asked(820_000).unwrap(), Some(Entry::At(99_999)));
    assert_eq!(asked(700_000).unwrap_err().kind(), crate::error::ErrorKind::LimitExceeded);
}

#[test]
fn a_few_entries_are_looked_up_without_decoding_the_others() {
    let entries = |count: u64| (0..count).map(|at| Entry::At(at * at));
    let packed = pack(entries(100_000)).unwrap();
    let mut damaged = packed.bytes().to_vec();
    let len = damaged.len();
    damaged[len - 200..].fill(0xff);
    let index = Index::parse(&damaged, Limits::new()).unwrap();
    assert_eq!(index.entry(70_000).unwrap(), Entry::At(70_000 * 70_000));
    assert!(index.entries.get().is_none());
    assert!(index.entry(99_999).is_err() && index.entries().is_err(), "the last block is damaged");
    let index = Index::parse(packed.bytes(), Limits::new()).unwrap();
    let looked_up: Vec<Entry> = (0..100_000).map(|at| index.entry(at).unwrap()).collect();
    assert!(looked_up.into_iter().eq(entries(100_000)));
    assert!(index.entries.get().is_some(), "many entries are not looked up one by one");
    assert!(index.entry(100_000).is_err());
}

#[test]
fn blocks_that_end_within_an_entry_are_read() {
    let words: Vec<u8> = (0..5000_u64).flat_map(u64::to_le_bytes).collect();
    let options = Options::new(1).with_blocksize(1001).with_threads(Threads::serial());
    let packed = Compressor::new(options).unwrap().compress(&words).unwrap();
    assert!(!Chunk::parse(&packed).unwrap().header().blocksize().is_multiple_of(8));
    let index = Index::parse(&packed, Limits::new()).unwrap();
    assert!(index.entries().unwrap().eq((0..5000).map(Entry::At)));
}
