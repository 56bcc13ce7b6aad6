//! The simulated disk as the storage of a frame.

use blosc_oxide::{
    ArrayEdit, Frame, FrameEdit, FrameLayout, FrameOptions, Location, NdArray, Options, Result, Threads,
    repair::Repair,
    storage::{Directory, DirectoryReader, Durability, ReadAt, Storage},
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::storage::{Disk, DiskFile, Image};

/// The name of the file that a contiguous frame is in.
pub const FILE: &str = "frame";
/// The name of the index of a sparse frame.
pub const INDEX: &str = "chunks.b2frame";

struct OnDisk(DiskFile);

impl ReadAt for OnDisk {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_at(position, buffer)
    }
}

impl Storage for OnDisk {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

/// The readers that come from one opening see each other; there are no others.
struct Reader(Arc<AtomicUsize>);

impl DirectoryReader for Reader {
    fn is_only(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct DirectoryOnDisk(Disk, Arc<AtomicUsize>);

impl DirectoryOnDisk {
    fn new(disk: &Disk) -> Self {
        Self(disk.clone(), Arc::default())
    }
}

impl Directory for DirectoryOnDisk {
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(OnDisk(self.0.open(name)?)))
    }

    fn open_writable(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(OnDisk(self.0.open(name)?)))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(OnDisk(self.0.create(name)?)))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        self.0.exchange(one, other)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.0.names()
    }

    fn reader(&self) -> io::Result<Box<dyn DirectoryReader>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Reader(Arc::clone(&self.1))))
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

/// A disk on which a frame of this layout can be made.
pub fn empty(layout: FrameLayout) -> Disk {
    match layout {
        FrameLayout::Contiguous => Disk::with_image(Image::of_file(FILE, Vec::new())),
        _ => Disk::new(),
    }
}

/// Where the header of the frame is.
pub fn header_file(layout: FrameLayout) -> &'static str {
    match layout {
        FrameLayout::Contiguous => FILE,
        _ => INDEX,
    }
}

/// Options for chunks of 4-byte items.
pub fn options() -> FrameOptions {
    FrameOptions::new(Options::new(4).with_threads(Threads::serial()))
}

/// Where a frame is on the disk.
pub fn location(disk: &Disk, layout: FrameLayout) -> Result<Location> {
    Ok(match layout {
        FrameLayout::Contiguous => Location::storage(OnDisk(disk.open(FILE)?)),
        _ => Location::directory(DirectoryOnDisk::new(disk)),
    })
}

/// Makes a frame, and commits it.
pub fn create(disk: &Disk, layout: FrameLayout, options: FrameOptions) -> Result<FrameEdit> {
    let mut edit = Frame::create(location(disk, layout)?, options)?;
    edit.checkpoint()?;
    Ok(edit)
}

/// Opens a frame for reading.
pub fn open(disk: &Disk, layout: FrameLayout) -> Result<Frame> {
    Frame::open_with(location(disk, layout)?, &options().opening())
}

/// Looks for what is left of a frame.
pub fn repair(disk: &Disk, layout: FrameLayout) -> Result<Repair> {
    match layout {
        FrameLayout::Contiguous => Frame::repair(OnDisk(disk.open(FILE)?), options()),
        _ => Frame::repair_directory(DirectoryOnDisk::new(disk), options()),
    }
}

/// Begins an edit of a frame.
pub fn edit(disk: &Disk, layout: FrameLayout, durability: Durability) -> Result<FrameEdit> {
    Frame::open_with(location(disk, layout)?, &options().with_durability(durability).opening())?.edit()
}

/// Begins an edit of an array.
pub fn edit_array(disk: &Disk, layout: FrameLayout, durability: Durability) -> Result<ArrayEdit> {
    NdArray::open_with(location(disk, layout)?, &options().with_durability(durability).opening())?.edit()
}
