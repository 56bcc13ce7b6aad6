//! An error of opening, making or changing a file names its path, and names it once.

use blosc_oxide::bloscpack::{AppendOptions, Bloscpack, BloscpackOptions, append_to_file, pack_to_file};
use blosc_oxide::legacy::{PackedOptions, PackedSuperChunk, PackedWriter};
use blosc_oxide::{ArrayOptions, Container, Error, Fill, Frame, NdArray, Options};
use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A directory that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("blosc-oxide-paths-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

type Opening = (&'static str, fn(&Path) -> Result<(), Error>);

/// Everything that opens what is at a path.
const OPENINGS: [Opening; 9] = [
    ("Frame::open", |path| Frame::open(path).map(drop)),
    ("Frame::repair_path", |path| Frame::repair_path(path, Options::new(4)).map(drop)),
    ("NdArray::open", |path| NdArray::open(path).map(drop)),
    ("Bloscpack::open", |path| Bloscpack::open(path).map(drop)),
    ("append_to_file", |path| append_to_file(path, &[7; 9][..], &AppendOptions::new()).map(drop)),
    ("append_to_file, rewriting", |path| {
        append_to_file(path, &[7; 9][..], &AppendOptions::new().with_rewrite(true)).map(drop)
    }),
    ("PackedSuperChunk::open", |path| PackedSuperChunk::open(path).map(drop)),
    ("PackedWriter::open", |path| PackedWriter::open(path, 4).map(drop)),
    ("Container::detect_path", |path| Container::detect_path(path).map(drop)),
];

/// Everything that makes a file or directory at a path.
const CREATIONS: [Opening; 4] = [
    ("Frame::create", |path| Frame::create(path, Options::new(4)).map(drop)),
    ("NdArray::create", |path| {
        NdArray::create(path, &ArrayOptions::new(&[4], Options::new(4)), &Fill::Zeros).map(drop)
    }),
    ("pack_to_file", |path| pack_to_file(&[7; 9][..], path, &BloscpackOptions::new(Options::new(4))).map(drop)),
    ("PackedWriter::create", |path| PackedWriter::create(path, PackedOptions::new(4)).map(drop)),
];

/// The message of an error and of all that have caused it.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(" <- {cause}");
        next = cause.source();
    }
    text
}

fn check(name: &str, path: &Path, result: Result<(), Error>) {
    let text = chain(&result.expect_err(name));
    assert_eq!(text.matches(&*path.to_string_lossy()).count(), 1, "{name}: {text}");
    assert_eq!(text.matches("os error").count().max(1), 1, "{name} says it twice: {text}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let scratch = Scratch::new("missing");
    let path = scratch.0.join("missing");
    for (name, open) in OPENINGS {
        check(name, &path, open(&path));
    }
}

#[test]
fn a_file_that_is_something_else_is_named() {
    let scratch = Scratch::new("text");
    let path = scratch.0.join("notes.txt");
    fs::write(&path, "Some text that is longer than the header of any container, of 128 bytes at the most. ".repeat(2))
        .unwrap();
    // Whatever it is, it is recognised as nothing; appending reads from the input as well.
    let is_about_more = |name: &str| name.starts_with("append") || name.starts_with("Container");
    for (name, open) in OPENINGS.into_iter().filter(|(name, _)| !is_about_more(name)) {
        // Repairing finds nothing in it.
        if name != "Frame::repair_path" {
            check(name, &path, open(&path));
        }
    }
}

#[test]
fn a_path_at_which_nothing_can_be_made_is_named() {
    let scratch = Scratch::new("parent");
    let path = scratch.0.join("no such directory").join("new");
    for (name, create) in CREATIONS {
        check(name, &path, create(&path));
    }
}

#[test]
fn a_path_at_which_there_is_something_is_named() {
    let scratch = Scratch::new("taken");
    let path = scratch.0.join("taken.b2frame");
    Frame::create(&path, Options::new(4)).unwrap().commit().unwrap();
    for (name, create) in CREATIONS.into_iter().filter(|(name, _)| *name != "pack_to_file") {
        check(name, &path, create(&path));
    }
    check("NdArray::open", &path, NdArray::open(&path).map(drop));
}

#[test]
fn a_frame_that_has_gone_is_named_when_it_is_edited() {
    let scratch = Scratch::new("gone");
    let path = scratch.0.join("gone.b2frame");
    Frame::create(&path, Options::new(4)).unwrap().commit().unwrap();
    let frame = Frame::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    check("Frame::edit", &path, frame.edit().map(drop));
}
