//! Edits on a disk that records them, and the check that a crash image must pass.

use super::content::{Content, noise};
use super::disk;
use super::edits::{CHUNK, Edit, Kind};
use blosc_oxide::{Durability, Frame, FrameLayout};
use std::ops::RangeInclusive;
use testkit::storage::{Disk, Image, Log};

/// What was done to a frame, call by call, and what it was between the edits.
pub struct Recording {
    pub layout: FrameLayout,
    pub name: String,
    pub log: Log,
    /// How many calls had been made at the end of each edit.
    ends: Vec<usize>,
    /// What the frame was before the first edit and after each; `None` if it was not there yet.
    pub contents: Vec<Option<Content>>,
}

impl Recording {
    /// Does `edits` one after the other.
    pub fn of(kind: Kind, edits: &[Edit], durability: Durability) -> Self {
        let disk = kind.disk();
        let mut frame = disk::open_writable(&disk, kind.layout, durability).unwrap();
        let mut contents = vec![Some(Content::of(&frame).unwrap())];
        let mut ends = Vec::new();
        for (name, edit) in edits {
            edit(&mut frame).unwrap_or_else(|error| panic!("{name}: {error}"));
            contents.push(Some(Content::of(&frame).unwrap()));
            ends.push(disk.recorded());
        }
        drop(frame);
        assert_eq!(disk.recorded(), *ends.last().unwrap(), "dropping writes what was committed already");
        let names: Vec<&str> = edits.iter().map(|(name, _)| *name).collect();
        Self { layout: kind.layout, name: format!("{} on {kind:?}", names.join(", ")), log: disk.log(), ends, contents }
    }

    /// Makes a frame, and commits to it for the first time.
    pub fn of_creation(kind: Kind, durability: Durability) -> Self {
        let disk = disk::empty(kind.layout);
        let mut frame = disk::create(&disk, kind.layout, kind.options().durability(durability)).unwrap();
        let mut contents = vec![None, Some(Content::of(&frame).unwrap())];
        let mut ends = vec![disk.recorded()];
        frame.append(&noise(60, CHUNK)).unwrap();
        frame.append(&[0; CHUNK]).unwrap();
        frame.commit().unwrap();
        contents.push(Some(Content::of(&frame).unwrap()));
        ends.push(disk.recorded());
        Self { layout: kind.layout, name: format!("creation of {kind:?}"), log: disk.log(), ends, contents }
    }

    /// Which contents are right after so many calls: the last one that was committed, and the next one.
    pub fn allowed(&self, calls: usize) -> RangeInclusive<usize> {
        let done = self.ends.iter().filter(|end| **end <= calls).count();
        done..=(done + 1).min(self.contents.len() - 1)
    }

    /// Whether the header of an image is one that was written, and not a mixture of two.
    pub fn has_whole_header(&self, image: &Image) -> bool {
        let header = |image: &Image| {
            let bytes = image.get(disk::header_file(self.layout))?;
            let len = u32::from_be_bytes(bytes.get(11..15)?.try_into().ok()?);
            bytes.get(..usize::try_from(len).ok()?).map(<[u8]>::to_vec)
        };
        self.log.states().any(|state| header(&state) == header(image))
    }

    /// Checks what a crash after so many calls has left; which of the contents it is.
    pub fn check(&self, calls: usize, image: &Image) -> usize {
        let allowed = self.allowed(calls);
        let place = format!("{}: after {calls} of {} calls", self.name, self.log.calls.len());
        let read = disk::open(&Disk::with_image(image.clone()), self.layout);
        let found = match &read {
            Ok(frame) => Some(Content::of(frame).unwrap_or_else(|error| panic!("{place}: reading: {error}"))),
            Err(_) if self.contents[*allowed.start()].is_none() => None,
            Err(error) => panic!("{place}: opening: {error}"),
        };
        let Some(which) = allowed.clone().find(|which| self.contents[*which] == found) else {
            let expected = &self.contents[allowed];
            panic!("{place}: it is {found:#?}, not one of {expected:#?}");
        };
        drop(read);
        if let Some(content) = found {
            go_on(&place, &Disk::with_image(image.clone()), self.layout, &content);
        }
        which
    }
}

/// Checks that what is on the disk is `content`, undamaged, and that it can be extended.
fn go_on(place: &str, disk: &Disk, layout: FrameLayout, content: &Content) {
    let mut frame = disk::open_writable(disk, layout, Durability::Fsync)
        .unwrap_or_else(|error| panic!("{place}: opening for writing: {error}"));
    let verification = frame.verify().unwrap();
    assert!(verification.is_good(), "{place}: {:?}", verification.damage);
    let chunk = noise(70, CHUNK);
    frame.append(&chunk).and_then(|()| frame.commit()).unwrap_or_else(|error| panic!("{place}: appending: {error}"));
    drop(frame);
    let after = disk::open(disk, layout).and_then(|frame: Frame| Content::of(&frame)).unwrap();
    assert_eq!(after, content.with_chunk(&chunk), "{place}: after appending");
}
