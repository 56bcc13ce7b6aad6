//! Whenever power is cut or the process is killed, the frame is what it was before the call or
//! after it.
#![allow(clippy::print_stdout, reason = "how much was checked is worth knowing")]

use crate::common::child::is_long;
use crate::common::disk;
use crate::common::edits::{EDITS, EMPTYING, Edit, Kind, REUSING, ROW, SUCCEEDING};
use crate::common::recording::Recording;
use crate::common::sample::Sample;
use blosc_oxide::{FrameLayout, storage::Durability};
use testkit::storage::Image;

/// At how many bytes a write is cut short, other than one to the header.
const MAX_CUTS: usize = 60;

/// One in so many images is checked, but for long tests. A commit to a slot is many short writes,
/// so that there are a hundred times as many images of frames with slots; with their 256 chunks,
/// looking at one takes thirty times as long.
fn one_in(has_slots: bool) -> usize {
    if has_slots && !is_long() { 199 } else { 1 }
}

/// How many images were checked, and how many of those were the state before.
#[derive(Debug, Default)]
struct Count {
    images: usize,
    before: usize,
}

impl Count {
    fn check(&mut self, recording: &Recording, calls: usize, image: &Image) {
        self.images += 1;
        self.before += usize::from(recording.check(calls, image) == *recording.allowed(calls).start());
    }

    /// The same for one in so many images.
    fn check_some(&mut self, recording: &Recording) -> impl FnMut(usize, &Image) {
        let mut number = 0_usize;
        move |calls, image| {
            number += 1;
            if number.is_multiple_of(one_in(recording.has_slots)) {
                self.check(recording, calls, image);
            }
        }
    }
}

fn cut_power(recording: &Recording, count: &mut Count) {
    let one_in = one_in(recording.has_slots);
    recording.log.power_cuts_after(0, one_in, 1, &mut |calls, image| count.check(recording, calls, image));
}

fn kill(recording: &Recording, count: &mut Count) {
    let header_file = disk::header_file(recording.layout);
    recording.log.kills(header_file, 2, MAX_CUTS, &mut count.check_some(recording));
}

fn tear_header(recording: &Recording, count: &mut Count) {
    recording.log.torn_starts(disk::header_file(recording.layout), &mut count.check_some(recording));
}

const PLAIN: Kind = Kind {
    layout: FrameLayout::Contiguous,
    is_variable: false,
    has_long_header: false,
    checksums: true,
    has_slots: false,
};
const VARIABLE: Kind = Kind { is_variable: true, ..PLAIN };
const LONG: Kind = Kind { has_long_header: true, ..PLAIN };
const UNCHECKED: Kind = Kind { checksums: false, ..PLAIN };
const LONG_UNCHECKED: Kind = Kind { checksums: false, ..LONG };
const SLOTS: Kind = Kind { has_slots: true, ..PLAIN };
const SLOTS_UNCHECKED: Kind = Kind { has_slots: true, ..UNCHECKED };
const SLOTS_LONG: Kind = Kind { has_slots: true, ..LONG };
const SPARSE: Kind = Kind { layout: FrameLayout::Sparse, ..PLAIN };
const SPARSE_VARIABLE: Kind = Kind { layout: FrameLayout::Sparse, ..VARIABLE };
const SPARSE_LONG: Kind = Kind { layout: FrameLayout::Sparse, ..LONG_UNCHECKED };
const ALL: [Kind; 11] = [
    PLAIN,
    VARIABLE,
    LONG,
    UNCHECKED,
    LONG_UNCHECKED,
    SLOTS,
    SLOTS_UNCHECKED,
    SLOTS_LONG,
    SPARSE,
    SPARSE_VARIABLE,
    SPARSE_LONG,
];

/// Runs a check on every edit by itself, and on several in a row.
fn every_edit(kind: Kind, durability: Durability, check: fn(&Recording, &mut Count)) {
    let mut count = Count::default();
    let alone = EDITS.iter().map(std::slice::from_ref);
    for edits in alone.chain([ROW as &[Edit], REUSING, EMPTYING]) {
        check(&Recording::of(kind, edits, durability), &mut count);
    }
    println!("{kind:?}: {count:?}");
    // Else nothing was interrupted.
    assert!(count.before > 0 && count.before < count.images, "{count:?}");
}

macro_rules! tests {
    ($($kind:ident $power:ident $kill:ident $tear:ident)*) => { $(
        #[test]
        fn $power() {
            every_edit($kind, Durability::Fsync, cut_power);
        }

        #[test]
        fn $kill() {
            every_edit($kind, Durability::None, kill);
        }

        #[test]
        fn $tear() {
            every_edit($kind, Durability::Fsync, tear_header);
        }
    )* };
}

tests! {
    PLAIN power_cut killed torn_header_is_recovered
    VARIABLE power_cut_with_chunks_of_all_sizes killed_with_chunks_of_all_sizes torn_header_of_chunks_of_all_sizes_is_recovered
    LONG power_cut_with_a_long_header killed_with_a_long_header torn_long_header_is_recovered
    UNCHECKED power_cut_without_checksums killed_without_checksums torn_header_without_checksums_is_recovered
    LONG_UNCHECKED power_cut_with_a_long_header_without_checksums killed_with_a_long_header_without_checksums torn_long_header_without_checksums_is_recovered
    SLOTS power_cut_with_slots killed_with_slots torn_header_with_slots_is_recovered
    SLOTS_UNCHECKED power_cut_with_slots_without_checksums killed_with_slots_without_checksums torn_header_with_slots_without_checksums_is_recovered
    SLOTS_LONG power_cut_with_slots_and_a_long_header killed_with_slots_and_a_long_header torn_long_header_with_slots_is_recovered
}

/// Writes some of the images to files, for `interop/crash.py`.
#[test]
fn a_sample_of_images_is_written_for_other_readers() {
    let Some(directory) = std::env::var_os("BLOSC_OXIDE_CRASH_IMAGES") else { return };
    let mut sample = Sample::new(directory.into());
    let alone = || EDITS.iter().map(std::slice::from_ref);
    for kind in ALL {
        sample.add_some_of(&Recording::of_creation(kind, Durability::Fsync));
        // Not what happens to a frame that has no chunks before and after: see
        // doc/format/commit.md.
        for edits in alone().chain([ROW as &[Edit], REUSING]) {
            sample.add_some_of(&Recording::of(kind, edits, Durability::Fsync));
        }
    }
    sample.finish();
}

/// One in so many of the images is checked that a second process can leave.
const SAMPLED: usize = 29;

/// Kills a process after each of its calls, and in the midst of those that write the header; lets a
/// second one go on from there, and cuts the power while it does.
fn kill_and_cut_power(kind: Kind) {
    let (mut images, mut successors) = (0, 0);
    let is_sampled = kind.has_slots && !is_long();
    let (edits_step, calls_step) = if is_sampled { (5, 7) } else { (1, 1) };
    let rows = [ROW as &[Edit], EMPTYING].into_iter().filter(|_| !is_sampled);
    for edits in EDITS.iter().step_by(edits_step).map(std::slice::from_ref).chain(rows) {
        let first = Recording::of(kind, edits, Durability::Fsync);
        for calls in (0..=first.log.calls.len()).step_by(calls_step) {
            let cuts: &[usize] =
                if first.log.writes_start(calls, disk::header_file(kind.layout)) { &[0, 20, 60] } else { &[0] };
            for &cut in cuts {
                let second = first.succeeded_by(SUCCEEDING, calls, cut);
                successors += 1;
                let one_in = SAMPLED * one_in(kind.has_slots);
                second.log.power_cuts_after(second.killed, one_in, successors, &mut |calls, image| {
                    images += 1;
                    second.check(calls, image);
                });
            }
        }
    }
    println!("{kind:?}: {successors} second processes, {images} images");
}

#[test]
fn a_second_process_does_not_build_on_what_the_first_did_not_sync() {
    kill_and_cut_power(PLAIN);
}

#[test]
fn a_second_process_does_not_build_on_an_unsynced_long_header() {
    kill_and_cut_power(LONG);
}

#[test]
fn a_second_process_does_not_build_on_what_was_not_synced_without_checksums() {
    kill_and_cut_power(UNCHECKED);
}

#[test]
fn a_second_process_does_not_build_on_an_unsynced_slot() {
    kill_and_cut_power(SLOTS);
}

#[test]
fn a_second_process_does_not_build_on_an_unsynced_slot_without_checksums() {
    kill_and_cut_power(SLOTS_UNCHECKED);
}

#[test]
fn a_second_process_does_not_build_on_unsynced_names() {
    kill_and_cut_power(SPARSE);
}

#[test]
fn creation_is_interrupted() {
    let mut count = Count::default();
    for kind in ALL {
        cut_power(&Recording::of_creation(kind, Durability::Fsync), &mut count);
        kill(&Recording::of_creation(kind, Durability::None), &mut count);
    }
    println!("{count:?}");
}

#[test]
fn power_cut_with_a_directory() {
    every_edit(SPARSE, Durability::Fsync, cut_power);
}

#[test]
fn power_cut_with_a_directory_of_chunks_of_all_sizes() {
    every_edit(SPARSE_VARIABLE, Durability::Fsync, cut_power);
}

#[test]
fn power_cut_with_a_directory_and_a_long_header() {
    every_edit(SPARSE_LONG, Durability::Fsync, cut_power);
}

#[test]
fn killed_with_a_directory() {
    for kind in [SPARSE, SPARSE_VARIABLE, SPARSE_LONG] {
        every_edit(kind, Durability::None, kill);
    }
}
