//! Frames on disk: appending, updating, opening, reading here and there, metalayers.
//!
//! C-Blosc2 works on frames without our checksums, ours on frames with them, as each would by
//! itself. What C writes is in the file after every call; ours is after a commit. Rows that say
//! `committed` commit after every call.

use super::Row;
use crate::data::DataSet;
use crate::measure::{Effort, Pair, compare};
use crate::peer::{Params, Peer};
use blosc_oxide::{
    Codec, Compressor, Filter, Frame, FrameEdit, FrameOptions, Options, SuperChunk, Threads, storage::Durability,
};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

const LEVEL: u8 = 5;
/// What variable-length metalayers hold here.
const CONTENT_LEN: usize = 256;

/// More than is appended to the frames while they are measured.
const TOUCHED: usize = 1 << 30;

/// A directory that goes away.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("blosc-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    /// Writes a file and removes it. Memory that a virtual machine has not used yet is slow at
    /// first, and the system keeps files in it: whoever happens to get that would look ten times as
    /// slow as the other.
    fn touch_memory(&self) {
        let path = self.path("memory");
        let mut file = File::create(&path).expect("room on the disk");
        let part = vec![1; 1 << 20];
        (0..TOUCHED / part.len()).for_each(|_| file.write_all(&part).expect("room on the disk"));
        std::fs::remove_file(path).expect("a file that was just written");
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        if path.exists() {
            std::fs::remove_file(&path).expect("an old file that can be removed");
        }
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in the system's directory for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Two frames of the same chunks: one for ours and one for C.
struct Frames {
    data: DataSet,
    nchunks: usize,
    ours: PathBuf,
    theirs: PathBuf,
    /// Keeps both files until it is dropped.
    scratch: Scratch,
}

fn chunk_options(typesize: usize) -> Options {
    Options::new(typesize).with_codec(Codec::Lz4).with_level(LEVEL).with_threads(Threads::serial())
}

fn frame_options(typesize: usize) -> FrameOptions {
    FrameOptions::new(chunk_options(typesize)).with_durability(Durability::None)
}

fn params(typesize: usize) -> Params {
    Params { codec: Codec::Lz4.code(), level: LEVEL, filter: Filter::Shuffle.id(), typesize, threads: 1 }
}

impl Frames {
    fn new(data: DataSet, nchunks: usize) -> Self {
        let scratch = Scratch::new();
        let frames = Self { ours: scratch.path("ours"), theirs: scratch.path("theirs"), data, nchunks, scratch };
        frames.write(&frames.ours, true);
        frames.write(&frames.theirs, false);
        frames.scratch.touch_memory();
        frames
    }

    fn write(&self, path: &Path, checksums: bool) {
        let options = frame_options(self.data.typesize).with_checksums(checksums);
        let mut frame = Frame::create(path, options).expect("a new frame");
        let chunk = self.chunk();
        (0..self.nchunks).for_each(|_| frame.append_chunk(&chunk).expect("a good chunk"));
        frame.vlmetalayers_mut().add("note", &[7; CONTENT_LEN]).expect("a new metalayer");
        frame.commit().expect("room on the disk");
    }

    fn chunk(&self) -> Vec<u8> {
        let mut compressor = Compressor::new(chunk_options(self.data.typesize)).expect("good options");
        compressor.compress(&self.data.bytes).expect("a small buffer")
    }

    fn writable(&self) -> FrameEdit {
        Frame::open_with(&self.ours, &frame_options(self.data.typesize).opening())
            .and_then(|frame| frame.edit())
            .expect("a good frame")
    }

    fn readable(&self) -> Frame {
        Frame::open_with(&self.ours, &frame_options(self.data.typesize).opening()).expect("a good frame")
    }

    fn row(&self, what: &str, nbytes: usize, pair: Pair) -> Row {
        Row {
            area: "frames",
            name: format!("{what}, {} chunks of {} KiB", self.nchunks, self.data.bytes.len() >> 10),
            group: what.to_owned(),
            nbytes,
            pair,
            size: None,
        }
    }
}

/// Places all over a frame, in the same order whoever asks.
fn places(count: usize) -> impl FnMut() -> usize {
    let mut turn = 0;
    move || {
        turn += 1;
        turn * 7919 % count
    }
}

/// Measures everything that is done to a frame of `nchunks` chunks that hold `data` each.
pub(crate) fn rows(peer: &Peer, effort: Effort, data: DataSet, nchunks: usize) -> Vec<Row> {
    let frames = Frames::new(data, nchunks);
    // What changes the frames comes last.
    vec![
        open(peer, effort, &frames),
        read_chunk(peer, effort, &frames),
        read_item(peer, effort, &frames),
        vlmetalayer(peer, effort, &frames),
        append(peer, effort, &frames, false),
        append(peer, effort, &frames, true),
        update(peer, effort, &frames, false),
        update(peer, effort, &frames, true),
    ]
}

fn append(peer: &Peer, effort: Effort, frames: &Frames, commits: bool) -> Row {
    let (mut ours, mut theirs) = (frames.writable(), peer.open_frame(&frames.theirs));
    let buffer = &frames.data.bytes;
    let pair = compare(
        effort,
        || {
            ours.append(buffer).expect("room on the disk");
            if commits {
                ours.checkpoint().expect("room on the disk");
            }
        },
        || theirs.append(buffer),
    );
    ours.checkpoint().expect("room on the disk");
    frames.row(if commits { "append, committed" } else { "append" }, buffer.len(), pair)
}

fn update(peer: &Peer, effort: Effort, frames: &Frames, commits: bool) -> Row {
    let (mut ours, mut theirs) = (frames.writable(), peer.open_frame(&frames.theirs));
    let (mut our_place, mut their_place) = (places(frames.nchunks), places(frames.nchunks));
    let chunk = frames.chunk();
    let pair = compare(
        effort,
        || {
            ours.update_chunk(our_place(), &chunk).expect("room on the disk");
            if commits {
                ours.checkpoint().expect("room on the disk");
            }
        },
        || theirs.update(their_place(), &chunk),
    );
    ours.checkpoint().expect("room on the disk");
    frames.row(if commits { "update, committed" } else { "update" }, frames.data.bytes.len(), pair)
}

fn vlmetalayer(peer: &Peer, effort: Effort, frames: &Frames) -> Row {
    let (mut ours, mut theirs) = (frames.writable(), peer.open_frame(&frames.theirs));
    theirs.add_vlmetalayer("more", &[1; CONTENT_LEN]);
    ours.vlmetalayers_mut().add("more", &[1; CONTENT_LEN]).expect("a new metalayer");
    let content: Vec<u8> = (0..CONTENT_LEN).map(|at| (at * at) as u8).collect();
    let pair = compare(
        effort,
        || {
            ours.vlmetalayers_mut().update("more", &content).expect("a metalayer that is there");
            ours.checkpoint().expect("room on the disk");
        },
        || theirs.update_vlmetalayer("more", &content),
    );
    frames.row("vlmetalayer, committed", CONTENT_LEN, pair)
}

fn read_chunk(peer: &Peer, effort: Effort, frames: &Frames) -> Row {
    let (ours, mut theirs) = (frames.readable(), peer.open_frame(&frames.theirs));
    let (mut our_place, mut their_place) = (places(frames.nchunks), places(frames.nchunks));
    let len = frames.data.bytes.len();
    let (mut our_data, mut their_data) = (vec![0; len], vec![0; len]);
    let pair = compare(
        effort,
        || ours.decompress_into(our_place(), &mut our_data).map(|_| ()).expect("a good chunk"),
        || theirs.decompress(their_place(), &mut their_data),
    );
    frames.row("random chunk", len, pair)
}

fn read_item(peer: &Peer, effort: Effort, frames: &Frames) -> Row {
    let (ours, mut theirs) = (frames.readable(), peer.open_frame(&frames.theirs));
    let typesize = frames.data.typesize;
    let nitems = frames.nchunks * (frames.data.bytes.len() / typesize);
    let (mut our_place, mut their_place) = (places(nitems), places(nitems));
    let mut item = vec![0; typesize];
    let pair = compare(
        effort,
        || {
            let place = our_place() as u64;
            assert_eq!(ours.items(place..place + 1).expect("a good frame").len(), typesize);
        },
        || theirs.item(their_place(), &mut item),
    );
    frames.row("random item", typesize, pair)
}

fn open(peer: &Peer, effort: Effort, frames: &Frames) -> Row {
    let len = usize::try_from(frames.ours.metadata().expect("a file").len()).unwrap_or_default();
    let pair = compare(effort, || drop(frames.readable()), || drop(peer.open_frame(&frames.theirs)));
    frames.row("open", len, pair)
}

/// Writes a super-chunk of `nchunks` chunks from memory to a new file, once: C takes minutes for
/// many.
pub(crate) fn to_file(peer: &Peer, data: &DataSet, nchunks: usize) -> Row {
    let chunk_len = data.bytes.len();
    let mut ours = SuperChunk::new(chunk_options(data.typesize)).expect("good options");
    let mut theirs = peer.memory_frame(params(data.typesize));
    for _ in 0..nchunks {
        ours.append(&data.bytes).expect("a good buffer");
        theirs.append(&data.bytes);
    }
    let scratch = Scratch::new();
    scratch.touch_memory();
    let start = Instant::now();
    let mut frame = Frame::create(scratch.path("ours"), frame_options(data.typesize)).expect("a new frame");
    ours.copy_to(&mut frame).expect("room on the disk");
    drop(frame);
    let ours_ns = start.elapsed().as_secs_f64() * 1e9;
    let start = Instant::now();
    theirs.write_to(&scratch.path("theirs"));
    let theirs_ns = start.elapsed().as_secs_f64() * 1e9;
    Row {
        area: "frames",
        name: format!("to file, {nchunks} chunks of {} KiB", chunk_len >> 10),
        group: "to file".to_owned(),
        nbytes: nchunks * chunk_len,
        pair: Pair { ours: ours_ns, theirs: theirs_ns, ratio: theirs_ns / ours_ns },
        size: None,
    }
}
