//! The simulated disk as the storage of a frame.

use blosc_oxide::{
    Frame, FrameLayout, FrameOptions, Location, Options, Result, Threads,
    repair::Repair,
    storage::{Directory, DirectoryReader, Durability, ReadAt, Storage},
};
use std::io;
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
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(position, bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}

/// The tests of a simulated disk have no other readers.
struct OnlyReader;

impl DirectoryReader for OnlyReader {
    fn is_only(&self) -> bool {
        true
    }
}

struct DirectoryOnDisk(Disk);

impl Directory for DirectoryOnDisk {
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(OnDisk(self.0.open(name)?)))
    }

    fn open_writable(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(OnDisk(self.0.open(name)?)))
    }

    fn create(&mut self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(OnDisk(self.0.create(name)?)))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn exchange(&mut self, one: &str, other: &str) -> io::Result<()> {
        self.0.exchange(one, other)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.0.names()
    }

    fn reader(&self) -> io::Result<Box<dyn DirectoryReader>> {
        Ok(Box::new(OnlyReader))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}

/// A disk on which a frame of this layout can be made.
pub fn empty(layout: FrameLayout) -> Disk {
    match layout {
        FrameLayout::Contiguous => Disk::with_image(Image::of_file(FILE, Vec::new())),
        FrameLayout::Sparse => Disk::new(),
    }
}

/// Where the header of the frame is.
pub fn header_file(layout: FrameLayout) -> &'static str {
    match layout {
        FrameLayout::Contiguous => FILE,
        FrameLayout::Sparse => INDEX,
    }
}

/// Options for chunks of 4-byte items.
pub fn options() -> FrameOptions {
    FrameOptions::new(Options::new(4).with_threads(Threads::serial()))
}

/// Makes a frame.
pub fn create(disk: &Disk, layout: FrameLayout, options: FrameOptions) -> Result<Frame> {
    match layout {
        FrameLayout::Contiguous => Frame::create_in(OnDisk(disk.open(FILE)?), options),
        FrameLayout::Sparse => Frame::create_in_directory(DirectoryOnDisk(disk.clone()), options),
    }
}

/// The disk as the place of a new array.
pub fn place(disk: &Disk, layout: FrameLayout) -> Location {
    match layout {
        FrameLayout::Contiguous => Location::storage(OnDisk(disk.open(FILE).unwrap())),
        FrameLayout::Sparse => Location::directory(DirectoryOnDisk(disk.clone())),
    }
}

/// Opens a frame for reading.
pub fn open(disk: &Disk, layout: FrameLayout) -> Result<Frame> {
    match layout {
        FrameLayout::Contiguous => Frame::open_at(OnDisk(disk.open(FILE)?), 0, options()),
        FrameLayout::Sparse => Frame::open_directory(DirectoryOnDisk(disk.clone()), options()),
    }
}

/// Looks for what is left of a frame.
pub fn repair(disk: &Disk, layout: FrameLayout) -> Result<Repair> {
    match layout {
        FrameLayout::Contiguous => Frame::repair(OnDisk(disk.open(FILE)?), options()),
        FrameLayout::Sparse => Frame::repair_directory(DirectoryOnDisk(disk.clone()), options()),
    }
}

/// Opens a frame for reading and writing.
pub fn open_writable(disk: &Disk, layout: FrameLayout, durability: Durability) -> Result<Frame> {
    let options = options().with_durability(durability);
    match layout {
        FrameLayout::Contiguous => Frame::open_in(OnDisk(disk.open(FILE)?), options),
        FrameLayout::Sparse => Frame::open_directory_writable(DirectoryOnDisk(disk.clone()), options),
    }
}
