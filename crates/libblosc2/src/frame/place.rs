//! Where the frame of a program is, and how it is read and written.

use crate::code::{self, FILE_OPEN, FRAME_TYPE, INVALID_PARAM, Outcome, PLUGIN_IO};
use crate::io::{self, Callbacks, mmap};
use crate::structs::Io;
use blosc_oxide::storage::{Durability, FileStorage, MemoryStorage};
use blosc_oxide::{Frame, FrameLayout, FrameOptions, Limits, Location, OpenOptions, Threads};
use c_boundary::variables;
use std::ffi::{CStr, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a path may start with.
const SCHEME: &[u8] = b"file:///";
/// A chunk can be as long, and its data, too.
const LARGEST: usize = 1 << 31;

/// Where a frame is.
pub(crate) struct Place {
    path: PathBuf,
    /// Where in the file the frame starts.
    offset: u64,
    means: Means,
    options: OpenOptions,
}

/// How a file is read and written.
enum Means {
    Files,
    /// Through a map, in this mode.
    Map(mmap::Mode, Option<MemoryStorage>),
    /// By the functions of the program.
    Program(Callbacks),
}

/// A path as programs give it.
pub(crate) fn plain_path(path: &CStr) -> &Path {
    let bytes = path.to_bytes();
    Path::new(OsStr::from_bytes(bytes.strip_prefix(SCHEME).unwrap_or(bytes)))
}

impl Place {
    /// The place that a path and a kind of input and output stand for.
    ///
    /// # Safety
    /// The parameters of `io` are NULL, or those of its kind, and stay as long as the place is
    /// used.
    pub(crate) unsafe fn new(path: &CStr, offset: i64, io: &Io, threads: Threads) -> Outcome<Self> {
        let offset = u64::try_from(offset).map_err(|_| INVALID_PARAM)?;
        let means = match io.id {
            io::FILESYSTEM => Means::Files,
            // SAFETY: the caller promises it.
            io::MAP => Means::Map(unsafe { mmap::mode_of(io.params) }?, None),
            // SAFETY: the caller promises it.
            id => Means::Program(unsafe { Callbacks::new(id, io.params) }.ok_or(PLUGIN_IO)?),
        };
        // SAFETY: the caller promises it.
        let asks = io.id == io::FILESYSTEM && unsafe { io::wants_locking(io.params) };
        let locking = matches!(means, Means::Files) && offset == 0 && (asks || variable_is_on("BLOSC_LOCKING"));
        let options = OpenOptions::new()
            .with_limits(Limits::new().with_max_allocation(LARGEST))
            .with_durability(Durability::None)
            .with_threads(threads)
            .with_locking(locking);
        // Whoever locks waits for others as long as it takes.
        let options = if locking { options.with_lock_timeout(None) } else { options };
        if let Means::Map(mode, _) = &means {
            // SAFETY: the caller promises it.
            unsafe { mmap::say(plain_path(path), *mode, io.params) };
        }
        let mut place = Self { path: plain_path(path).to_owned(), offset, means, options };
        place.copy_if_private()?;
        Ok(place)
    }

    /// Changes of a private map stay in memory.
    fn copy_if_private(&mut self) -> Outcome<()> {
        if let Means::Map(mmap::Mode::Private, copy) = &mut self.means {
            let bytes = fs::read(&self.path).map_err(|_| FILE_OPEN)?;
            *copy = Some(MemoryStorage::new(bytes));
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_locking(&self) -> bool {
        self.options.locking()
    }

    pub(crate) fn is_sparse(&self) -> bool {
        self.path.is_dir()
    }

    /// Where in the file the frame starts.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The newest state of what is there.
    pub(crate) fn open(&self) -> Outcome<Frame> {
        let layout = if self.is_sparse() { FrameLayout::Sparse } else { FrameLayout::Contiguous };
        Frame::open_with(self.location(layout)?, &self.options).map_err(|error| code::of(&error))
    }

    /// Where the library looks for it, or makes it.
    pub(crate) fn location(&self, layout: FrameLayout) -> Outcome<Location> {
        let source = || FileStorage::open(&self.path).map_err(|_| FILE_OPEN);
        match &self.means {
            _ if self.offset > 0 && layout == FrameLayout::Sparse => Err(INVALID_PARAM),
            Means::Program(callbacks) if layout == FrameLayout::Sparse => {
                Ok(Location::directory(callbacks.in_directory(&self.path)))
            }
            Means::Program(callbacks) if self.offset > 0 => {
                Ok(Location::source_at(callbacks.at(&self.path)?, self.offset))
            }
            Means::Program(callbacks) => Ok(Location::storage(callbacks.at(&self.path)?)),
            Means::Map(..) if layout == FrameLayout::Sparse => Err(FRAME_TYPE),
            Means::Map(mmap::Mode::Private, Some(copy)) if self.offset > 0 => {
                Ok(Location::source_at(copy.clone(), self.offset))
            }
            Means::Map(mmap::Mode::Private, Some(copy)) => Ok(Location::storage(copy.clone())),
            Means::Map(mmap::Mode::Read, _) => Ok(Location::source_at(source()?, self.offset)),
            _ if self.offset > 0 => Ok(Location::source_at(source()?, self.offset)),
            _ => Ok(Location::Path(self.path.clone())),
        }
    }

    /// Makes what the library does not make itself for a new frame, where there must be nothing.
    pub(crate) fn prepare(&self, layout: FrameLayout) -> Outcome<()> {
        match &self.means {
            Means::Map(mode, _) if *mode != mmap::Mode::Create => Err(FILE_OPEN),
            Means::Program(_) if self.path.exists() => Err(FILE_OPEN),
            Means::Program(callbacks) if layout == FrameLayout::Contiguous => callbacks.at(&self.path)?.empty(),
            Means::Program(_) => fs::create_dir(&self.path).map_err(|_| FILE_OPEN),
            _ => Ok(()),
        }
    }

    /// The options of a new frame here.
    pub(crate) fn new_options(&self, options: FrameOptions) -> FrameOptions {
        options
            .with_limits(self.options.limits())
            .with_durability(self.options.durability())
            .with_locking(self.options.locking())
            .with_lock_timeout(self.options.lock_timeout())
            .with_checksums(variable_is_on("BLOSC_OXIDE_CHECKSUMS"))
    }
}

/// Whether a variable of the environment is set, to anything but 0.
fn variable_is_on(name: &str) -> bool {
    variables::text(name).is_some_and(|value| !value.is_empty() && value != b"0")
}
