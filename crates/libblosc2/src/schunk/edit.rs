//! Changing the chunks of a super-chunk.

use super::chunks;
use crate::code::{
    CHUNK_APPEND, DATA, FRAME_SPECIAL, INVALID_PARAM, MEMORY_ALLOC, Outcome, SCHUNK_COPY, SCHUNK_SPECIAL,
};
use crate::exports::chunks::special_of;
use crate::exports::contexts;
use crate::structs::{Schunk, Storage};
use crate::{defaults, schunk};
use blosc_oxide::Special;
use c_boundary::memory;
use std::ffi::c_void;

const MAX_OVERHEAD: i32 = 32;

/// How a chunk that C gives becomes the super-chunk's.
#[derive(Clone, Copy)]
pub(crate) struct Given {
    pub(crate) chunk: *mut u8,
    /// Whether it stays the program's, and a copy is taken.
    pub(crate) copy: bool,
}

impl Given {
    /// The chunk as one of the super-chunk's.
    fn take(self, bytes: &[u8]) -> Outcome<*mut u8> {
        let chunk = if self.copy { memory::bytes_for_c(bytes) } else { self.chunk };
        if chunk.is_null() { Err(MEMORY_ALLOC) } else { Ok(chunk) }
    }

    /// The chunk has been stored: one that was given away is freed.
    fn spend(self) {
        if !self.copy {
            // SAFETY: by the contract of the functions that get one, it comes from `malloc`, and is
            // nobody else's.
            unsafe { memory::free(self.chunk) };
        }
    }
}

impl Schunk {
    /// Appends a chunk; the number of chunks then.
    ///
    /// # Safety
    /// The chunk is one, or NULL; if it is not copied, it comes from `malloc` and is nobody else's.
    pub(crate) unsafe fn append(&mut self, given: Given) -> Outcome<i64> {
        self.check_owner()?;
        // SAFETY: the caller promises it.
        let (bytes, header) = unsafe { chunks::given(given.chunk) }?;
        if self.disk().is_some() {
            self.change(|stored| stored.append_chunk(bytes))?;
            given.spend();
            self.current_nchunk = self.nchunks - 1;
            return Ok(self.nchunks);
        }
        let count = self.count();
        let last = count.checked_sub(1).map(|last| self.header(last)).transpose()?;
        let chunk = given.take(bytes)?;
        self.put(count, chunk)?;
        self.current_nchunk = self.nchunks - 1;
        self.count_appended(&header, last.map(|last| last.nbytes()));
        Ok(self.nchunks)
    }

    /// Puts a chunk in front of number `nchunk`.
    ///
    /// # Safety
    /// As for [`append`](Self::append).
    pub(crate) unsafe fn insert(&mut self, nchunk: i64, given: Given) -> Outcome<i64> {
        if nchunk == self.nchunks {
            // SAFETY: the caller promises it.
            return unsafe { self.append(given) };
        }
        self.check_owner()?;
        let index = self.index(nchunk)?;
        // SAFETY: the caller promises it.
        let (bytes, header) = unsafe { chunks::given(given.chunk) }?;
        if self.disk().is_some() {
            self.change(|stored| stored.insert_chunk(index, bytes))?;
            given.spend();
            self.current_nchunk = nchunk;
            return Ok(self.nchunks);
        }
        let chunk = given.take(bytes)?;
        self.put(index, chunk)?;
        self.current_nchunk = nchunk;
        self.add_sizes(&header);
        self.check_sizes()?;
        Ok(self.nchunks)
    }

    /// Puts a chunk in the place of number `nchunk`.
    ///
    /// # Safety
    /// As for [`append`](Self::append).
    pub(crate) unsafe fn update(&mut self, nchunk: i64, given: Given) -> Outcome<i64> {
        let index = self.index(nchunk)?;
        // SAFETY: the caller promises it.
        let (bytes, header) = unsafe { chunks::given(given.chunk) }?;
        if self.disk().is_some() {
            self.change(|stored| stored.update_chunk(index, bytes))?;
            given.spend();
            self.current_nchunk = nchunk;
            return Ok(self.nchunks);
        }
        let old = self.header(index)?;
        if !given.copy && given.chunk == self.pointer(index) {
            return Err(INVALID_PARAM);
        }
        let chunk = given.take(bytes)?;
        self.replace(index, chunk);
        self.current_nchunk = nchunk;
        self.take_sizes(&old);
        self.add_sizes(&header);
        if old.nbytes() != header.nbytes() {
            self.check_sizes()?;
        }
        Ok(self.nchunks)
    }

    /// Takes number `nchunk` away.
    pub(crate) fn delete(&mut self, nchunk: i64) -> Outcome<i64> {
        self.check_owner()?;
        let index = self.index(nchunk)?;
        if self.disk().is_some() {
            self.change(|stored| stored.delete(index))?;
            return Ok(self.nchunks);
        }
        let old = self.header(index)?;
        self.remove(index);
        self.take_sizes(&old);
        Ok(self.nchunks)
    }

    /// Compresses a buffer, and appends the chunk.
    ///
    /// # Safety
    /// `src` is NULL or has `nbytes` bytes; with a prefilter it is what the program says it is.
    pub(crate) unsafe fn append_buffer(&mut self, src: *const c_void, nbytes: i32) -> Outcome<i64> {
        // SAFETY: the caller promises it.
        let chunk = unsafe { self.compressed(self.nchunks, src, nbytes) }?;
        // SAFETY: it is a chunk.
        unsafe { self.append(Given { chunk: chunk.as_ptr().cast_mut(), copy: true }) }
    }

    /// The chunk of a buffer that is to become number `nchunk`.
    ///
    /// # Safety
    /// As for [`append_buffer`](Self::append_buffer).
    pub(crate) unsafe fn compressed(&mut self, nchunk: i64, src: *const c_void, nbytes: i32) -> Outcome<Vec<u8>> {
        let room = nbytes.checked_add(MAX_OVERHEAD).filter(|_| nbytes >= 0).ok_or(INVALID_PARAM)?;
        let mut chunk = vec![0; usize::try_from(room).map_err(|_| INVALID_PARAM)?];
        let writer = self.writer(nchunk)?;
        // SAFETY: the caller promises it, and there is so much room.
        let len = unsafe { contexts::compress(writer, (src, nbytes), (chunk.as_mut_ptr().cast(), room)) }?;
        match usize::try_from(len) {
            Ok(len) if len > 0 => {
                chunk.truncate(len);
                Ok(chunk)
            }
            _ => Err(CHUNK_APPEND),
        }
    }

    /// Puts the chunks into another order.
    pub(crate) fn reorder(&mut self, order: &[i64]) -> Outcome<()> {
        let count = self.count();
        let mut seen = vec![false; count];
        let mut places = Vec::with_capacity(count);
        for &nchunk in order {
            let index = usize::try_from(nchunk).ok().filter(|&index| index < count).ok_or(DATA)?;
            if std::mem::replace(&mut seen[index], true) {
                return Err(DATA);
            }
            places.push(index);
        }
        if self.disk().is_some() {
            return self.change(|stored| stored.reorder(&places));
        }
        self.order(&places);
        self.check_sizes()
    }

    /// Makes an empty super-chunk one of a special value.
    pub(crate) fn fill_special(&mut self, nitems: i64, special: i32, chunksize: i32) -> Outcome<i64> {
        if self.nchunks != 0 {
            return Err(FRAME_SPECIAL);
        }
        if nitems < 0 || chunksize <= 0 {
            return Err(INVALID_PARAM);
        }
        let special = match special {
            1 => Special::Zeros,
            2 => Special::NaN,
            4 => Special::Uninit,
            _ => return Err(SCHUNK_SPECIAL),
        };
        if chunksize % self.typesize.max(1) != 0 {
            return Err(SCHUNK_SPECIAL);
        }
        let mut rest = nitems.checked_mul(self.typesize.into()).ok_or(INVALID_PARAM)?;
        if self.disk().is_some() {
            self.change(|stored| stored.fill(special, rest.unsigned_abs(), chunksize.unsigned_abs() as usize))?;
            self.chunksize = chunksize;
            return Ok(self.nchunks);
        }
        let cparams = self.cparams();
        self.chunksize = chunksize;
        while rest > 0 {
            let nbytes = rest.min(chunksize.into());
            let chunk = special_of(&cparams, special, i32::try_from(nbytes).unwrap_or(chunksize))?;
            // SAFETY: it is a chunk.
            unsafe { self.append(Given { chunk: chunk.as_ptr().cast_mut(), copy: true }) }?;
            rest -= nbytes;
        }
        Ok(self.nchunks)
    }
}

impl Schunk {
    /// Another one with the same data and metalayers.
    ///
    /// # Safety
    /// As for `schunk::new`.
    pub(crate) unsafe fn copy(&mut self, storage: *const Storage) -> Outcome<*mut Self> {
        // SAFETY: the caller promises it.
        let mut asked = unsafe { memory::shared(storage) }.copied().unwrap_or(defaults::STORAGE);
        let mut own = self.cparams();
        if asked.cparams.is_null() {
            asked.cparams = &raw mut own;
        }
        // SAFETY: the caller promises it, or the parameters are those above.
        let made = unsafe { schunk::new(&raw const asked) }?;
        // SAFETY: it was made just now.
        let target = unsafe { schunk::of_c(made) }?;
        match target.together(|target| self.copy_into(target)) {
            Ok(()) => Ok(made),
            Err(code) => {
                // SAFETY: it was made above, and nobody has seen it.
                unsafe { schunk::free(made) };
                Err(code)
            }
        }
    }

    fn copy_into(&mut self, target: &mut Self) -> Outcome<()> {
        if target.typesize != self.typesize {
            return Err(SCHUNK_COPY);
        }
        for (name, content) in self.all_meta() {
            target.add_meta(name, content)?;
        }
        self.copy_vlmeta(target)?;
        let is_same = self.makes_chunks_as(target);
        target.chunksize = self.chunksize;
        for index in 0..self.count() {
            let header = self.header(index)?;
            if is_same || header.special().is_some() || header.has_vlblocks() {
                let chunk = self.chunk(index)?;
                // SAFETY: it is a chunk.
                unsafe { target.append(Given { chunk: chunk.as_ptr().cast_mut(), copy: true }) }?;
            } else {
                let mut data = vec![0; header.nbytes()];
                let nchunk = i64::try_from(index).map_err(|_| INVALID_PARAM)?;
                self.decompress(nchunk, &mut data)?;
                let nbytes = i32::try_from(data.len()).map_err(|_| INVALID_PARAM)?;
                // SAFETY: the buffer has this length.
                unsafe { target.append_buffer(data.as_ptr().cast(), nbytes) }?;
            }
        }
        Ok(())
    }

    /// Whether both make the same chunks of the same data.
    pub(crate) fn makes_chunks_as(&self, other: &Self) -> bool {
        self.compcode == other.compcode
            && self.compcode_meta == other.compcode_meta
            && self.clevel == other.clevel
            && self.splitmode == other.splitmode
            && self.blocksize == other.blocksize
            && self.use_dict == other.use_dict
            && self.filters == other.filters
            && self.filters_meta == other.filters_meta
    }
}
