//! Whenever power is cut or the process is killed, an array has shape and items of before the call
//! or of after it.
#![allow(clippy::print_stdout, reason = "how much was checked is worth knowing")]

use crate::common::content::noise;
use crate::common::disk;
use blosc_oxide::{
    ArrayEdit, ArrayOptions, ArrayReader, AxisSelection, FrameLayout, FrameOptions, NdArray, Options, Result, Threads,
    storage::Durability,
};
use testkit::storage::{Disk, Image, Log};

/// At how many bytes a write is cut short, other than one to the header.
const MAX_CUTS: usize = 40;
const LAYOUTS: [FrameLayout; 2] = [FrameLayout::Contiguous, FrameLayout::Sparse];

/// Everything that a user sees of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    shape: Vec<u64>,
    items: Vec<u8>,
    note: Option<Vec<u8>>,
}

impl Content {
    fn of(array: &ArrayReader) -> Result<Self> {
        Ok(Self {
            shape: array.shape().to_vec(),
            items: array.to_vec()?,
            note: array.super_chunk().vlmetalayers().get("note")?,
        })
    }
}

type Edit = (&'static str, fn(&mut ArrayEdit) -> Result<()>);

/// Arrays of 7 x 10 items of 4 bytes, in chunks of 3 x 4.
const EDITS: &[Edit] = &[
    ("grow", |array| array.resize(&[9, 13])),
    ("cut", |array| array.resize(&[4, 3])),
    ("grow one way and cut the other", |array| array.resize(&[12, 2])),
    ("cut to nothing", |array| array.resize(&[0, 10])),
    ("append rows", |array| array.append(0, &noise(1, 2 * 10 * 4))),
    ("append columns", |array| array.append(1, &noise(2, 7 * 5 * 4))),
    ("insert whole chunks", |array| array.insert(0, 3, &noise(3, 3 * 10 * 4))),
    ("insert a column", |array| array.insert(1, 1, &noise(4, 7 * 4))),
    ("delete whole chunks", |array| array.delete(1, 4..8)),
    ("delete rows", |array| array.delete(0, 1..3)),
    ("write", |array| array.write(&[(2..5).into(), AxisSelection::All], &noise(5, 3 * 10 * 4))),
    ("scatter", |array| array.scatter(&[0, 0, 6, 9, 3, 3], &noise(6, 12))),
    ("add an axis", |array| array.expand_dims(1)),
    ("all together", |array| {
        array.append(0, &noise(7, 10 * 4))?;
        array.write(&[AxisSelection::Index(7), AxisSelection::All], &noise(8, 40))?;
        array.delete(1, 0..1)?;
        array.vlmetalayers_mut().update("note", b"changed")
    }),
];

struct Recording {
    layout: FrameLayout,
    name: &'static str,
    log: Log,
    before: Option<Content>,
    after: Content,
    ends: usize,
}

fn options(durability: Durability) -> ArrayOptions {
    let frame = FrameOptions::default().with_durability(durability).with_metalayer("unit", "kelvin");
    ArrayOptions::new(&[7, 10], Options::new(4).with_threads(Threads::serial()))
        .with_dtype("<u4")
        .with_chunks(&[3, 4])
        .with_blocks(&[2, 2])
        .with_frame(frame)
}

fn create(layout: FrameLayout, durability: Durability) -> (Disk, NdArray) {
    let disk = disk::empty(layout);
    let place = disk::location(&disk, layout).unwrap();
    let array = NdArray::create_with_data(place, &options(durability), &noise(0, 280)).unwrap();
    (disk, array)
}

impl Recording {
    fn of_creation(layout: FrameLayout, durability: Durability) -> Self {
        let (disk, array) = create(layout, durability);
        let after = Content::of(&array).unwrap();
        let ends = disk.recorded();
        drop(array);
        assert_eq!(disk.recorded(), ends, "dropping writes what was committed already");
        Self { layout, name: "creation", log: disk.log(), before: None, after, ends }
    }

    fn of_edit(layout: FrameLayout, durability: Durability, (name, edit): Edit) -> Self {
        let (disk, array) = create(layout, durability);
        let mut array = array.edit().unwrap();
        array.vlmetalayers_mut().add("note", b"as it was").unwrap();
        array.commit().unwrap();
        let disk = Disk::with_image(disk.image());
        let mut array = disk::edit_array(&disk, layout, durability).unwrap();
        let before = Some(Content::of(&array).unwrap());
        edit(&mut array).and_then(|()| array.checkpoint().map(drop)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let after = Content::of(&array).unwrap();
        let ends = disk.recorded();
        Self { layout, name, log: disk.log(), before, after, ends }
    }

    /// Checks what a crash after so many calls has left; whether it is what was there before.
    fn check(&self, calls: usize, image: &Image) -> bool {
        let place = format!("{} on {:?}, after {calls} of {} calls", self.name, self.layout, self.log.calls.len());
        let opened = disk::open(&Disk::with_image(image.clone()), self.layout).and_then(NdArray::from_frame);
        let found = match (&opened, &self.before) {
            (Ok(array), _) => Some(Content::of(array).unwrap_or_else(|error| panic!("{place}: {error}"))),
            (Err(_), None) => None,
            (Err(error), Some(_)) => panic!("{place}: {error}"),
        };
        let is_after = found.as_ref() == Some(&self.after);
        assert!(is_after || (found == self.before && calls < self.ends), "{place}: it is {found:?}");
        drop(opened);
        if found.is_some() {
            go_on(
                &place,
                &Disk::with_image(image.clone()),
                self.layout,
                if is_after { Some(&self.after) } else { self.before.as_ref() },
            );
        }
        !is_after
    }
}

/// Checks that the array can be extended.
fn go_on(place: &str, disk: &Disk, layout: FrameLayout, content: Option<&Content>) {
    let Some(content) = content else { return };
    let array = disk::edit_array(disk, layout, Durability::Fsync);
    let mut array = array.unwrap_or_else(|error| panic!("{place}: {error}"));
    let layer = content.shape[1..].iter().product::<u64>() * 4;
    let data = noise(9, usize::try_from(layer).unwrap());
    array
        .append(0, &data)
        .and_then(|()| array.checkpoint().map(drop))
        .unwrap_or_else(|error| panic!("{place}: {error}"));
    drop(array);
    let array = NdArray::from_frame(disk::open(disk, layout).unwrap()).unwrap();
    assert_eq!(array.to_vec().unwrap(), [&content.items[..], &data].concat(), "{place}: after appending");
}

fn every_recording(durability: Durability, check: impl Fn(&Recording, &mut dyn FnMut(bool))) {
    for layout in LAYOUTS {
        let (mut images, mut before) = (0, 0);
        let creation = std::iter::once(Recording::of_creation(layout, durability));
        let edits = EDITS.iter().map(|&edit| Recording::of_edit(layout, durability, edit));
        for recording in creation.chain(edits) {
            check(&recording, &mut |is_before| {
                images += 1;
                before += usize::from(is_before);
            });
        }
        println!("{layout:?}: {images} images, {before} of them as before");
        // Else nothing was interrupted.
        assert!(before > 0 && before < images);
    }
}

#[test]
fn power_cut() {
    every_recording(Durability::Fsync, |recording, count| {
        recording.log.power_cuts(1, &mut |calls, image| count(recording.check(calls, image)));
    });
}

#[test]
fn killed() {
    every_recording(Durability::None, |recording, count| {
        let name = disk::header_file(recording.layout);
        recording.log.kills(name, 2, MAX_CUTS, &mut |calls, image| count(recording.check(calls, image)));
    });
}

#[test]
fn torn_header_is_recovered() {
    for layout in [FrameLayout::Contiguous] {
        for &edit in EDITS {
            let recording = Recording::of_edit(layout, Durability::Fsync, edit);
            recording.log.torn_starts(disk::header_file(layout), &mut |calls, image| {
                recording.check(calls, image);
            });
        }
    }
}
