//! Frames with a bit of everything, and the edits that are done to them.

use super::content::noise;
use super::disk;
use blosc_oxide::{FrameEdit, FrameLayout, FrameOptions, Result, Special, storage::Durability};
use testkit::storage::Disk;

/// The size of the data of a chunk.
pub const CHUNK: usize = 400;

/// Which frame is edited.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub layout: FrameLayout,
    /// Whether its chunks are of different sizes.
    pub is_variable: bool,
    /// Whether its header takes several sectors.
    pub has_long_header: bool,
    pub checksums: bool,
    /// Whether it has so many chunks, and is committed so often by the handle that edits it, that
    /// index and trailer are in slots.
    pub has_slots: bool,
}

/// How many special chunks there are in a frame with slots: it must have 256.
const MANY: u64 = 256;

impl Kind {
    pub fn options(self) -> FrameOptions {
        let options = disk::options().with_checksums(self.checksums).with_metalayer("unit", "kelvin");
        if self.has_long_header { options.with_metalayer("long", noise(99, 1500)) } else { options }
    }

    /// A disk with such a frame: stored chunks, special ones, metalayers of both kinds, bytes that
    /// no longer count.
    pub fn disk(self) -> Disk {
        let disk = disk::empty(self.layout);
        let options = self.options().with_durability(Durability::None);
        let mut frame = disk::create(&disk, self.layout, options).unwrap();
        self.fill(&mut frame).unwrap();
        drop(frame);
        Disk::with_image(disk.image())
    }

    fn fill(self, frame: &mut FrameEdit) -> Result<()> {
        for seed in 0..5 {
            frame.append(&noise(seed, CHUNK))?;
        }
        let zeros = if self.has_slots { MANY } else { 1 };
        frame.fill(Special::Zeros, zeros * CHUNK as u64, CHUNK)?;
        frame.fill(Special::NaN, CHUNK as u64, CHUNK)?;
        frame.append(&[7; CHUNK])?;
        frame.checkpoint()?;
        if self.is_variable {
            frame.insert(2, &noise(5, 2 * CHUNK))?;
        }
        frame.update(1, &noise(6, CHUNK))?;
        frame.delete(3)?;
        frame.append(&noise(7, 120))?;
        frame.vlmetalayers_mut().add("note", &noise(8, 40))?;
        frame.vlmetalayers_mut().add("history", &noise(9, 700))?;
        frame.checkpoint().map(drop)
    }
}

/// Commits until both slots are written, if the frame is to have some.
pub fn warm_up(kind: Kind, frame: &mut FrameEdit) -> Result<()> {
    let commits = if kind.has_slots { 4 } else { 0 };
    (0..commits).try_for_each(|seed| {
        frame.vlmetalayers_mut().update("note", &noise(seed, 40))?;
        frame.checkpoint().map(drop)
    })
}

/// An edit and its name; it commits what it does.
pub type Edit = (&'static str, fn(&mut FrameEdit) -> Result<()>);

/// Every kind of edit.
pub const EDITS: &[Edit] = &[
    ("append", |frame| {
        frame.append(&noise(20, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("append several", |frame| {
        for seed in 30..36 {
            frame.append(&noise(seed, CHUNK))?;
        }
        frame.checkpoint().map(drop)
    }),
    ("append special", |frame| {
        frame.fill(Special::Zeros, 3 * CHUNK as u64, CHUNK)?;
        frame.checkpoint().map(drop)
    }),
    ("insert at the front", |frame| {
        frame.insert(0, &noise(21, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("insert in the middle", |frame| {
        frame.insert(3, &noise(22, CHUNK))?;
        frame.insert(4, &[0; CHUNK])?;
        frame.checkpoint().map(drop)
    }),
    ("insert one of another size", |frame| {
        frame.insert(1, &noise(23, 3 * CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("update", |frame| {
        frame.update(0, &noise(24, CHUNK))?;
        frame.update(2, &noise(25, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("update with another size", |frame| {
        frame.update(1, &noise(26, 100))?;
        frame.checkpoint().map(drop)
    }),
    ("update to a special one and back", |frame| {
        frame.update(0, &[0; CHUNK])?;
        frame.update(4, &noise(27, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("update twice before a commit", |frame| {
        frame.update(0, &noise(28, CHUNK))?;
        frame.update(0, &noise(29, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("write a part", |frame| {
        frame.write(350, &noise(40, 900))?;
        frame.checkpoint().map(drop)
    }),
    ("delete the first", |frame| {
        frame.delete(0)?;
        frame.checkpoint().map(drop)
    }),
    ("delete the last", |frame| {
        let last = frame.nchunks() - 1;
        frame.delete(last)?;
        frame.checkpoint().map(drop)
    }),
    ("delete all", |frame| {
        while frame.nchunks() > 0 {
            frame.delete(0)?;
        }
        frame.checkpoint().map(drop)
    }),
    ("delete and append", |frame| {
        frame.delete(1)?;
        frame.append(&noise(41, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("reorder", |frame| {
        let order: Vec<usize> = (0..frame.nchunks()).rev().collect();
        frame.reorder(&order)?;
        frame.checkpoint().map(drop)
    }),
    ("add a metalayer", |frame| {
        frame.metalayers_mut().add("colour", "blue")?;
        frame.checkpoint().map(drop)
    }),
    ("add a metalayer over many chunks", |frame| {
        frame.metalayers_mut().add("map", noise(42, 1800))?;
        frame.checkpoint().map(drop)
    }),
    ("update a metalayer", |frame| {
        frame.metalayers_mut().update("unit", "newton")?;
        frame.checkpoint().map(drop)
    }),
    ("grow a metalayer", |frame| {
        frame.metalayers_mut().update("unit", noise(43, 700))?;
        frame.checkpoint().map(drop)
    }),
    ("shrink a metalayer", |frame| {
        frame.metalayers_mut().update("unit", "m")?;
        frame.checkpoint().map(drop)
    }),
    ("remove a metalayer", |frame| {
        frame.metalayers_mut().remove("unit")?;
        frame.checkpoint().map(drop)
    }),
    ("add a variable-length metalayer", |frame| {
        frame.vlmetalayers_mut().add("log", &noise(44, 900))?;
        frame.checkpoint().map(drop)
    }),
    ("update a variable-length metalayer", |frame| {
        frame.vlmetalayers_mut().update("note", &noise(45, 300))?;
        frame.checkpoint().map(drop)
    }),
    ("remove a variable-length metalayer", |frame| {
        frame.vlmetalayers_mut().remove("history")?;
        frame.checkpoint().map(drop)
    }),
    ("all at once", |frame| {
        frame.append(&noise(46, 100))?;
        frame.insert(1, &noise(47, CHUNK))?;
        frame.delete(0)?;
        frame.metalayers_mut().update("unit", noise(48, 1000))?;
        frame.vlmetalayers_mut().update("note", b"all")?;
        frame.checkpoint().map(drop)
    }),
    ("compact", |edit| edit.compact().map(drop)),
];

/// Several commits in a row, each on what the one before has left.
pub const ROW: &[Edit] = &[
    ("append", |frame| {
        frame.append(&noise(50, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("grow the header", |frame| {
        frame.metalayers_mut().add("more", noise(51, 600))?;
        frame.checkpoint().map(drop)
    }),
    ("append after that", |frame| {
        frame.append(&noise(52, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("change metalayers in place", |frame| {
        frame.metalayers_mut().update("more", noise(53, 600))?;
        frame.delete(0)?;
        frame.checkpoint().map(drop)
    }),
    ("shrink the header", |frame| {
        frame.metalayers_mut().remove("more")?;
        frame.checkpoint().map(drop)
    }),
    ("update", |frame| {
        frame.update(1, &noise(54, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("compact", |edit| edit.compact().map(drop)),
    ("append after compact", |frame| {
        frame.append(&noise(55, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("commit what has not changed", |frame| {
        frame.metalayers_mut();
        frame.checkpoint().map(drop)
    }),
];

const SMALL: Edit = ("append a small one", |frame| {
    let byte = u8::try_from(frame.nchunks()).unwrap_or(1);
    frame.append(&[byte; CHUNK])?;
    frame.checkpoint().map(drop)
});
const NOTE: Edit = ("write a note", |frame| {
    let note = noise(60 + frame.nbytes(), 40);
    frame.vlmetalayers_mut().update("note", &note)?;
    frame.checkpoint().map(drop)
});
const REPLACE: Edit = ("replace the first", |frame| {
    let data = noise(70 + frame.nbytes(), CHUNK);
    frame.update(0, &data)?;
    frame.checkpoint().map(drop)
});

/// Small commits, of which each writes where older ones have been.
pub const REUSING: &[Edit] =
    &[SMALL, NOTE, SMALL, SMALL, NOTE, NOTE, NOTE, SMALL, REPLACE, SMALL, NOTE, SMALL, SMALL, REPLACE, NOTE];

/// What a second process does to what it finds: it uses what room there is.
pub const SUCCEEDING: &[Edit] = &[
    SMALL,
    NOTE,
    ("update the last", |frame| {
        let last = frame.nchunks() - 1;
        frame.update(last, &noise(80, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
];

/// Several commits in a row, of a frame that loses all chunks and gets new ones.
pub const EMPTYING: &[Edit] = &[
    ("delete all", |frame| {
        while frame.nchunks() > 0 {
            frame.delete(0)?;
        }
        frame.checkpoint().map(drop)
    }),
    ("add a variable-length metalayer", |frame| {
        frame.vlmetalayers_mut().add("log", &noise(70, 900))?;
        frame.checkpoint().map(drop)
    }),
    ("grow the header", |frame| {
        frame.metalayers_mut().add("more", noise(71, 600))?;
        frame.checkpoint().map(drop)
    }),
    ("shrink the header", |frame| {
        frame.metalayers_mut().remove("more")?;
        frame.checkpoint().map(drop)
    }),
    ("append", |frame| {
        frame.append(&noise(72, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
    ("delete all, and shrink the header", |frame| {
        frame.delete(0)?;
        frame.metalayers_mut().update("unit", "m")?;
        frame.checkpoint().map(drop)
    }),
    ("compact", |edit| edit.compact().map(drop)),
    ("append again", |frame| {
        frame.append(&noise(73, CHUNK))?;
        frame.checkpoint().map(drop)
    }),
];
