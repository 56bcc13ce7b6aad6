//! Frames from strangers: nothing but their own regular files is opened or written.
#![cfg(unix)]

use blosc_oxide::{
    ErrorKind, Frame, FrameLayout, FrameOptions, Options,
    storage::{Directory, FileDirectory, FileStorage},
};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("blosc-oxide-strangers-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("precious"), b"precious, and longer than a counter").unwrap();
        Self(path)
    }

    fn sparse(&self) -> PathBuf {
        let path = self.0.join("sparse");
        let options = FrameOptions::new(Options::new(1)).with_layout(FrameLayout::Sparse);
        let mut frame = Frame::create(&path, options).unwrap();
        frame.append(&noise(1)).unwrap();
        frame.append(&noise(2)).unwrap();
        frame.checkpoint().unwrap();
        path
    }

    fn precious(&self) -> PathBuf {
        self.0.join("precious")
    }

    #[track_caller]
    fn assert_untouched(&self) {
        assert_eq!(fs::read(self.precious()).unwrap(), b"precious, and longer than a counter");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn noise(seed: u8) -> Vec<u8> {
    (0..1000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[2] ^ seed).collect()
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_index_is_not_written_through_a_symbolic_link() {
    let scratch = Scratch::new("index-link");
    let path = scratch.sparse();
    symlink(scratch.precious(), path.join("chunks.b2frame.new")).unwrap();
    let mut frame = Frame::open(&path).unwrap().edit().unwrap();
    frame.vlmetalayers_mut().add("note", b"mine").unwrap();
    frame.checkpoint().unwrap();
    scratch.assert_untouched();
    assert!(fs::symlink_metadata(path.join("chunks.b2frame")).unwrap().is_file());
    assert_eq!(Frame::open(&path).unwrap().vlmetalayers().len(), 1);
}

#[test]
fn a_new_chunk_is_not_written_through_a_link_of_either_kind() {
    for is_hard in [false, true] {
        let scratch = Scratch::new(if is_hard { "chunk-hard" } else { "chunk-link" });
        let path = scratch.sparse();
        let chunk = path.join("00000002.chunk");
        if is_hard {
            fs::hard_link(scratch.precious(), &chunk).unwrap();
        } else {
            symlink(scratch.precious(), &chunk).unwrap();
        }
        let mut frame = Frame::open(&path).unwrap().edit().unwrap();
        frame.append(&noise(3)).unwrap();
        frame.checkpoint().unwrap();
        scratch.assert_untouched();
        assert_eq!(Frame::open(&path).unwrap().decompress(2).unwrap(), noise(3));
    }
}

#[test]
fn a_symbolic_link_in_a_sparse_frame_is_refused() {
    let scratch = Scratch::new("read-link");
    let path = scratch.sparse();
    let chunk = path.join("00000001.chunk");
    let outside = scratch.0.join("outside");
    fs::rename(&chunk, &outside).unwrap();
    symlink(&outside, &chunk).unwrap();
    let frame = Frame::open(&path).unwrap();
    assert_eq!(frame.decompress(0).unwrap(), noise(1));
    let error = frame.decompress(1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("00000001.chunk: it is a symbolic link"), "{error}");
    let index = path.join("chunks.b2frame");
    let elsewhere = scratch.0.join("index");
    fs::rename(&index, &elsewhere).unwrap();
    symlink(&elsewhere, &index).unwrap();
    let error = Frame::open(&path).unwrap_err();
    assert!(error.to_string().contains("chunks.b2frame: it is a symbolic link"), "{error}");
}

#[test]
fn a_pipe_and_a_directory_in_a_sparse_frame_are_refused_at_once() {
    let scratch = Scratch::new("read-pipe");
    let path = scratch.sparse();
    for (name, what) in [("00000000.chunk", "a pipe"), ("00000001.chunk", "a directory")] {
        fs::remove_file(path.join(name)).unwrap();
        if what == "a pipe" {
            fifo(&path.join(name));
        } else {
            fs::create_dir(path.join(name)).unwrap();
        }
    }
    let frame = Frame::open(&path).unwrap();
    for (index, what) in [(0, "a pipe"), (1, "a directory")] {
        let error = frame.decompress(index).unwrap_err();
        assert!(error.to_string().contains(&format!("0000000{index}.chunk: it is {what}")), "{error}");
    }
}

#[test]
fn a_pipe_given_as_a_frame_is_refused_at_once() {
    let scratch = Scratch::new("pipe");
    let path = scratch.0.join("frame.b2frame");
    fifo(&path);
    for error in [Frame::open(&path).unwrap_err(), Frame::open(&path).and_then(|frame| frame.edit()).unwrap_err()] {
        assert!(error.to_string().contains("it is a pipe"), "{error}");
    }
    assert!(FileStorage::open("/dev/zero").is_err());
}

#[test]
fn the_directory_itself_may_be_a_symbolic_link() {
    let scratch = Scratch::new("directory-link");
    let link = scratch.0.join("link");
    symlink(scratch.sparse(), &link).unwrap();
    assert_eq!(Frame::open(&link).unwrap().decompress(1).unwrap(), noise(2));
}

#[test]
fn new_files_keep_the_permissions_of_the_frame() {
    let scratch = Scratch::new("mode");
    for wanted in [0o600, 0o666] {
        let path = scratch.sparse();
        fs::set_permissions(path.join("chunks.b2frame"), Permissions::from_mode(wanted)).unwrap();
        let options = FrameOptions::new(Options::new(1)).with_locking(true);
        let mut frame = Frame::open_with(&path, &options.opening()).unwrap().edit().unwrap();
        frame.append(&noise(3)).unwrap();
        frame.checkpoint().unwrap();
        for name in ["chunks.b2frame", "00000002.chunk", ".b2lock"] {
            assert_eq!(mode(&path.join(name)), wanted, "{name}");
        }
        drop(frame);
        fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn a_lock_file_that_is_a_link_is_refused() {
    for is_hard in [false, true] {
        for is_sparse in [false, true] {
            let scratch = Scratch::new(&format!("lock-{is_hard}-{is_sparse}"));
            let sparse = scratch.sparse();
            let single = scratch.0.join("single.b2frame");
            Frame::create(&single, Options::new(1)).unwrap();
            let (path, lock) = if is_sparse {
                (&sparse, sparse.join(".b2lock"))
            } else {
                (&single, scratch.0.join("single.b2frame.b2lock"))
            };
            if is_hard {
                fs::hard_link(scratch.precious(), &lock).unwrap();
            } else {
                symlink(scratch.precious(), &lock).unwrap();
            }
            let options = FrameOptions::new(Options::new(1)).with_locking(true);
            let error = Frame::open_with(path, &options.opening()).and_then(|frame| frame.edit()).unwrap_err();
            assert!(error.to_string().contains("link"), "{error}");
            scratch.assert_untouched();
        }
    }
}

#[test]
fn names_do_not_lead_out_of_a_directory() {
    let scratch = Scratch::new("names");
    let directory = FileDirectory::new(scratch.sparse());
    for name in ["../precious", "..", ".", "", "a/b", "a\\b", "a\0b"] {
        assert!(directory.open(name).is_err(), "{name:?}");
        assert!(directory.create(name).is_err(), "{name:?}");
        assert!(directory.remove(name).is_err(), "{name:?}");
        assert!(directory.rename("chunks.b2frame", name).is_err(), "{name:?}");
    }
    scratch.assert_untouched();
}
