//! C-Blosc2 and our handles change a frame in turns: it knows nothing of checksums, slots and free
//! places, and writes over all of them.

use crate::common::child::is_long;
use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::reference::Reference;
use blosc_oxide::storage::Durability;
use blosc_oxide::{Frame, FrameEdit, FrameLayout};
use testkit::Rng;
use testkit::storage::Disk;

const CHUNK: usize = 40;
const LAYOUT: FrameLayout = FrameLayout::Contiguous;

/// One change, by whoever makes it.
#[derive(Debug, Clone)]
enum Change {
    Append(Vec<u8>),
    Insert(usize, Vec<u8>),
    Update(usize, Vec<u8>),
    Zeros(usize),
    Delete(usize),
    Reverse,
    Meta(Vec<u8>),
    Layer(&'static str, Vec<u8>),
    NoLayer(&'static str),
}

/// What a frame should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    chunks: Vec<Vec<u8>>,
    unit: Vec<u8>,
    layers: Vec<(String, Vec<u8>)>,
}

impl Model {
    fn of(frame: &Frame) -> Self {
        let Content { chunks, metalayers, vlmetalayers: mut layers, .. } = Content::of(frame).unwrap();
        layers.sort();
        Self { chunks, unit: metalayers[0].1.clone(), layers }
    }

    fn apply(&mut self, change: &Change) {
        match change.clone() {
            Change::Append(data) => self.chunks.push(data),
            Change::Insert(index, data) => self.chunks.insert(index, data),
            Change::Update(index, data) => self.chunks[index] = data,
            Change::Zeros(index) => self.chunks[index] = vec![0; CHUNK],
            Change::Delete(index) => _ = self.chunks.remove(index),
            Change::Reverse => self.chunks.reverse(),
            Change::Meta(unit) => self.unit = unit,
            Change::Layer(name, content) => {
                self.layers.retain(|(other, _)| other != name);
                self.layers.push((name.to_owned(), content));
                self.layers.sort();
            }
            Change::NoLayer(name) => self.layers.retain(|(other, _)| other != name),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.layers.iter().any(|(other, _)| other == name)
    }

    /// A change that can be made of this.
    fn any_change(&self, rng: &mut Rng) -> Change {
        let data = noise(rng.next_u64(), CHUNK);
        let index = rng.below(self.chunks.len());
        let name = ["one", "other"][rng.below(2)];
        let is_full = self.chunks.len() > 310;
        match rng.below(12) {
            0..=2 if !is_full => Change::Append(data),
            3 if !is_full => Change::Insert(index, data),
            0..=3 => Change::Delete(index),
            4 | 5 => Change::Update(index, data),
            6 => Change::Zeros(index),
            7 if rng.below(4) == 0 => Change::Reverse,
            8 if self.has(name) => Change::NoLayer(name),
            9 => Change::Meta(data[..6].to_vec()),
            10 => Change::Delete(self.chunks.len() - 1),
            _ => Change::Layer(name, noise(rng.next_u64(), rng.below(60))),
        }
    }
}

fn change_ours(frame: &mut FrameEdit, change: &Change) {
    match change.clone() {
        Change::Append(data) => frame.append(&data).unwrap(),
        Change::Insert(index, data) => frame.insert(index, &data).unwrap(),
        Change::Update(index, data) => frame.update(index, &data).unwrap(),
        Change::Zeros(index) => frame.update(index, &[0; CHUNK]).unwrap(),
        Change::Delete(index) => frame.delete(index).unwrap(),
        Change::Reverse => {
            let order: Vec<usize> = (0..frame.nchunks()).rev().collect();
            frame.reorder(&order).unwrap();
        }
        Change::Meta(unit) => frame.metalayers_mut().update("unit", unit).unwrap(),
        Change::Layer(name, content) => {
            let is_there = frame.vlmetalayers().names().any(|other| other == name);
            let layers = frame.vlmetalayers_mut();
            if is_there { layers.update(name, &content).unwrap() } else { layers.add(name, &content).unwrap() }
        }
        Change::NoLayer(name) => frame.vlmetalayers_mut().remove(name).unwrap(),
    }
}

fn change_theirs(disk: &Disk, change: &Change, before: &Model) {
    let frame = Reference::open(disk);
    assert_eq!(frame.nchunks(), before.chunks.len());
    match change {
        Change::Append(data) => frame.append(data),
        Change::Insert(index, data) => frame.insert(*index, data),
        Change::Update(index, data) => frame.update(*index, data),
        Change::Zeros(index) => frame.update_to_zeros(*index),
        Change::Delete(index) => frame.delete(*index, CHUNK),
        Change::Reverse => frame.reverse(),
        Change::Meta(unit) => frame.set_meta(&before.unit, unit),
        Change::Layer(name, content) => frame.set_vlmeta(name, content),
        Change::NoLayer(name) => frame.remove_vlmeta(name),
    }
}

/// A frame that has slots, after several commits.
fn with_slots(checksums: bool) -> (Disk, Frame) {
    let disk = disk::empty(LAYOUT);
    let options = disk::options().with_checksums(checksums).with_durability(Durability::None);
    let mut frame = disk::create(&disk, LAYOUT, options.with_metalayer("unit", "kelvin")).unwrap();
    frame.vlmetalayers_mut().add("note", b"so that the header says that there are layers").unwrap();
    (0..296).for_each(|seed| frame.append(&noise(seed, CHUNK)).unwrap());
    for seed in 296..300 {
        frame.append(&noise(seed, CHUNK)).unwrap();
        frame.checkpoint().unwrap();
    }
    (disk, frame.commit().unwrap())
}

#[test]
fn a_layer_behind_the_hashes_is_no_conflict() {
    for checksums in [true, false] {
        let (disk, frame) = with_slots(checksums);
        let before = Model::of(&frame);
        let layer = Change::Layer("one", b"by another program".to_vec());
        change_theirs(&disk, &layer, &before);
        let mut frame = disk::edit(&disk, LAYOUT, Durability::None).unwrap();
        let append = Change::Append(noise(1, CHUNK));
        change_ours(&mut frame, &append);
        frame.commit().unwrap();
        let mut expected = before;
        [layer, append].iter().for_each(|change| expected.apply(change));
        assert!(Model::of(&disk::open(&disk, LAYOUT).unwrap()) == expected, "checksums {checksums}");
    }
}

/// In turns, each makes some changes; our handle stays open, or is opened for each turn, and so
/// does a reader.
fn take_turns(seed: u64, checksums: bool, stays_open: bool) {
    let (disk, mut frame) = with_slots(checksums);
    let mut reader = disk::open(&disk, LAYOUT).unwrap();
    let mut model = Model::of(&frame);
    let mut rng = Rng::new(seed);
    for turn in 0..60 {
        let place = format!("turn {turn}, seed {seed}, checksums {checksums}, stays open {stays_open}");
        for _ in 0..rng.below(3) {
            let change = model.any_change(&mut rng);
            change_theirs(&disk, &change, &model);
            model.apply(&change);
        }
        if !stays_open {
            let options = disk::options().with_durability(Durability::None);
            frame = Frame::open_with(disk::location(&disk, LAYOUT).unwrap(), &options.opening()).unwrap();
        }
        frame.refresh().unwrap();
        for _ in 0..rng.below(4) {
            let mut edit = frame.edit().unwrap();
            for _ in 0..=rng.below(2) {
                let change = model.any_change(&mut rng);
                change_ours(&mut edit, &change);
                model.apply(&change);
            }
            frame = edit.commit().unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        reader.refresh().unwrap_or_else(|error| panic!("{place}: {error}"));
        let opened = disk::open(&disk, LAYOUT).unwrap_or_else(|error| panic!("{place}: {error}"));
        for found in [&frame, &reader, &opened] {
            assert!(Model::of(found) == model, "{place}");
        }
        assert!(opened.verify().unwrap().is_good(), "{place}");
    }
}

#[test]
fn any_changes_in_turns_are_what_a_reader_finds() {
    let seeds = if is_long() { 500 } else { 2 };
    for seed in 0..seeds {
        for (checksums, stays_open) in [(true, true), (true, false), (false, true), (false, false)] {
            take_turns(seed, checksums, stays_open);
        }
    }
}
