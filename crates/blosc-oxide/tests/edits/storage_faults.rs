//! When a call to the storage fails, an error is returned, the handle refuses further changes, and
//! what was committed stays readable.
#![allow(clippy::print_stdout, reason = "how much was checked is worth knowing")]

use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::edits::{CHUNK, EDITS, Edit, Kind, warm_up};
use blosc_oxide::{ErrorKind, FrameEdit, FrameLayout, storage::Durability};
use std::collections::BTreeSet;
use testkit::storage::{Disk, Fault, FaultKind, Image};

const KINDS: [FaultKind; 3] = [FaultKind::Error, FaultKind::Short, FaultKind::Full];
const CONTIGUOUS: Kind = Kind {
    layout: FrameLayout::Contiguous,
    is_variable: false,
    has_long_header: true,
    checksums: true,
    has_slots: false,
};
const SPARSE: Kind = Kind { layout: FrameLayout::Sparse, ..CONTIGUOUS };

/// An edit that is repeated with each of its calls failing in turn.
struct Trial {
    kind: Kind,
    start: Image,
    before: Content,
    after: Content,
    calls: usize,
}

impl Trial {
    fn new(kind: Kind, edit: Edit) -> Self {
        let disk = kind.disk();
        let start = disk.image();
        let mut frame = disk::edit(&disk, kind.layout, Durability::Fsync).unwrap();
        warm_up(kind, &mut frame).unwrap();
        let before = Content::of(&frame).unwrap();
        let calls = disk.count();
        edit.1(&mut frame).unwrap();
        let calls = disk.count() - calls;
        let after = Content::of(&frame).unwrap();
        Self { kind, start, before, after, calls }
    }

    fn run(&self, (name, edit): Edit, fault: Fault) {
        let place = format!("{name} on {:?}, {fault:?} of {}", self.kind, self.calls);
        let disk = Disk::with_image(self.start.clone());
        let mut frame = disk::edit(&disk, self.kind.layout, Durability::Fsync).unwrap();
        warm_up(self.kind, &mut frame).unwrap();
        disk.set_fault(fault);
        let result = edit(&mut frame);
        let image = disk.image();
        let found = self.check_content(&place, &image);
        if result.is_ok() {
            // Files that could not be removed are all that can be wrong then.
            assert!(
                !disk.has_failed_change() || self.kind.layout == FrameLayout::Sparse,
                "{place}: nobody has noticed"
            );
            assert!(found == self.after, "{place}: it is not committed");
            return;
        }
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Io, "{place}");
        assert!(found == self.before, "{place}: it is committed");
        if disk.has_failed_change() {
            assert_poisoned(&place, &mut frame);
            drop(frame);
            assert_eq!(disk.image().digest(), image.digest(), "{place}: a poisoned frame has been written to");
            assert_no_litter(&place, self.kind.layout, &disk, &self.start);
        }
    }

    fn check_content(&self, place: &str, image: &Image) -> Content {
        let frame = disk::open(&Disk::with_image(image.clone()), self.kind.layout);
        let frame = frame.unwrap_or_else(|error| panic!("{place}: opening: {error}"));
        let found = Content::of(&frame).unwrap_or_else(|error| panic!("{place}: reading: {error}"));
        assert!(found == self.before || found == self.after, "{place}: it is {found:?}");
        assert!(frame.verify().unwrap().is_good(), "{place}: damaged");
        found
    }
}

fn assert_poisoned(place: &str, frame: &mut FrameEdit) {
    let nchunks = frame.nchunks();
    let order: Vec<usize> = (0..nchunks).collect();
    let mut results = vec![
        ("append", frame.append(&noise(1, CHUNK))),
        ("append zeros", frame.append(&[0; CHUNK])),
        ("reorder", frame.reorder(&order)),
        ("compact", frame.compact().map(drop)),
    ];
    if nchunks > 0 {
        results.push(("update", frame.update(0, &noise(2, CHUNK))));
        results.push(("delete", frame.delete(0)));
    }
    frame.metalayers_mut();
    results.push(("commit", frame.checkpoint().map(drop)));
    for (call, result) in results {
        let kind = result.err().map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::Poisoned), "{place}: {call} afterwards");
    }
}

/// Checks that there are no files but those that count, and those that counted before and could not
/// be removed.
fn assert_no_litter(place: &str, layout: FrameLayout, disk: &Disk, start: &Image) {
    if layout == FrameLayout::Contiguous {
        return;
    }
    let disk = Disk::with_image(disk.image());
    let before: BTreeSet<String> = disk.names().unwrap().into_iter().collect();
    disk::edit(&disk, layout, Durability::None).unwrap().compact().unwrap();
    let after: BTreeSet<String> = disk.names().unwrap().into_iter().collect();
    for name in before.difference(&after) {
        assert!(start.get(name).is_some(), "{place}: {name} is left");
    }
}

fn every_call_fails(kind: Kind) {
    let mut faults = 0;
    for &edit in EDITS {
        let trial = Trial::new(kind, edit);
        for after in 0..trial.calls {
            for fault_kind in KINDS {
                trial.run(edit, Fault { after, kind: fault_kind });
                faults += 1;
            }
        }
    }
    println!("{faults} faults on {kind:?}");
}

#[test]
fn every_call_on_a_file_fails() {
    every_call_fails(CONTIGUOUS);
}

#[test]
fn every_call_on_a_file_without_checksums_fails() {
    every_call_fails(Kind { checksums: false, is_variable: true, has_long_header: false, ..CONTIGUOUS });
}

#[test]
fn every_call_on_a_file_with_slots_fails() {
    every_call_fails(Kind { has_slots: true, has_long_header: false, ..CONTIGUOUS });
}

#[test]
fn every_call_on_a_file_with_slots_without_checksums_fails() {
    every_call_fails(Kind { has_slots: true, checksums: false, has_long_header: false, ..CONTIGUOUS });
}

#[test]
fn every_call_on_a_directory_fails() {
    every_call_fails(SPARSE);
}

#[test]
fn every_call_on_a_directory_without_checksums_fails() {
    every_call_fails(Kind { checksums: false, is_variable: true, has_long_header: false, ..SPARSE });
}

#[test]
fn a_commit_of_a_file_that_is_reported_as_failed_is_not_made() {
    for &(name, edit) in EDITS {
        let trial = Trial::new(CONTIGUOUS, (name, edit));
        for after in 0..trial.calls {
            let disk = Disk::with_image(trial.start.clone());
            let mut frame = disk::edit(&disk, CONTIGUOUS.layout, Durability::Fsync).unwrap();
            disk.set_fault(Fault { after, kind: FaultKind::Error });
            if edit(&mut frame).is_ok() {
                continue;
            }
            let left = disk::open(&Disk::with_image(disk.image()), CONTIGUOUS.layout).unwrap();
            assert!(Content::of(&left).unwrap() == trial.before, "{name}, call {after} of {}", trial.calls);
        }
    }
}

#[test]
fn a_file_that_fills_up_before_the_commit_keeps_what_it_had() {
    let edit: Edit = ("append much", |frame| {
        for seed in 0..4 {
            frame.append(&noise(seed, 600 << 10))?;
        }
        frame.checkpoint().map(drop)
    });
    let trial = Trial::new(CONTIGUOUS, edit);
    assert!(trial.calls > 5, "nothing is written before the commit");
    for after in 0..trial.calls {
        for kind in KINDS {
            trial.run(edit, Fault { after, kind });
        }
    }
}

#[test]
fn what_cannot_be_read_is_not_called_damaged() {
    for kind in [CONTIGUOUS, SPARSE] {
        let disk = kind.disk();
        let frame = disk::open(&disk, kind.layout).unwrap();
        let before = disk.count();
        assert!(frame.verify().unwrap().is_good());
        for after in 0..disk.count() - before {
            disk.set_fault(Fault { after, kind: FaultKind::Error });
            let error = frame.verify().expect_err("a call has failed");
            assert_eq!(error.kind(), ErrorKind::Io, "{kind:?}, call {after}: {error}");
        }
    }
}

#[test]
fn every_call_of_a_creation_fails() {
    for kind in [CONTIGUOUS, SPARSE] {
        let calls = {
            let disk = disk::empty(kind.layout);
            disk::create(&disk, kind.layout, kind.options()).unwrap();
            disk.count()
        };
        for after in 0..calls {
            for fault_kind in KINDS {
                creation_fails(kind, Fault { after, kind: fault_kind });
            }
        }
    }
}

fn creation_fails(kind: Kind, fault: Fault) {
    let place = format!("creation of {kind:?}, {fault:?}");
    let disk = disk::empty(kind.layout);
    disk.set_fault(fault);
    let result = disk::create(&disk, kind.layout, kind.options());
    let disk = match result {
        Ok(_) => {
            assert!(!disk.has_failed_change(), "{place}: nobody has noticed");
            return;
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Io, "{place}: {error}");
            Disk::with_image(disk.image())
        }
    };
    let names = disk.names().unwrap();
    assert!(!names.iter().any(|name| name.ends_with(".new")), "{place}: {names:?}");
    // If only the last sync has failed, it is there.
    if let Ok(frame) = disk::open(&disk, kind.layout) {
        assert_eq!((frame.nchunks(), frame.metalayers().len()), (0, 2), "{place}");
    }
}

/// A disk that is full after some more calls.
fn full_after(image: &Image, after: usize) -> Disk {
    let disk = Disk::with_image(image.clone());
    disk.set_fault(Fault { after, kind: FaultKind::Full });
    disk
}

fn len_of(image: &Image) -> usize {
    image.iter().map(|(_, bytes)| bytes.len()).sum()
}

#[test]
fn a_disk_that_an_append_has_filled_has_room_again() {
    for kind in [CONTIGUOUS, SPARSE, Kind { checksums: false, ..CONTIGUOUS }] {
        let start = kind.disk().image();
        let before = Content::of(&disk::open(&Disk::with_image(start.clone()), kind.layout).unwrap()).unwrap();
        for after in 0..60 {
            let disk = full_after(&start, after);
            let mut frame = disk::edit(&disk, kind.layout, Durability::Fsync).unwrap();
            let appended = (0..4).try_for_each(|seed| frame.append(&noise(seed, 600 << 10)));
            if appended.and_then(|()| frame.checkpoint().map(drop)).is_ok() {
                assert!(after > 20, "there is always room");
                break;
            }
            assert_eq!(len_of(&disk.image()), len_of(&start), "{kind:?}, call {after}: its space is not given back");
            drop(frame);
            let disk = Disk::with_image(disk.image());
            let mut frame = disk::edit(&disk, kind.layout, Durability::Fsync).unwrap();
            frame.append(&noise(9, CHUNK)).unwrap();
            frame.checkpoint().unwrap();
            frame.compact().unwrap();
            assert_eq!(Content::of(&frame).unwrap(), before.with_chunk(&noise(9, CHUNK)), "{kind:?}, call {after}");
        }
    }
}

#[test]
fn what_a_killed_process_has_not_committed_takes_no_space_after_the_next_change() {
    let start = CONTIGUOUS.disk().image();
    let disk = Disk::with_image(start.clone());
    let mut killed = disk::edit(&disk, CONTIGUOUS.layout, Durability::Fsync).unwrap();
    (0..4).for_each(|seed| killed.append(&noise(seed, 600 << 10)).unwrap());
    std::mem::forget(killed);
    assert!(len_of(&disk.image()) > len_of(&start) + (1 << 20));
    let filled = disk.image().digest();
    let frame = disk::open(&disk, CONTIGUOUS.layout).unwrap();
    assert_eq!(disk.image().digest(), filled, "opening the frame takes nothing from others");
    let mut frame = frame.edit().unwrap();
    frame.append(&noise(9, CHUNK)).unwrap();
    frame.checkpoint().unwrap();
    assert!(len_of(&disk.image()) < len_of(&start) + 4 * CHUNK, "{} bytes", len_of(&disk.image()));
}

#[test]
fn what_is_given_up_takes_no_space() {
    let disk = CONTIGUOUS.disk();
    let before = len_of(&disk.image());
    let mut frame = disk::edit(&disk, CONTIGUOUS.layout, Durability::Fsync).unwrap();
    (0..4).for_each(|seed| frame.append(&noise(seed, 600 << 10)).unwrap());
    frame.abort();
    assert!(len_of(&disk.image()) <= before);
}
