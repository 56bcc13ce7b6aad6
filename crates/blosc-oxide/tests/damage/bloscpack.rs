//! Cut at any byte, a file is an error; one flipped bit is found wherever a checksum is on; nothing
//! panics.
#![cfg(feature = "bloscpack")]

use blosc_oxide::bloscpack::{
    self, Bloscpack, BloscpackOptions, Checksum, MetadataOptions, Offsets, ReadOptions, Version,
};
use blosc_oxide::{Codec, ErrorKind, Options, Threads, storage::MemoryStorage};
use testkit::formula::generate;
use testkit::golden::Golden;
use testkit::mutate;
use testkit::serde_json::json;

fn data() -> Vec<u8> {
    generate(&json!([{"kind": "walk", "n": 100, "w": 8, "seed": 1}, {"kind": "rand", "nbytes": 150, "seed": 2}]))
        .unwrap()
}

fn options() -> BloscpackOptions {
    BloscpackOptions::new(Options::new(8).with_codec(Codec::Lz4).with_threads(Threads::serial())).with_chunk_size(400)
}

fn quiet() -> ReadOptions {
    ReadOptions::new().with_threads(Threads::serial())
}

/// Data and metadata.
type Content = (Vec<u8>, Option<String>);

/// What comes out, and whether the file knows how long it is.
fn read(bytes: &[u8]) -> (blosc_oxide::Result<Content>, bool) {
    match Bloscpack::with_options(MemoryStorage::new(bytes.to_vec()), quiet()) {
        Ok(file) => {
            let mut data = Vec::new();
            let metadata = file.metadata().map(|metadata| metadata.text().to_owned());
            (file.copy_to(&mut data).map(|_| (data, metadata)), file.is_length_known())
        }
        Err(error) => (Err(error), true),
    }
}

fn read_stream(bytes: &[u8]) -> blosc_oxide::Result<Content> {
    let mut data = Vec::new();
    let unpacked = bloscpack::unpack(bytes, &mut data, &quiet())?;
    Ok((data, unpacked.metadata.map(|metadata| metadata.text().to_owned())))
}

fn every_kind_of_file() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let data = data();
    for version in [Version::V1, Version::V2, Version::V3] {
        for checksum in [Checksum::None, Checksum::Crc32, Checksum::Md5] {
            for offsets in [false, true] {
                if version == Version::V1 && (offsets || checksum != Checksum::None) {
                    continue;
                }
                let options = options().with_version(version).with_checksum(checksum).with_offsets(offsets);
                let label = format!("version {version}, {checksum}, offsets {offsets}");
                files.push((label.clone(), bloscpack::pack_slice(&data, &options).unwrap()));
                if !offsets {
                    let mut stream = Vec::new();
                    bloscpack::pack(&data[..], &mut stream, &options).unwrap();
                    files.push((format!("{label}, streamed"), stream));
                }
            }
        }
    }
    let metadata =
        options().with_metadata("{\"name\":\"value\"}").with_metadata_options(MetadataOptions::new().with_room(40));
    files.push(("with metadata".to_owned(), bloscpack::pack_slice(&data, &metadata).unwrap()));
    files
}

#[test]
fn a_file_cut_at_any_byte_is_an_error() {
    let data = data();
    let mut cuts = 0;
    for (label, whole) in every_kind_of_file() {
        let record_ends: Vec<u64> = {
            let file = Bloscpack::from_storage(MemoryStorage::new(whole.clone())).unwrap();
            (0..file.nchunks().unwrap()).map(|index| file.chunk_position(index).unwrap()).collect()
        };
        for cut in mutate::prefixes(&whole) {
            let (found, is_length_known) = read(cut);
            let place = format!("{label}: {} of {} bytes", cut.len(), whole.len());
            // Version 1 knows no size, so that without a chunk it is an empty file.
            let first = usize::from(!label.starts_with("version 1"));
            let is_between_chunks = record_ends[first..].contains(&(cut.len() as u64));
            if is_between_chunks && label.ends_with("streamed") {
                assert!(!is_length_known, "{place}");
                let (found, _) = found.unwrap();
                assert!(data.starts_with(&found) && found.len() < data.len(), "{place}");
                continue;
            }
            let error = found.expect_err(&place);
            assert_eq!(error.kind(), ErrorKind::Truncated, "{place}: {error}");
            assert_eq!(read_stream(cut).expect_err(&place).kind(), ErrorKind::Truncated, "{place} as a stream");
            cuts += 1;
        }
    }
    assert!(cuts > 9_900, "only {cuts} cuts were made");
}

#[test]
fn where_only_dead_bytes_are_cut_the_data_is_whole() {
    let whole = bloscpack::pack_slice(&data(), &options()).unwrap();
    let mut longer = whole.clone();
    longer.extend([7; 100]);
    for len in whole.len()..=longer.len() {
        assert_eq!(read(&longer[..len]).0.unwrap().0, data(), "{len}");
        assert_eq!(read_stream(&longer[..len]).unwrap().0, data(), "{len}");
    }
}

#[test]
fn a_range_before_the_damage_can_still_be_read() {
    let whole = bloscpack::pack_slice(&data(), &options()).unwrap();
    let cut = &whole[..whole.len() - 1];
    let file = Bloscpack::from_storage(MemoryStorage::new(cut.to_vec())).unwrap();
    assert_eq!(file.read_range(0..800).unwrap(), data()[..800]);
    assert_eq!(file.read_range(700..801).unwrap_err().kind(), ErrorKind::Truncated);
    let mut before = Vec::new();
    assert!(file.copy_to(&mut before).is_err());
    assert_eq!(before, data()[..800], "what comes before the damage has been written");
}

/// The parts of a file that a checksum covers, and the checksums.
fn covered(bytes: &[u8]) -> Vec<usize> {
    let file = Bloscpack::from_storage(MemoryStorage::new(bytes.to_vec())).unwrap();
    let first = usize::try_from(file.chunk_position(0).unwrap()).unwrap();
    let mut places: Vec<usize> = (first..bytes.len()).collect();
    if let Some(metadata) = file.metadata() {
        let start = 64 + metadata.room();
        places.extend(64..64 + metadata.stored_len());
        places.extend(start..start + metadata.checksum().len());
    }
    places
}

#[test]
fn one_flipped_bit_is_found_wherever_a_checksum_is_on() {
    let mut flips = 0;
    for checksum in Checksum::ALL.into_iter().skip(1) {
        for offsets in [false, true] {
            for level in [0, 6] {
                let how = MetadataOptions::new().with_checksum(checksum).with_level(level).with_room(100);
                let text = "{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}";
                let options = options()
                    .with_checksum(checksum)
                    .with_offsets(offsets)
                    .with_metadata(text)
                    .with_metadata_options(how);
                let good = bloscpack::pack_slice(&data(), &options).unwrap();
                for at in covered(&good) {
                    for bit in 0..8 {
                        let mut bad = good.clone();
                        bad[at] ^= 1 << bit;
                        let place = format!("{checksum}, offsets {offsets}, level {level}: bit {bit} of byte {at}");
                        assert!(read(&bad).0.is_err(), "{place}");
                        assert!(read_stream(&bad).is_err(), "{place}, as a stream");
                        flips += 1;
                    }
                }
            }
        }
    }
    assert!(flips > 100_000, "only {flips} bits were flipped");
}

#[test]
fn a_flipped_bit_elsewhere_never_gives_other_data() {
    for offsets in [false, true] {
        let how = MetadataOptions::new().with_room(100);
        let options = options()
            .with_offsets(offsets)
            .with_checksum(Checksum::Crc32)
            .with_metadata("{\"a\":1}")
            .with_metadata_options(how);
        let good = bloscpack::pack_slice(&data(), &options).unwrap();
        let expected = read(&good).0.unwrap();
        for mutant in mutate::single_byte(&good, 0..good.len()) {
            for found in [read(&mutant.bytes).0, read_stream(&mutant.bytes)].into_iter().flatten() {
                assert!(found == expected, "offsets {offsets}: {}", mutant.what);
            }
        }
    }
}

#[test]
fn wrong_offsets_are_noticed_and_not_needed() {
    let good = bloscpack::pack_slice(&data(), &options().with_checksum(Checksum::None)).unwrap();
    let positions: Vec<i64> =
        Bloscpack::from_storage(MemoryStorage::new(good.clone())).unwrap().stored_offsets().unwrap();
    let wrong = [
        (vec![-1, -1, -1], Offsets::Unset),
        (vec![positions[0], -1, positions[2]], Offsets::Wrong),
        (vec![positions[1], positions[1], positions[2]], Offsets::Wrong),
        (vec![positions[0], positions[2], positions[1]], Offsets::Wrong),
        (vec![i64::MAX, i64::MIN, 0], Offsets::Wrong),
        // Nothing is wrong with these as numbers; that no chunk is there is found when it is looked
        // for.
        (vec![positions[0], positions[1] + 8, positions[2]], Offsets::Sane),
        (vec![positions[0], positions[1], positions[2] + 100_000], Offsets::Sane),
    ];
    for (offsets, state) in wrong {
        let mut bytes = good.clone();
        for (index, offset) in offsets.iter().enumerate() {
            bytes[32 + 8 * index..40 + 8 * index].copy_from_slice(&offset.to_le_bytes());
        }
        let file = Bloscpack::from_storage(MemoryStorage::new(bytes.clone())).unwrap();
        assert_eq!(file.offsets().unwrap(), state, "{offsets:?}");
        assert_eq!(file.stored_offsets().unwrap(), offsets);
        for start in 0..data().len() {
            let end = (start + 7).min(data().len());
            assert_eq!(file.read_range(start as u64..end as u64).unwrap(), data()[start..end], "{offsets:?}");
        }
        assert_eq!(read(&bytes).0.unwrap().0, data(), "{offsets:?}");
    }
}

#[test]
fn mutants_of_golden_files_never_panic() {
    let golden = Golden::shared().unwrap_or_else(Golden::repository);
    for entry in golden.entries("bloscpack") {
        let good = entry.read();
        let start = mutate::single_byte(&good, 0..64.min(good.len()));
        for mutant in start.chain(mutate::random_bytes(&good, 60, 7)) {
            let _ = read(&mutant.bytes);
            let _ = read_stream(&mutant.bytes);
        }
    }
}

/// The records of chunks of these sizes, after a header that leaves the sizes open and says that
/// there are `nchunks`, and these of the records in its offsets.
fn of_unknown_chunk_size(sizes: &[usize], nchunks: usize, listed: &[usize]) -> Vec<u8> {
    let record = |(index, &size): (usize, &usize)| {
        let plain = vec![u8::try_from(index + 1).unwrap(); size];
        bloscpack::pack_slice(&plain, &options().with_chunk_size(size).with_offsets(false)).unwrap()[32..].to_vec()
    };
    let records: Vec<Vec<u8>> = sizes.iter().enumerate().map(record).collect();
    let mut file = bloscpack::pack_slice(&[1; 8], &options().with_room(0)).unwrap()[..32].to_vec();
    file[8..16].fill(0xff);
    file[16..24].copy_from_slice(&(nchunks as u64).to_le_bytes());
    file[24..32].fill(0);
    let chunks_at = 32 + 8 * nchunks;
    for &index in listed {
        let before: usize = records[..index].iter().map(Vec::len).sum();
        file.extend(((chunks_at + before) as u64).to_le_bytes());
    }
    file.extend(records.concat());
    file
}

#[test]
fn offsets_that_skip_records_do_not_decide_what_a_range_holds() {
    let sizes = [16, 16, 104, 104, 16, 16];
    for listed in [[0, 2, 3, 4], [0, 1, 2, 5], [0, 1, 4, 5], [0, 1, 2, 3]] {
        let bytes = of_unknown_chunk_size(&sizes, 4, &listed);
        let walked: Vec<u8> = [[1; 16].as_slice(), &[2; 16], &[3; 104], &[4; 104]].concat();
        let file = Bloscpack::with_options(MemoryStorage::new(bytes.clone()), quiet()).unwrap();
        assert_eq!(file.offsets().unwrap(), Offsets::Sane);
        let mut out = vec![0; walked.len()];
        file.read_into(0, &mut out).unwrap();
        assert_eq!(out, walked, "{listed:?}");
        assert_eq!(file.read_range(20..200).unwrap(), walked[20..200], "{listed:?}");
        assert_eq!(file.chunk(1).unwrap(), [2; 16], "{listed:?}");
        assert_eq!((read(&bytes).0.unwrap().0, read_stream(&bytes).unwrap().0), (walked.clone(), walked), "{listed:?}");
    }
}

/// `cat` makes such streams. Where the header leaves open how many chunks there are, the next
/// header is no chunk anyway.
#[test]
fn another_file_behind_a_stream_is_not_dropped_without_a_word() {
    let data = data();
    for (name, bytes) in every_kind_of_file() {
        if name.ends_with("streamed") {
            continue;
        }
        assert_eq!(read_stream(&bytes).unwrap().0, data, "{name}");
        let error = read_stream(&[&bytes[..], &bytes].concat()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
        let message = format!("another Bloscpack file follows at byte {}", bytes.len());
        assert!(error.to_string().starts_with(&message), "{name}: {error}");
        // Other bytes belong to nothing, a magic that comes later among them.
        assert_eq!(read_stream(&[&bytes[..], b"-", &bytes].concat()).unwrap().0, data, "{name}");
    }
}
