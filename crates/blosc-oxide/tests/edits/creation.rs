//! What is being made is not there before its first commit, and then it is there as a whole.

use crate::common::child::{self, Scratch};
use crate::common::content::noise;
use crate::common::edits::CHUNK;
use blosc_oxide::{
    ArrayOptions, ErrorKind, Fill, Frame, FrameEdit, FrameLayout, FrameOptions, NdArray, Options, storage::Durability,
};
use std::fs;
use std::path::Path;

const LAYOUTS: [FrameLayout; 2] = [FrameLayout::Contiguous, FrameLayout::Sparse];

fn options(layout: FrameLayout) -> FrameOptions {
    FrameOptions::new(Options::new(4)).with_layout(layout)
}

/// Begins a frame with a chunk.
fn begin(path: &Path, options: FrameOptions, seed: u64) -> FrameEdit {
    let mut edit = Frame::create(path, options).unwrap();
    edit.append(&noise(seed, CHUNK)).unwrap();
    edit
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn nothing_is_at_the_path_before_the_first_commit() {
    for layout in LAYOUTS {
        for durability in [Durability::None, Durability::Fsync] {
            for locking in [false, true] {
                let scratch = Scratch::new("creation");
                let path = scratch.path().join("frame");
                let mut edit = begin(&path, options(layout).with_durability(durability).with_locking(locking), 1);
                assert!(!path.exists(), "{layout:?}");
                assert_eq!(Frame::open(&path).unwrap_err().kind(), ErrorKind::Io, "{layout:?}");
                edit.append(&noise(2, 2 << 20)).unwrap();
                assert!(!path.exists(), "{layout:?}");
                let first = edit.checkpoint().unwrap();
                assert_eq!((first.nchunks(), Frame::open(&path).unwrap().nchunks()), (2, 2), "{layout:?}");
                edit.append(&noise(3, CHUNK)).unwrap();
                let second = edit.commit().unwrap();
                assert_eq!((second.nchunks(), Frame::open(&path).unwrap().nchunks()), (3, 3), "{layout:?}");
                // A second edit opens it by its path.
                let mut edit = first.edit().unwrap();
                edit.append(&noise(4, CHUNK)).unwrap();
                edit.commit().unwrap();
                let left = names(scratch.path());
                let beside = if locking && layout == FrameLayout::Contiguous { vec!["frame.b2lock"] } else { vec![] };
                assert_eq!(left, [vec!["frame"], beside].concat(), "{layout:?}");
                assert!(Frame::open(&path).unwrap().verify().unwrap().is_good());
            }
        }
    }
}

#[test]
fn nothing_is_left_of_what_was_never_committed() {
    for layout in LAYOUTS {
        let scratch = Scratch::new("creation-dropped");
        let path = scratch.path().join("frame");
        drop(begin(&path, options(layout), 1));
        begin(&path, options(layout), 2).abort();
        let mut edit = begin(&path, options(layout), 3);
        edit.delete(9).unwrap_err();
        drop(edit);
        assert_eq!(names(scratch.path()), [""; 0], "{layout:?}");
    }
}

#[test]
fn a_name_that_no_file_can_have_is_refused_before_the_first_commit() {
    for layout in LAYOUTS {
        let scratch = Scratch::new("creation-long");
        let error = Frame::create(scratch.path().join("n".repeat(300)), options(layout)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{layout:?}: {error}");
        assert_eq!(names(scratch.path()), [""; 0], "{layout:?}");
    }
}

/// Makes frames by relative paths, and goes elsewhere before they are there.
#[test]
fn wandering_process() {
    let Some(job) = child::job() else { return };
    std::env::set_current_dir(&job[0]).unwrap();
    let edits = LAYOUTS.map(|layout| begin(Path::new(&format!("{layout:?}")), options(layout), 1));
    let dropped = begin(Path::new("dropped"), options(FrameLayout::Sparse), 2);
    fs::create_dir("elsewhere").unwrap();
    std::env::set_current_dir("elsewhere").unwrap();
    edits.into_iter().for_each(|edit| drop(edit.commit().unwrap()));
    drop(dropped);
}

#[test]
fn a_relative_path_is_that_of_the_directory_where_it_was_given() {
    let scratch = Scratch::new("creation-relative");
    let mut process = child::start("creation::wandering_process", &[scratch.path().to_str().unwrap()]);
    assert!(process.wait().unwrap().success());
    assert_eq!(names(scratch.path()), ["Contiguous", "Sparse", "elsewhere"]);
    assert_eq!(names(&scratch.path().join("elsewhere")), [""; 0]);
    for layout in LAYOUTS {
        let frame = Frame::open(scratch.path().join(format!("{layout:?}"))).unwrap();
        assert_eq!(frame.decompress(0).unwrap(), noise(1, CHUNK), "{layout:?}");
    }
}

#[test]
fn an_array_is_not_there_before_its_first_commit() {
    let scratch = Scratch::new("creation-array");
    let path = scratch.path().join("array.b2nd");
    let array = ArrayOptions::new(&[20, 30], Options::new(4));
    let mut edit = NdArray::create(&path, &array, &Fill::Value(vec![1; 4])).unwrap();
    edit.resize(&[40, 30]).unwrap();
    assert!(!path.exists());
    drop(edit);
    assert_eq!(names(scratch.path()), [""; 0]);
    let edit = NdArray::create(&path, &array, &Fill::Zeros).unwrap();
    assert!(!path.exists());
    edit.commit().unwrap();
    assert_eq!((names(scratch.path()).len(), NdArray::open(&path).unwrap().shape()), (1, &[20, 30][..]));
}

#[test]
fn of_two_that_are_made_at_one_path_the_first_commit_stands() {
    for layout in LAYOUTS {
        let scratch = Scratch::new("creation-twice");
        let path = scratch.path().join("frame");
        let one = begin(&path, options(layout), 1);
        let mut other = begin(&path, options(layout), 2);
        one.commit().unwrap();
        let error = other.checkpoint().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{layout:?}: {error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{layout:?}: {error}");
        assert_eq!(other.commit().unwrap_err().kind(), ErrorKind::Conflict, "{layout:?}");
        let error = Frame::create(&path, options(layout)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{layout:?}: {error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{layout:?}: {error}");
        assert_eq!(names(scratch.path()), ["frame"], "{layout:?}");
        assert_eq!(Frame::open(&path).unwrap().decompress(0).unwrap(), noise(1, CHUNK), "{layout:?}");
    }
}

/// What the process does that is going to be killed.
#[test]
fn maker_process() {
    let Some(job) = child::job() else { return };
    let layout = if job[0] == "sparse" { FrameLayout::Sparse } else { FrameLayout::Contiguous };
    let mut edit = begin(Path::new(&job[1]), options(layout), 1);
    for seed in 0.. {
        edit.append(&noise(seed, 1 << 20)).unwrap();
        child::report(edit.nchunks());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_process_that_is_killed_while_it_makes_a_frame_leaves_nothing_at_its_path() {
    use std::io::{BufRead, BufReader};
    for layout in ["contiguous", "sparse"] {
        let scratch = Scratch::new(&format!("creation-killed-{layout}"));
        let path = scratch.path().join("frame");
        let mut process = child::start("creation::maker_process", &[layout, path.to_str().unwrap()]);
        let out = BufReader::new(process.stdout.take().unwrap());
        let mut reports = out.lines().filter_map(|line| child::reported(&line.unwrap()));
        assert!(reports.any(|nchunks| nchunks == 4), "{layout}: the process has ended by itself");
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(!path.exists(), "{layout}");
        // What is left beside it has another name, and is in nobody's way.
        assert!(names(scratch.path()).iter().all(|name| name.starts_with(".blosc-") && name.ends_with(".tmp")));
        begin(&path, options(FrameLayout::Contiguous), 7).commit().unwrap();
        assert_eq!(Frame::open(&path).unwrap().decompress(0).unwrap(), noise(7, CHUNK), "{layout}");
    }
}
