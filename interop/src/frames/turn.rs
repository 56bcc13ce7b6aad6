//! Reading what the others have made of a frame, and changing it again.

use super::case::{CHUNK, Case};
use super::formula::{bytes_of, ramp, to_hex};
use super::notes;
use blosc_oxide::{Frame, FrameOptions, Options, Result, SuperChunk, Threads, storage::Durability};
use std::fs;
use std::path::Path;
use testkit::serde_json::{self, Map, Value};

/// How a contiguous frame is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Disk,
    Memory,
}

/// Checks what the others have made of the frames, and changes them again; how many were checked.
pub(crate) fn turn(directory: &str, number: usize, via: Via) -> usize {
    let paths = notes(directory);
    paths.iter().for_each(|path| take_turn(path, number, via));
    paths.len()
}

fn take_turn(note_path: &Path, number: usize, via: Via) {
    let text = fs::read(note_path).expect("a note can be read");
    let note: Value = serde_json::from_slice(&text).expect("a note is JSON");
    let name = note_path.display().to_string();
    let path = note["path"].as_str().expect("a path").to_owned();
    let is_in_memory = via == Via::Memory && !Path::new(&path).is_dir();
    let opened = if is_in_memory {
        Frame::open(fs::read(&path).expect("a frame can be read"))
    } else {
        Frame::open_with(&path, &FrameOptions::default().with_durability(Durability::None).opening())
    };
    let frame = opened.and_then(|frame| frame.edit()).unwrap_or_else(|error| panic!("{name}: {error}"));
    check(&name, &note, &frame);
    let mut case = Case { frame, note };
    if case.note["can_extend"] == true {
        change(&mut case, number);
    }
    let frame = case.finish().commit().expect("commit");
    if is_in_memory {
        fs::write(&path, frame.to_bytes().expect("bytes")).expect("a frame can be written");
    }
}

fn check(name: &str, note: &Value, frame: &SuperChunk) {
    let found = frame.verify().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(found.is_good(), "{name}: {found:?}");
    let kept = (frame.typesize() as u64, frame.codec().to_string(), u64::from(frame.level()));
    assert_eq!(Some(kept.0), note["typesize"].as_u64(), "{name}");
    assert_eq!(Some(kept.1.as_str()), note["codec"].as_str(), "{name}");
    assert_eq!(Some(kept.2), note["level"].as_u64(), "{name}");
    let chunks = note["chunks"].as_array().expect("a list");
    assert_eq!(frame.nchunks(), chunks.len(), "{name}");
    let mut all = Vec::new();
    for (index, formula) in chunks.iter().enumerate() {
        let expected = bytes_of(formula);
        assert!(frame.decompress(index).expect("a chunk") == expected, "{name}: chunk {index}");
        all.extend(expected);
    }
    assert!(frame.bytes(0..frame.nbytes()).expect("all data") == all, "{name}: the whole of it");
    check_layers(name, note, frame);
}

fn check_layers(name: &str, note: &Value, frame: &SuperChunk) {
    let meta: Map<String, Value> =
        frame.metalayers().iter().map(|(name, content)| (name.to_owned(), to_hex(&content[2..]).into())).collect();
    assert_eq!(Value::from(meta), note["meta"], "{name}");
    let layers = frame.vlmetalayers();
    let vlmeta: Map<String, Value> = layers
        .names()
        .map(|name| (name.to_owned(), to_hex(&layers.get(name).expect("content").expect("a layer")[2..]).into()))
        .collect();
    assert_eq!(Value::from(vlmeta), note["vlmeta"], "{name}");
}

/// What a turn does to a frame.
fn change(case: &mut Case, number: usize) {
    let seed = 1000 * number;
    if case.note["only_meta"] == true {
        return case.append(seed, CHUNK);
    }
    if case.frame.has_vlblocks() {
        return case.append_vlblocks(&[ramp(seed, 300)]);
    }
    let size = case.frame.chunksize().unwrap_or(CHUNK);
    case.append(seed + 1, size);
    case.append(seed + 2, size);
    case.update(0, seed + 3, size);
    case.commit();
    if case.chunks().len() > 3 {
        case.delete(1);
        case.insert(2, seed + 4, size);
    }
    if number.is_multiple_of(2) && case.frame.metalayers().len() < 16 {
        case.set_meta("turn", &vec![9; 10 * number]);
    }
    if number.is_multiple_of(3) && case.chunks().len() > 3 {
        case.commit();
        case.frame.compact().expect("compact");
    }
    // Room for two of theirs and for the checksums.
    if case.frame.vlmetalayers().len() < 13 {
        case.set_vlmeta(&format!("ours {number}"), b"by blosc-oxide");
    }
}

/// Appends chunks that name the writer and count up, each with a commit of its own, while others do
/// the same.
pub(crate) fn append_with_lock(path: &str, writer: u8, count: u16) -> Result<()> {
    let chunks = Options::new(1).with_threads(Threads::serial());
    let options = FrameOptions::new(chunks).with_durability(Durability::None).with_locking(true);
    let frame = Frame::open_with(path, &options.with_lock_timeout(None).opening())?;
    for number in 0..count {
        let [low, high] = number.to_le_bytes();
        let mut edit = frame.edit()?;
        edit.append(&[writer, low, high, 0].repeat(16))?;
        edit.commit()?;
    }
    Ok(())
}
