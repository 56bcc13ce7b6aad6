//! Headers that are read, written, and refused.

use super::*;
use crate::limits::{MAX_BLOCKSIZE, MAX_NBYTES};

fn blosc2() -> Fields {
    Fields {
        version: 5,
        codec_version: 1,
        flags: 0x35,
        typesize: 4,
        nbytes: 1000,
        blocksize: 400,
        cbytes: 100,
        extension: Some(Extension {
            pipeline: Pipeline::from_slots([0, 0, 0, 0, 0, 1], [0; 6]),
            codec: 2,
            codec_meta: 0,
            flags2: 0,
            blosc2_flags: 0,
        }),
    }
}

fn message(fields: Fields) -> String {
    Header::parse(&fields.to_bytes()).unwrap_err().to_string()
}

#[test]
fn a_good_header_is_read() {
    let header = Header::parse(&blosc2().to_bytes()).unwrap();
    assert_eq!((header.nbytes(), header.blocksize(), header.nblocks()), (1000, 400, 3));
    assert_eq!(header.codec(), Codec::Lz4Hc);
    assert!(!header.is_split());
    assert_eq!((header.version(), header.codec_version(), header.flags(), header.typesize()), (5, 1, 0x35, 4));
    assert_eq!((header.cbytes(), header.header_len(), header.is_extended()), (100, 32, true));
    let short = Header::parse(&blosc1(0x31).to_bytes()).unwrap();
    assert_eq!((short.version(), short.header_len(), short.is_extended()), (2, 16, false));
    assert_eq!(parse(Fields { codec_version: 7, ..blosc2() }).unwrap().codec_version(), 7);
    assert_eq!(header.pipeline().to_string(), "shuffle");
}

#[test]
fn every_bad_field_is_named() {
    let negative = Fields { nbytes: -5, ..blosc2() };
    assert_eq!(message(negative), "chunk header: nbytes is -5");
    let no_item = Fields { typesize: 0, ..blosc2() };
    assert_eq!(message(no_item), "chunk header: typesize is 0");
    let future = Fields { version: 7, ..blosc2() };
    assert_eq!(message(future), "chunk header: version 7 is not one of 2 to 6");
    let short = Fields { cbytes: 31, ..blosc2() };
    assert_eq!(message(short), "chunk header: cbytes is 31, less than the header's 32");
    let no_block = Fields { blocksize: 0, ..blosc2() };
    assert_eq!(message(no_block), "chunk header: blocksize is 0, it can be 1 to 536866816");
    let crowded = Fields { blocksize: 4, ..blosc2() };
    assert_eq!(message(crowded), "chunk header: 250 blocks need 1000 bytes of offsets, 68 bytes follow");
    let copied = Fields { flags: 7, ..blosc2() };
    assert_eq!(message(copied), "chunk header: 1000 bytes are stored as they are, but 68 bytes follow");
}

#[test]
fn a_ragged_block_size_of_the_reference_is_rounded_down() {
    let header = Header::parse(&Fields { blocksize: 402, ..blosc2() }.to_bytes()).unwrap();
    assert_eq!(header.blocksize(), 400);
    assert_eq!(header.stored_blocksize(), 402);
    let one_short_block = Fields { nbytes: 1003, blocksize: 4096, ..blosc2() };
    let header = Header::parse(&one_short_block.to_bytes()).unwrap();
    assert_eq!((header.blocksize(), header.nblocks()), (1000, 2));
}

#[test]
fn special_values_are_checked_against_the_sizes() {
    let special = |code: u8, nbytes, cbytes| {
        let extension = blosc2().extension.map(|extension| Extension { blosc2_flags: code << 4, ..extension });
        Header::parse(&Fields { nbytes, cbytes, extension, ..blosc2() }.to_bytes())
    };
    assert_eq!(special(1, 1001, 32).unwrap().special(), Some(Special::Zeros));
    assert_eq!(special(2, 1000, 32).unwrap().special(), Some(Special::NaN));
    assert!(special(2, 1001, 32).is_err());
    assert_eq!(special(3, 1000, 42).unwrap().special(), Some(Special::Value));
    let none = special(3, 1000, 32).unwrap_err().to_string();
    assert_eq!(none, "chunk header: a repeated value is announced, but none follows");
    assert!(special(3, 1000, 35).is_err());
    assert_eq!(special(4, 1000, 32).unwrap().special(), Some(Special::Uninit));
    assert!(special(5, 1000, 32).is_err());
}

#[test]
fn each_special_value_has_the_code_that_it_is_read_by() {
    assert_eq!(Special::from_code(0).unwrap(), None);
    for (code, special) in (1..).zip([Special::Zeros, Special::NaN, Special::Value, Special::Uninit]) {
        assert_eq!((special.code(), Special::from_code(code).unwrap()), (code, Some(special)));
    }
}

#[test]
fn the_longest_chunk_leaves_room_for_its_header() {
    assert_eq!(MAX_NBYTES, 2_147_483_615);
}

#[test]
fn the_alphas_had_five_filters() {
    let header = Header::parse(&Fields { version: 3, ..blosc2() }.to_bytes()).unwrap();
    assert_eq!(header.pipeline(), Pipeline::none());
}

fn parse(fields: Fields) -> Result<Header> {
    Header::parse(&fields.to_bytes())
}

fn with_flags(flags2: u8, blosc2_flags: u8) -> Fields {
    let extension = blosc2().extension.map(|extension| Extension { flags2, blosc2_flags, ..extension });
    Fields { extension, ..blosc2() }
}

fn blosc1(flags: u8) -> Fields {
    Fields { version: 2, flags, extension: None, ..blosc2() }
}

#[test]
fn sizes_may_be_as_large_as_they_can_be() {
    assert_eq!(parse(Fields { cbytes: 32, nbytes: 0, ..blosc2() }).unwrap().nblocks(), 0);
    assert_eq!(parse(Fields { cbytes: 44, ..blosc2() }).unwrap().nblocks(), 3);
    assert!(parse(Fields { cbytes: 43, ..blosc2() }).is_err());
    let largest = i32::try_from(MAX_BLOCKSIZE).unwrap();
    assert_eq!(parse(Fields { blocksize: largest, ..blosc2() }).unwrap().blocksize(), 1000);
    assert!(parse(Fields { blocksize: largest + 1, ..blosc2() }).is_err());
    assert_eq!(parse(Fields { blocksize: 0, nbytes: 0, ..blosc2() }).unwrap().blocksize(), 0);
    assert_eq!(parse(Fields { blocksize: 500, ..blosc2() }).unwrap().nblocks(), 2);
    assert_eq!(parse(Fields { blocksize: 1000, ..blosc2() }).unwrap().nblocks(), 1);
}

#[test]
fn a_block_size_is_rounded_to_items_only_where_writers_did() {
    let blocksize = |fields| parse(fields).unwrap().blocksize();
    assert_eq!(blocksize(Fields { blocksize: 403, ..blosc2() }), 400);
    assert_eq!(blocksize(Fields { blocksize: 3, nbytes: 3, ..blosc2() }), 3);
    assert_eq!(blocksize(Fields { version: 4, blocksize: 403, ..blosc2() }), 403);
    let stored = Fields { blocksize: 403, flags: 0x37, cbytes: 1032, ..blosc2() };
    assert_eq!(blocksize(stored), 403);
    assert_eq!(blocksize(Fields { blocksize: 403, cbytes: 32, ..with_flags(0, 0x10) }), 403);
    assert_eq!(blocksize(Fields { blocksize: 403, ..with_flags(0, 0x80) }), 403);
}

#[test]
fn each_flag_is_told_by_itself() {
    let told = |header: Header| (header.has_dict(), header.is_big_endian(), header.is_lazy(), header.is_instrumented());
    for (bits, expected) in [
        (0x00, (false, false, false, false)),
        (0x01, (true, false, false, false)),
        (0x02, (false, true, false, false)),
        (0x08, (false, false, true, false)),
        (0x80, (false, false, false, true)),
    ] {
        assert_eq!(told(parse(with_flags(0, bits)).unwrap()), expected, "{bits:#04x}");
    }
    let stored = Fields { flags: 0x37, cbytes: 1032, ..with_flags(0, 1) };
    assert!(!parse(stored).unwrap().has_dict());
    assert!(!parse(Fields { cbytes: 32, ..with_flags(0, 0x11) }).unwrap().has_dict());
    assert_eq!(parse(with_flags(0, 0x02)).unwrap().blosc2_flags(), (0, 2));
    assert_eq!(parse(blosc1(0x31)).unwrap().blosc2_flags(), (0, 0));
}

#[test]
fn the_codec_is_found_where_it_stands() {
    let codec = |flags: u8, code: u8| {
        let extension = blosc2().extension.map(|extension| Extension { codec: code, codec_meta: 77, ..extension });
        let cbytes = if flags & flag::MEMCPYED != 0 { 1032 } else { 100 };
        let header = parse(Fields { flags, cbytes, extension, ..blosc2() }).unwrap();
        assert_eq!((header.codec_meta(), header.codec_format()), (77, flags >> 5));
        header.codec()
    };
    assert_eq!(codec(0x15, 0), Codec::BloscLz);
    assert_eq!(codec(0x15, 4), Codec::BloscLz);
    assert_eq!(codec(0x17, 4), Codec::from_code(4));
    assert_eq!((codec(0x35, 1), codec(0x35, 2)), (Codec::Lz4, Codec::Lz4Hc));
    assert_eq!((codec(0x55, 0), codec(0x75, 0), codec(0x95, 0)), (Codec::Snappy, Codec::Zlib, Codec::Zstd));
    assert_eq!((codec(0xb5, 9), codec(0xd5, 200)), (Codec::Lizard, Codec::Plugin(200)));
    assert_eq!(parse(blosc1(0x31)).unwrap().codec(), Codec::Lz4);
}

#[test]
fn blosc1_has_its_filters_in_the_flags() {
    let pipeline = |flags| parse(blosc1(flags)).map(|header| header.pipeline().to_string());
    assert_eq!(pipeline(0x31).unwrap(), "shuffle");
    assert_eq!(pipeline(0x34).unwrap(), "bitshuffle");
    assert_eq!(parse(blosc1(0x30)).unwrap().pipeline(), Pipeline::none());
    assert!(pipeline(0x35).unwrap_err().to_string().contains("shuffle and bit shuffle"));
    assert!(pipeline(0x39).unwrap_err().to_string().contains("bit 3"));
    let alpha = Fields { version: 3, ..blosc1(0x39) };
    assert_eq!(parse(alpha).unwrap().pipeline().to_string(), "delta, shuffle");
    // What is stored as it is has no filters, whatever the flags say.
    assert!(parse(Fields { cbytes: 1016, ..blosc1(0x3f) }).is_ok());
    assert!(parse(Fields { cbytes: 1015, ..blosc1(0x3f) }).is_err());
}

#[test]
fn blocks_of_their_own_lengths_have_rules_of_their_own() {
    let own = |blocks: i32| Fields { version: 6, blocksize: blocks, ..with_flags(1, 0) };
    let header = parse(own(17)).unwrap();
    assert_eq!((header.nblocks(), header.blocksize(), header.has_vlblocks()), (17, 0, true));
    assert!(parse(own(18)).unwrap_err().to_string().contains("18 blocks need 72 bytes"));
    assert!(parse(Fields { nbytes: 17, ..own(17) }).is_ok());
    let crowded = parse(Fields { nbytes: 16, ..own(17) }).unwrap_err();
    assert_eq!(crowded.to_string(), "chunk header: 17 blocks cannot share 16 bytes");
    assert!(parse(Fields { flags: 0x37, ..own(3) }).is_err());
    assert!(parse(Fields { version: 6, blocksize: 3, ..with_flags(1, 0x10) }).is_err());
    let future = parse(with_flags(0x82, 0)).unwrap_err();
    assert_eq!(future.to_string(), "chunk header: flags 0x82 of byte 30 are not known");
}

#[test]
fn old_writers_split_by_a_rule() {
    let is_split = |fields: Fields| parse(fields).unwrap().is_split();
    assert!(!is_split(blosc2()));
    assert!(is_split(Fields { flags: 0x25, ..blosc2() }));
    assert!(parse(Fields { flags: 0x25, typesize: 3, nbytes: 3, blocksize: 2, ..blosc2() }).is_err());
    let old = |typesize, nbytes| Fields { typesize, nbytes, blocksize: nbytes, ..blosc1(0x21) };
    assert!(is_split(old(4, 1000)));
    assert!(!is_split(old(17, 17_000)));
    let alpha = Fields { version: 3, typesize: 17, nbytes: 17_000, blocksize: 17_000, ..blosc2() };
    assert!(is_split(Fields { flags: 0x25, ..alpha }) && !is_split(alpha));
    assert!(!is_split(Fields { flags: 0x31, ..old(4, 1000) }));
}
