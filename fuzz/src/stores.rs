//! What python-blosc2 puts around Blosc files, as the command reads it: archives, and descriptions
//! in msgpack and pickles.
//!
//! The command is a program and no library, so that its modules are taken from their files.

#[allow(dead_code, reason = "the command uses more of it")]
#[path = "../../crates/blosc-cli/src/store/embed.rs"]
mod embed;
#[path = "../../crates/blosc-cli/src/store/names.rs"]
mod names;
#[allow(dead_code, reason = "the command uses more of it")]
#[path = "../../crates/blosc-cli/src/store/zip.rs"]
mod zip;

use crate::python::msgpack::Value;
use crate::python::{check_has_data, described_tensor, pickled_array};
use crate::{check_error, frame_options, limits};
use blosc_oxide::{Frame, NpyHeader, Result, SuperChunk, storage::MemoryStorage};
use std::path::{Component, Path};

/// How much data the frame has whose members msgpack describes.
const EMBEDDED: usize = 1000;

fn check<T>(result: Result<T>) -> Option<T> {
    result.inspect_err(check_error).ok()
}

/// The list of an archive: its members are inside of it and apart, and their names stay in a
/// directory.
pub fn archive(bytes: &[u8]) {
    let Some(mut entries) = check(zip::entries(&bytes, &limits())) else { return };
    entries.sort_by_key(|entry| (entry.offset, entry.len));
    let mut end = 0;
    for entry in &entries {
        assert!(entry.offset >= end, "{:?} overlaps another", entry.name);
        end = entry.offset.checked_add(entry.len).expect("the end of a member is a number");
        assert!(end <= bytes.len() as u64, "{:?} ends behind the archive", entry.name);
        check_name(&entry.name);
    }
    let mut all: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "two members have one name");
}

/// A name has nothing but parts that go down.
fn check_name(name: &str) {
    let parts: Option<Vec<_>> = Path::new(name).components().map(normal).collect();
    assert_eq!(parts.map(|parts| parts.join("/")).as_deref(), Some(name), "a name that leads elsewhere");
}

fn normal(part: Component<'_>) -> Option<&str> {
    match part {
        Component::Normal(part) => part.to_str(),
        _ => None,
    }
}

/// A pickle: the items are inside of it, as many as the array has, and its description can be
/// written and read again.
pub fn pickle(bytes: &[u8]) {
    let Some(Some((array, items))) = check(pickled_array(bytes)) else { return };
    assert!(items.start <= items.end && items.end <= bytes.len(), "items at {items:?} of {}", bytes.len());
    assert_eq!(array.nbytes(), items.len() as u64, "items of another length");
    check_described(&array);
}

fn check_described(array: &NpyHeader) {
    let mut header = Vec::new();
    array.write_npy_header(&mut header).expect("memory does not fail");
    let again = NpyHeader::read_npy_header(&mut header.as_slice()).expect("what was written can be read");
    assert_eq!((again.dtype(), again.shape(), again.order()), (array.dtype(), array.shape(), array.order()));
}

/// A msgpack value, and whatever the command takes from one.
pub fn value(bytes: &[u8]) {
    // The others begin in the same way, and making a frame takes longest.
    if check(Value::parse(bytes, &limits())).is_none() {
        return;
    }
    assert!(Value::parse(&bytes[..bytes.len() - 1], &limits()).is_err(), "a value without its end");
    if let Ok(array) = described_tensor(bytes, &limits()) {
        check_described(&array);
    }
    check(embedded(bytes));
    check(object(bytes));
}

/// A frame that holds others, of which `bytes` says where they are.
fn embedded(bytes: &[u8]) -> Result<()> {
    let mut frame = Frame::create(MemoryStorage::default(), frame_options())?;
    frame.append(&[0; EMBEDDED])?;
    frame.vlmetalayers_mut().add("estore_metadata", bytes)?;
    let mut end = 0;
    let mut places: Vec<(u64, u64)> = Vec::new();
    for (_, member) in embed::embedded(&frame.commit()?, &limits())? {
        if let embed::Embedded::Frame { offset, len } = member {
            places.push((offset, len));
        }
    }
    places.sort_unstable();
    for (offset, len) in places {
        assert!(offset >= end, "members overlap");
        end = offset.checked_add(len).expect("the end of a member is a number");
        assert!(end <= EMBEDDED as u64, "a member ends behind the data");
    }
    Ok(())
}

/// An object whose kind `bytes` tells: it has no data, whatever that is.
fn object(bytes: &[u8]) -> Result<()> {
    let mut sc = SuperChunk::new(blosc_oxide::Options::new(1))?;
    if sc.metalayers_mut().add("b2o", bytes).is_ok() {
        assert!(check_has_data(&sc).inspect_err(check_error).is_err(), "an object with data");
    }
    Ok(())
}
