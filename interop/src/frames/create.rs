//! Frames of every kind, after every kind of edit.

use super::case::{CHUNK, Case};
use super::formula::{pattern, ramp};
use super::notes;
use blosc_oxide::{
    Codec, Filter, Frame, FrameEdit, FrameLayout, FrameOptions, Options, Special, Threads, storage::Durability,
};
use std::fs;
use std::path::PathBuf;
use testkit::serde_json::Value;

/// Writes all frames to a directory; how many there are.
pub(crate) fn create(directory: &str) -> usize {
    fs::create_dir_all(directory).expect("a directory can be made");
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        for checksums in [true, false] {
            let place = Place { directory: directory.into(), layout, checksums };
            special_values(&place);
            edits(&place);
            sizes(&place);
        }
        let place = Place { directory: directory.into(), layout, checksums: true };
        codecs(&place);
        pipelines(&place);
        metalayers(&place);
        many(&place);
    }
    notes(directory).len()
}

/// Where the frames of one kind go.
struct Place {
    directory: PathBuf,
    layout: FrameLayout,
    checksums: bool,
}

impl Place {
    fn path(&self, name: &str) -> PathBuf {
        let layout = if self.layout == FrameLayout::Sparse { "sparse" } else { "contiguous" };
        let checksums = if self.checksums { "" } else { "-unchecked" };
        self.directory.join(format!("{name}-{layout}{checksums}.b2frame"))
    }

    fn frame(&self, name: &str, chunks: Options) -> FrameEdit {
        let options = FrameOptions::new(chunks).with_layout(self.layout).with_checksums(self.checksums);
        let made = Frame::create(self.path(name), options.with_durability(Durability::None));
        made.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn case(&self, name: &str, chunks: Options) -> Case {
        Case::new(self.frame(name, chunks), &self.path(name))
    }
}

fn options(typesize: usize) -> Options {
    Options::new(typesize).with_threads(Threads::serial())
}

fn codecs(place: &Place) {
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for level in [0, 5, 9] {
            let mut case =
                place.case(&format!("codec-{codec}-{level}"), options(4).with_codec(codec).with_level(level));
            case.append_many(0..6);
            case.finish();
        }
    }
    let mut case = place.case("dict", options(4).with_codec(Codec::Zstd).with_dict(true).with_blocksize(4096));
    (0..3).for_each(|number| case.append(number, 40_000));
    case.finish();
}

fn pipelines(place: &Place) {
    let pipelines = [
        ("none", vec![]),
        ("bitshuffle", vec![Filter::BitShuffle]),
        ("delta", vec![Filter::Delta, Filter::Shuffle]),
        ("bytedelta", vec![Filter::Shuffle, Filter::ByteDelta(4)]),
    ];
    for (name, filters) in pipelines {
        let mut case = place.case(&format!("filters-{name}"), options(4).with_filters(filters).with_codec(Codec::Lz4));
        case.append_many(0..4);
        case.finish();
    }
    for typesize in [1, 2, 8, 200, 1000] {
        let mut case = place.case(&format!("typesize-{typesize}"), options(typesize).with_blocksize(1000));
        case.append_many(0..4);
        case.finish();
    }
}

fn special_values(place: &Place) {
    let nan4 = f32::NAN.to_le_bytes();
    let nan8 = f64::NAN.to_le_bytes();
    let kinds: [(&str, Special, &[u8]); 6] = [
        ("zeros", Special::Zeros, &[0; 4]),
        ("uninit", Special::Uninit, &[0; 4]),
        ("nan4", Special::NaN, &nan4),
        ("nan8", Special::NaN, &nan8),
        ("value", Special::Value, &[1, 2, 3, 4]),
        ("value1", Special::Value, &[7]),
    ];
    for (name, special, value) in kinds {
        let mut case = place.case(&format!("special-{name}"), options(value.len()));
        case.fill(special, value, 3);
        case.finish();
        let mut case = place.case(&format!("special-mixed-{name}"), options(value.len()));
        case.append(1, CHUNK);
        case.fill(special, value, 2);
        case.append(2, CHUNK);
        case.fill(special, value, 1);
        case.commit();
        case.update(1, 3, CHUNK);
        case.update_to(0, pattern(&[0], CHUNK));
        case.finish();
    }
    let mut case = place.case("special-all", options(4));
    for (_, special, value) in kinds.into_iter().filter(|(_, _, value)| value.len() == 4) {
        case.fill(special, value, 1);
    }
    case.finish();
}

/// An edit of a frame with eight chunks and metalayers of both kinds.
type Edit = (&'static str, fn(&mut Case));

const EDITS: &[Edit] = &[
    ("nothing", |_| {}),
    ("append", |case| case.append_many(8..12)),
    ("insert", |case| {
        case.insert(0, 20, CHUNK);
        case.insert(5, 21, CHUNK);
    }),
    ("update", |case| case.update(2, 22, CHUNK)),
    ("update-to-zeros-and-back", |case| {
        case.update_to(2, pattern(&[0], CHUNK));
        case.update_to(3, pattern(&[0], CHUNK));
        case.commit();
        case.update(2, 23, CHUNK);
    }),
    ("delete", |case| {
        case.delete(3);
        case.delete(0);
    }),
    ("reorder", Case::reverse),
    ("slice", |case| {
        case.write(CHUNK, &[1, 2, 3, 4, 5].repeat(CHUNK));
        case.write(17, b"a few bytes");
    }),
    ("meta-add", |case| case.set_meta("another", &[3; 200])),
    ("meta-update", |case| case.set_meta("kept", b"different")),
    ("meta-grow", |case| case.set_meta("kept", b"changed, and much longer than it was before it was changed")),
    ("meta-shrink", |case| case.set_meta("kept", b"less")),
    ("meta-delete", |case| case.remove_meta("kept")),
    ("vlmeta-add", |case| case.set_vlmeta("another", &[4; 250])),
    ("vlmeta-update", |case| case.set_vlmeta("kept", &[5; 250])),
    ("vlmeta-delete", |case| case.remove_vlmeta("kept")),
    ("fill", |case| {
        case.fill(Special::Zeros, &[0; 4], 2);
        case.fill(Special::Value, &[9, 8, 7, 6], 2);
    }),
    ("compact", |case| {
        case.delete(1);
        case.update(3, 24, CHUNK);
        case.commit();
        case.frame.compact().expect("compact");
    }),
    // Bytes that no longer count before, between and behind the chunks; numbers of files that are
    // free.
    ("holes", |case| {
        (0..7).for_each(|_| case.delete(0));
        case.commit();
        case.append_many(30..33);
        case.commit();
        case.delete(1);
    }),
    ("many-commits", |case| {
        for number in 40..60 {
            case.append(number, CHUNK);
            case.commit();
        }
    }),
];

fn edits(place: &Place) {
    for (name, edit) in EDITS {
        let mut case = edited(place, &format!("after-{name}"));
        edit(&mut case);
        case.finish();
    }
    let mut case = edited(place, "after-all");
    for (_, edit) in EDITS.iter().filter(|(name, _)| !name.ends_with("delete") && *name != "holes") {
        edit(&mut case);
        case.commit();
    }
    case.finish();
    let mut case = edited(place, "only-meta");
    case.note["only_meta"] = true.into();
    case.finish();
    copies(place);
}

fn edited(place: &Place, name: &str) -> Case {
    let mut case = place.case(name, options(4).with_codec(Codec::Lz4));
    case.append_many(0..8);
    case.set_meta("kept", b"unchanged");
    case.set_vlmeta("kept", b"unchanged as well");
    case.commit();
    case
}

fn copies(place: &Place) {
    let kinds = [
        ("zstd", options(4).with_codec(Codec::Zstd).with_level(3).with_filters([Filter::BitShuffle])),
        ("typesize", options(8).with_codec(Codec::Zlib).with_blocksize(512)),
        ("stored", options(4).with_level(0)),
    ];
    for (name, chunks) in kinds {
        let mut case = edited(place, &format!("copied-from-{name}"));
        case.fill(Special::Zeros, &[0; 4], 1);
        case.commit();
        let name = format!("copied-to-{name}");
        case.copy_to(place.frame(&name, chunks), &place.path(&name));
        case.finish();
    }
}

fn metalayers(place: &Place) {
    let mut case = place.case("meta-16", options(4));
    (0..16_u8).for_each(|number| case.set_meta(&format!("{number:031}"), &vec![number; usize::from(number)]));
    case.append_many(0..3);
    case.finish();
    for (name, checksums, count) in [("vlmeta-15", true, 15), ("vlmeta-16", false, 16), ("vlmeta-100", true, 100)] {
        let place = Place { directory: place.directory.clone(), checksums, ..*place };
        let mut case = place.case(name, options(4));
        case.frame.vlmetalayers_mut().allow_many();
        (0..count).for_each(|number| case.set_vlmeta(&format!("layer {number}"), &[number; 30]));
        case.append_many(0..3);
        case.note["can_extend"] = (count <= 16).into();
        case.finish();
    }
}

fn sizes(place: &Place) {
    place.case("empty", options(4)).finish();
    let mut case = place.case("empty-with-layers", options(4));
    case.set_meta("kept", b"from the start");
    case.commit();
    case.set_vlmeta("kept", b"added");
    case.commit();
    case.set_vlmeta("kept", &[6; 200]);
    case.finish();
    let mut case = edited(place, "emptied");
    (0..8).for_each(|_| case.delete(0));
    case.commit();
    case.set_vlmeta("another", b"added when there was nothing else");
    case.finish();
    let mut case = place.case("short-last", options(4).with_codec(Codec::Zstd));
    case.append_many(0..3);
    case.append(3, 400);
    case.finish();
    let mut case = place.case("one-short", options(4));
    case.append(3, 4);
    case.finish();
    variable(place);
    for (name, is_variable) in [("vlblocks-fixed", false), ("vlblocks-variable", true)] {
        vlblocks(place.case(name, options(1).with_codec(Codec::Zstd)), is_variable);
    }
}

fn variable(place: &Place) {
    let mut case = place.case("variable", options(4));
    for (number, nbytes) in [400, 2000, 40, 4, 12_000, 800].into_iter().enumerate() {
        case.append(number, nbytes);
    }
    case.finish();
    let mut case = place.case("variable-edited", options(4));
    case.append_many(0..5);
    case.commit();
    case.update(2, 7, 60);
    case.insert(1, 8, 3000);
    case.delete(0);
    case.reverse();
    case.finish();
    let mut case = place.case("variable-special", options(4));
    case.fill(Special::Zeros, &[0; 4], 2);
    case.fill(Special::NaN, &f32::NAN.to_le_bytes(), 1);
    case.append(1, 400);
    case.append(2, 1200);
    case.fill(Special::Uninit, &[0; 4], 1);
    case.finish();
}

fn vlblocks(mut case: Case, is_variable: bool) {
    for number in 0..4 {
        let lens = [100 + if is_variable { 37 * number } else { 0 }, 900, 13, 2500];
        let blocks: Vec<Value> = lens.iter().enumerate().map(|(at, &len)| ramp(10 * number + at, len)).collect();
        case.append_vlblocks(&blocks);
    }
    case.finish();
}

fn many(place: &Place) {
    let (name, count) = match place.layout {
        FrameLayout::Contiguous => ("many-100000", 100_000),
        _ => ("many-2000", 2000),
    };
    let mut case = place.case(name, options(4).with_codec(Codec::Lz4));
    for number in 0..count {
        case.append(number, 64);
        if number % 10_000 == 77 {
            case.commit();
        }
    }
    case.finish();
}
