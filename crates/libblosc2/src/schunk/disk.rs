//! Super-chunks whose chunks are stored: the fields follow what is there, and each call that
//! changes something publishes all of it before it returns, or changes nothing.

use crate::code::{self, FAILURE, FILE_OPEN, Outcome};
use crate::frame::{Disk, Frame, Place};
use crate::process::threads;
use crate::structs::{Io, Schunk, Storage};
use crate::{defaults, schunk};
use blosc_oxide::{FrameLayout, Special, SuperChunk};
use c_boundary::memory;
use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Where the header of a frame says how long it is itself, and how long the frame is.
const HEADER_LEN_AT: u64 = 11;
const FRAME_LEN_AT: u64 = 16;
/// The flag of `flags2` that says that chunks keep blocks of any lengths apart.
const VL_BLOCKS: u8 = 1;

/// Opens what is stored at a path.
///
/// # Safety
/// The parameters of `io` are NULL or those of its kind, and stay as long as the super-chunk.
pub(crate) unsafe fn open(path: &CStr, offset: i64, io: Io) -> Outcome<*mut Schunk> {
    // SAFETY: the caller promises it.
    let place = unsafe { Place::new(path, offset, &io, threads::of(defaults::DPARAMS.nthreads)) }?;
    let disk = Disk::open(place)?;
    let mut cparams = super::frames::cparams_of(disk.state())?;
    let mut io = io;
    let contiguous = !disk.place().is_sparse();
    let storage = Storage { contiguous, cparams: &raw mut cparams, io: &raw mut io, ..defaults::STORAGE };
    // SAFETY: the storage points to parameters that live until it returns.
    let made = unsafe { schunk::new(&raw const storage) }?;
    // SAFETY: it was made just now.
    let opened = unsafe { schunk::of_c(made) }.and_then(|fields| {
        fields.attach(disk, path)?;
        fields.mirror_layers().map(drop)
    });
    match opened {
        Ok(()) => Ok(made),
        Err(code) => {
            // SAFETY: it was made above, and nobody has seen it.
            unsafe { schunk::free(made) };
            Err(code)
        }
    }
}

impl Schunk {
    /// Makes a new one that is stored at a path.
    ///
    /// # Safety
    /// As for [`open`].
    pub(super) unsafe fn create(&mut self, path: &CStr, contiguous: bool, io: &Io) -> Outcome<()> {
        let threads = threads::of(self.dparams().nthreads);
        // SAFETY: the caller promises it.
        let place = unsafe { Place::new(path, 0, io, threads) }?;
        let chunks = self.options_of_frame()?;
        let layout = if contiguous { FrameLayout::Contiguous } else { FrameLayout::Sparse };
        self.attach(Disk::create(place, layout, chunks)?, path)
    }

    fn attach(&mut self, disk: Disk, path: &CStr) -> Outcome<()> {
        self.frame = Box::into_raw(Box::new(Frame::Disk(Box::new(disk))));
        // SAFETY: it was made of a box in `begin`.
        let storage = unsafe { memory::exclusive(self.storage) }.ok_or(FILE_OPEN)?;
        storage.urlpath = memory::copy_for_c(path);
        self.mirror();
        Ok(())
    }

    /// What is stored, if it is not in memory.
    pub(crate) fn disk(&self) -> Option<&Disk> {
        // SAFETY: it is NULL, or was made of a box and belongs to this super-chunk.
        match unsafe { memory::shared(self.frame.cast_const()) }? {
            Frame::Disk(disk) => Some(disk),
            Frame::Buffer(_) => None,
        }
    }

    pub(crate) fn disk_mut(&mut self) -> Option<&mut Disk> {
        // SAFETY: it is NULL, or was made of a box and belongs to this super-chunk.
        match unsafe { memory::exclusive(self.frame) }? {
            Frame::Disk(disk) => Some(disk),
            Frame::Buffer(_) => None,
        }
    }

    /// The state of what is stored, if it is not in memory.
    pub(crate) fn stored(&self) -> Option<&SuperChunk> {
        self.disk().map(Disk::state)
    }

    /// Takes notice of what others have committed; whether they have.
    pub(crate) fn catch_up(&mut self) -> Outcome<bool> {
        let Some(disk) = self.disk_mut() else { return Ok(false) };
        if !disk.catch_up()? {
            return Ok(false);
        }
        self.follow()
    }

    /// Lets all fields follow what is stored.
    fn follow(&mut self) -> Outcome<bool> {
        self.mirror();
        if self.mirror_layers()? {
            self.change_tick += 1;
        }
        Ok(true)
    }

    /// Publishes all that `action` changes together, or nothing of it. What is in memory is changed
    /// at once.
    pub(crate) fn together<T>(&mut self, action: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let begun = self.disk_mut().map_or(Ok(false), Disk::begin)?;
        if !begun {
            return action(self);
        }
        let followed = self.follow();
        let done = catch_unwind(AssertUnwindSafe(|| followed.and_then(|_| action(self))));
        let is_good = matches!(done, Ok(Ok(_)));
        let ended = self.disk_mut().map_or(Ok(()), |disk| disk.end(is_good));
        if !is_good || ended.is_err() {
            self.follow()?;
        }
        let value = done.unwrap_or_else(|panic| resume_unwind(panic))?;
        ended.map(|()| value)
    }

    /// Changes what is stored; nothing, where it is in memory.
    pub(super) fn change(&mut self, action: impl FnOnce(&mut SuperChunk) -> blosc_oxide::Result<()>) -> Outcome<()> {
        if self.disk().is_none() {
            return Ok(());
        }
        self.together(|schunk| {
            let edit = schunk.disk_mut().and_then(Disk::edit).ok_or(FAILURE)?;
            action(edit).map_err(|error| code::of(&error))?;
            schunk.mirror();
            Ok(())
        })
    }

    /// Lets the numbers of the struct follow what is stored.
    fn mirror(&mut self) {
        let Some(state) = self.stored() else { return };
        let (count, nbytes, cbytes) = (state.nchunks(), state.nbytes(), state.cbytes());
        let (chunksize, has_vlblocks) = (state.chunksize(), state.has_vlblocks());
        self.nchunks = i64::try_from(count).unwrap_or(i64::MAX);
        self.nbytes = i64::try_from(nbytes).unwrap_or(i64::MAX);
        self.cbytes = i64::try_from(cbytes).unwrap_or(i64::MAX);
        let chunksize = chunksize.and_then(|size| i32::try_from(size).ok());
        self.chunksize = match (count, chunksize) {
            (0, _) => self.chunksize,
            // The only chunk may be the last one, and be shorter than those of before.
            (1, Some(size)) => self.chunksize.max(size),
            (_, size) => size.unwrap_or(0),
        };
        if has_vlblocks {
            self.flags2 |= VL_BLOCKS;
            self.chunksize = 0;
        }
    }

    /// Keeps all others from changing what is stored, where the program has asked for locks.
    pub(crate) fn lock(&mut self) -> Outcome<()> {
        self.disk_mut().map_or(Ok(()), Disk::lock)?;
        self.follow().map(drop)
    }

    pub(crate) fn unlock(&mut self) {
        if let Some(disk) = self.disk_mut() {
            disk.unlock();
        }
    }

    /// How long the stored frame is, if it is in one file.
    pub(crate) fn stored_len(&self) -> Option<Outcome<i64>> {
        let place = self.disk()?.place();
        if place.is_sparse() {
            return None;
        }
        let read = || {
            let mut bytes = [0; 8];
            let file = fs::File::open(place.path()).ok()?;
            file.read_exact_at(&mut bytes, place.offset() + FRAME_LEN_AT).ok()?;
            i64::try_from(u64::from_be_bytes(bytes)).ok()
        };
        Some(read().ok_or(code::FILE_READ))
    }

    /// How long the header of the stored frame is, which positions of chunks are counted from.
    fn stored_header_len(&self) -> Outcome<u64> {
        let place = self.disk().ok_or(FAILURE)?.place();
        let mut bytes = [0; 4];
        let file = fs::File::open(place.path()).map_err(|_| FILE_OPEN)?;
        file.read_exact_at(&mut bytes, place.offset() + HEADER_LEN_AT).map_err(|_| code::FILE_READ)?;
        Ok(u32::from_be_bytes(bytes).into())
    }

    /// Where the chunks are in the frame, as its index says: positions behind the header, numbers
    /// of files, or marks of special values.
    pub(crate) fn offsets(&self) -> Outcome<Vec<i64>> {
        let disk = self.disk().ok_or(FAILURE)?;
        let before = if disk.place().is_sparse() { 0 } else { disk.place().offset() + self.stored_header_len()? };
        let state = disk.state();
        (0..state.nchunks())
            .map(|index| match state.chunk_position(index).map_err(|error| code::of(&error))? {
                Some(position) => i64::try_from(position.saturating_sub(before)).map_err(|_| FAILURE),
                None => {
                    let special = state.chunk_special(index).map_err(|error| code::of(&error))?;
                    Ok(i64::MIN | (special.map_or(0, mark_of) << SPECIAL_SHIFT))
                }
            })
            .collect()
    }
}

/// Where the index has the number of a special value.
const SPECIAL_SHIFT: u32 = 56;

/// The number of a special value.
fn mark_of(special: Special) -> i64 {
    match special {
        Special::Zeros => 1,
        Special::NaN => 2,
        Special::Value => 3,
        _ => 4,
    }
}
