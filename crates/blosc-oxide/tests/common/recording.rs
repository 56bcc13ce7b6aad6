//! Edits on a disk that records them, and the check that a crash image must pass.

use super::content::{Content, noise};
use super::disk;
use super::edits::{CHUNK, Edit, Kind, warm_up};
use blosc_oxide::{Frame, FrameLayout, storage::Durability};
use std::ops::RangeInclusive;
use testkit::storage::{Call, Disk, Image, Log};

/// What was done to a frame, call by call, and what it was between the edits.
pub struct Recording {
    pub layout: FrameLayout,
    /// Whether index and trailer are in slots.
    pub has_slots: bool,
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
        let mut frame = disk::edit(&disk, kind.layout, durability).unwrap();
        warm_up(kind, &mut frame).unwrap();
        disk.forget();
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
        Self {
            layout: kind.layout,
            has_slots: kind.has_slots,
            name: format!("{} on {kind:?}", names.join(", ")),
            log: disk.log(),
            ends,
            contents,
        }
    }

    /// Makes a frame, and commits to it for the first time.
    pub fn of_creation(kind: Kind, durability: Durability) -> Self {
        let disk = disk::empty(kind.layout);
        let mut frame = disk::create(&disk, kind.layout, kind.options().with_durability(durability)).unwrap();
        let mut contents = vec![None, Some(Content::of(&frame).unwrap())];
        let mut ends = vec![disk.recorded()];
        frame.append(&noise(60, CHUNK)).unwrap();
        frame.append(&[0; CHUNK]).unwrap();
        frame.checkpoint().unwrap();
        contents.push(Some(Content::of(&frame).unwrap()));
        ends.push(disk.recorded());
        Self {
            layout: kind.layout,
            has_slots: kind.has_slots,
            name: format!("creation of {kind:?}"),
            log: disk.log(),
            ends,
            contents,
        }
    }

    /// Which contents are right after so many calls: the last one that was committed, and the next
    /// one.
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

    /// What a second process does that finds what this one has left, killed after so many calls and
    /// in the midst of the next; none of it has been made to survive but what was synced.
    pub fn succeeded_by(&self, edits: &[Edit], calls: usize, cut: usize) -> Successor {
        let disk = Disk::after(self.log.until(calls, cut));
        let killed = disk.recorded();
        let name = format!("{}, killed after {calls} calls and {cut} bytes", self.name);
        let mut frame = disk::edit(&disk, self.layout, Durability::Fsync)
            .unwrap_or_else(|error| panic!("{name}: opening: {error}"));
        let mut contents = vec![Content::of(&frame).unwrap()];
        let mut ends = vec![killed];
        for (edit_name, edit) in edits {
            edit(&mut frame).unwrap_or_else(|error| panic!("{name}: {edit_name}: {error}"));
            contents.push(Content::of(&frame).unwrap());
            ends.push(disk.recorded());
        }
        drop(frame);
        let unsynced = self.contents[self.allowed(calls)].iter().flatten().cloned().collect();
        Successor { layout: self.layout, name, log: disk.log(), killed, ends, contents, unsynced }
    }
}

/// What a second process did after a first one was killed.
pub struct Successor {
    layout: FrameLayout,
    name: String,
    pub log: Log,
    /// How many calls are of the first process.
    pub killed: usize,
    /// How many calls had been made when the second had opened the frame, and at the end of each of
    /// its edits.
    ends: Vec<usize>,
    /// What the frame was then.
    contents: Vec<Content>,
    /// What can come back as long as the second process has not synced.
    unsynced: Vec<Content>,
}

impl Successor {
    /// Checks what a cut of power after so many calls has left.
    pub fn check(&self, calls: usize, image: &Image) {
        let place = format!("{}: cut after {calls} of {} calls", self.name, self.log.calls.len());
        let has_synced = self.log.calls[self.killed..calls].iter().any(|call| !matches!(call, Call::Change(_)));
        let done = self.ends.iter().filter(|end| **end <= calls).count() - 1;
        let next = (done + 1).min(self.contents.len() - 1);
        let frame = disk::open(&Disk::with_image(image.clone()), self.layout);
        let frame = frame.unwrap_or_else(|error| panic!("{place}: opening: {error}"));
        let found = Content::of(&frame).unwrap_or_else(|error| panic!("{place}: reading: {error}"));
        let is_of_first = !has_synced && self.unsynced.contains(&found);
        assert!(self.contents[done..=next].contains(&found) || is_of_first, "{place}: it is {found:#?}");
        assert!(frame.verify().unwrap().is_good(), "{place}");
    }
}

/// Checks that what is on the disk is `content`, undamaged, and that it can be extended.
fn go_on(place: &str, disk: &Disk, layout: FrameLayout, content: &Content) {
    let mut frame = disk::edit(disk, layout, Durability::Fsync)
        .unwrap_or_else(|error| panic!("{place}: opening for writing: {error}"));
    let verification = frame.verify().unwrap();
    assert!(verification.is_good(), "{place}: {:?}", verification.damage);
    let chunk = noise(70, CHUNK);
    frame
        .append(&chunk)
        .and_then(|()| frame.checkpoint().map(drop))
        .unwrap_or_else(|error| panic!("{place}: appending: {error}"));
    drop(frame);
    let after = disk::open(disk, layout).and_then(|frame: Frame| Content::of(&frame)).unwrap();
    assert_eq!(after, content.with_chunk(&chunk), "{place}: after appending");
}
