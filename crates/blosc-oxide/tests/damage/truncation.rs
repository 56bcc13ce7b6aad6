//! A chunk that ends early is an error, wherever it ends.

use blosc_oxide::{Chunk, ErrorKind, Header, LazyChunk};
use testkit::golden::{Entry, Golden};
use testkit::mutate;

fn small_chunks() -> impl Iterator<Item = (Entry, Vec<u8>)> {
    let golden = Golden::repository();
    let entries: Vec<Entry> = golden.chunks();
    entries.into_iter().map(|entry| (entry.clone(), entry.read())).filter(|(_, bytes)| bytes.len() < 10_000)
}

#[test]
fn every_prefix_of_a_chunk_is_told_from_a_whole_one() {
    for (entry, bytes) in small_chunks().filter(|(entry, _)| entry.kind != "lazychunk") {
        for prefix in mutate::prefixes(&bytes) {
            let error = blosc_oxide::decompress(prefix).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{} cut to {}: {error}", entry.file, prefix.len());
            assert!(error.to_string().contains(&prefix.len().to_string()), "{} cut to {}", error, prefix.len());
        }
    }
}

#[test]
fn every_prefix_of_a_lazy_chunk_is_told_from_a_whole_one() {
    for (entry, bytes) in small_chunks().filter(|(entry, _)| entry.kind == "lazychunk") {
        for prefix in mutate::prefixes(&bytes) {
            let error = LazyChunk::parse(prefix).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{} cut to {}: {error}", entry.file, prefix.len());
        }
    }
}

#[test]
fn a_chunk_that_admits_to_be_shorter_does_not_decode() {
    for (entry, bytes) in small_chunks().filter(|(entry, _)| entry.kind != "lazychunk") {
        let header = Header::parse(&bytes).unwrap();
        // Of a special value any part may be a value.
        if header.special().is_some() {
            continue;
        }
        for len in (header.header_len()..bytes.len()).step_by(1 + bytes.len() / 500) {
            let mut short = bytes[..len].to_vec();
            short[12..16].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
            let error = blosc_oxide::decompress(&short).expect_err(&entry.file);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{} with cbytes {len}: {error}", entry.file);
        }
    }
}

#[test]
fn what_follows_a_chunk_is_not_part_of_it() {
    for (entry, bytes) in small_chunks().filter(|(entry, _)| entry.kind != "lazychunk") {
        let longer = [&bytes[..], b"and so on"].concat();
        assert_eq!(Chunk::parse(&longer).unwrap().as_bytes(), bytes, "{}", entry.file);
        assert_eq!(
            blosc_oxide::decompress(&longer).unwrap(),
            blosc_oxide::decompress(&bytes).unwrap(),
            "{}",
            entry.file
        );
    }
}
