//! The chunks of a super-chunk. In memory they are pointers in `data`, each to memory from `malloc`
//! of the length that the chunk says.

use crate::code::{self, CODEC_SUPPORT, INVALID_HEADER, INVALID_PARAM, MEMORY_ALLOC, Outcome};
use crate::decompress;
use crate::exports::chunks::special_of;
use crate::structs::Schunk;
use blosc_oxide::{ErrorKind, Header, SuperChunk};
use c_boundary::memory;
use std::borrow::Cow;
use std::ops::Range;
use std::ptr::null_mut;
use std::slice;

/// By so many bytes `data` grows, or to twice its length.
const GROWTH: usize = 4096;
/// The flag of `flags2` that says that chunks keep blocks of any lengths apart.
const VL_BLOCKS: u8 = 1;

impl Schunk {
    /// The number of chunks.
    pub(crate) fn count(&self) -> usize {
        if let Some(state) = self.stored() {
            return state.nchunks();
        }
        let most = if self.data.is_null() { 0 } else { self.data_len / size_of::<*mut u8>() };
        Self::size(self.nchunks).min(most)
    }

    /// Pointers to all chunks.
    fn pointers(&self) -> &[*mut u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: there is room for as many as `data_len` says, and the first `count` of them are
        // set.
        unsafe { slice::from_raw_parts(self.data, self.count()) }
    }

    fn pointers_mut(&mut self) -> &mut [*mut u8] {
        let count = self.count();
        if self.data.is_null() {
            return &mut [];
        }
        // SAFETY: there is room for as many as `data_len` says, and the first `count` of them are
        // set.
        unsafe { slice::from_raw_parts_mut(self.data, count) }
    }

    /// The place of a chunk among all.
    pub(crate) fn index(&self, nchunk: i64) -> Outcome<usize> {
        usize::try_from(nchunk).ok().filter(|&index| index < self.count()).ok_or(INVALID_PARAM)
    }

    /// The bytes of a chunk. In memory they stay where they are until it is changed.
    pub(crate) fn chunk(&self, index: usize) -> Outcome<Cow<'static, [u8]>> {
        match self.stored() {
            Some(state) => match state.chunk(index) {
                // A special value with a codec or a filter of the program.
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    self.special_chunk(state, index).map(Cow::Owned)
                }
                chunk => chunk.map(Cow::Owned).map_err(|error| code::of(&error)),
            },
            None => self.chunk_in_memory(index).map(Cow::Borrowed),
        }
    }

    fn special_chunk(&self, state: &SuperChunk, index: usize) -> Outcome<Vec<u8>> {
        let special = state.chunk_special(index).map_err(|error| code::of(&error))?.ok_or(CODEC_SUPPORT)?;
        let nbytes = state.chunk_nbytes(index).map_err(|error| code::of(&error))?;
        special_of(&self.cparams(), special, i32::try_from(nbytes).map_err(|_| INVALID_PARAM)?)
    }

    fn chunk_in_memory(&self, index: usize) -> Outcome<&'static [u8]> {
        let pointer = *self.pointers().get(index).ok_or(INVALID_PARAM)?;
        // SAFETY: chunks have been checked before they were put here, and are as long as they say.
        let len = unsafe { crate::exports::global::chunk_len(pointer.cast()) }?;
        // SAFETY: as above; whoever uses the result does not change the chunk meanwhile.
        unsafe { memory::input(pointer.cast(), len) }.ok_or(INVALID_PARAM)
    }

    /// The pointer to a chunk in memory that C programs get.
    pub(crate) fn pointer(&self, index: usize) -> *mut u8 {
        self.pointers().get(index).copied().unwrap_or(null_mut())
    }

    /// What the header of a chunk says.
    pub(crate) fn header(&self, index: usize) -> Outcome<Header> {
        let Some(state) = self.stored() else { return decompress::header(self.chunk_in_memory(index)?) };
        match state.chunk_header(index).map_err(|error| code::of(&error))? {
            Some(header) => Ok(header),
            None => decompress::header(&self.chunk(index)?),
        }
    }

    /// Which bytes of all data a chunk has, if it is stored.
    pub(super) fn stored_range(&self, index: usize) -> Option<Outcome<Range<u64>>> {
        Some(self.stored()?.chunk_range(index).map_err(|error| code::of(&error)))
    }

    /// Puts a chunk in front of that at `index`, or behind the last; it belongs to the super-chunk
    /// then.
    pub(crate) fn put(&mut self, index: usize, chunk: *mut u8) -> Outcome<()> {
        let count = self.count();
        self.make_room(count + 1)?;
        self.nchunks = i64::try_from(count + 1).map_err(|_| INVALID_PARAM)?;
        let pointers = self.pointers_mut();
        pointers.copy_within(index..count, index + 1);
        pointers[index] = chunk;
        Ok(())
    }

    /// Puts a chunk in the place of another, which is freed.
    pub(crate) fn replace(&mut self, index: usize, chunk: *mut u8) {
        let old = std::mem::replace(&mut self.pointers_mut()[index], chunk);
        // SAFETY: it belonged to the super-chunk, and is not used any more.
        unsafe { memory::free(old) };
    }

    /// Takes a chunk away.
    pub(crate) fn remove(&mut self, index: usize) {
        self.replace(index, null_mut());
        self.pointers_mut().copy_within(index + 1.., index);
        self.nchunks -= 1;
    }

    /// Puts the chunks into another order, which has each once.
    pub(crate) fn order(&mut self, order: &[usize]) {
        let old = self.pointers().to_vec();
        for (place, &index) in self.pointers_mut().iter_mut().zip(order) {
            *place = old[index];
        }
    }

    /// Makes other chunks its own: those that it has, by their places, and copies of `fill` between
    /// them. All of them are of one size.
    pub(crate) fn rearrange(&mut self, places: &[Option<usize>], fill: &[u8]) -> Outcome<()> {
        self.check_owner()?;
        if self.disk().is_some() {
            return self.together(|schunk| schunk.rearrange_stored(places, fill));
        }
        let mut is_used = vec![false; self.count()];
        let mut pointers = Vec::with_capacity(places.len());
        for place in places {
            pointers.push(match *place {
                Some(index) => {
                    *is_used.get_mut(index).ok_or(INVALID_PARAM)? = true;
                    self.pointer(index)
                }
                None => memory::bytes_for_c(fill),
            });
        }
        let unused = is_used.iter().enumerate().filter(|&(_, &is_used)| !is_used);
        let unused: Vec<*mut u8> = unused.map(|(index, _)| self.pointer(index)).collect();
        self.set_pointers(&pointers, &unused)
    }

    /// Chunks that come are put behind all others, and those that go behind these.
    fn rearrange_stored(&mut self, places: &[Option<usize>], fill: &[u8]) -> Outcome<()> {
        let count = self.count();
        let mut is_used = vec![false; count];
        let mut order = Vec::with_capacity(places.len().max(count));
        let mut next = count;
        for place in places {
            if let Some(index) = *place {
                *is_used.get_mut(index).ok_or(INVALID_PARAM)? = true;
                order.push(index);
            } else {
                self.change(|stored| stored.append_chunk(fill))?;
                order.push(next);
                next += 1;
            }
        }
        order.extend((0..count).filter(|&index| !is_used[index]));
        if !order.is_sorted() {
            self.change(|stored| stored.reorder(&order))?;
        }
        for index in (places.len()..order.len()).rev() {
            self.change(|stored| stored.delete(index))?;
        }
        Ok(())
    }

    /// Makes these its chunks, and frees those that it has no more.
    fn set_pointers(&mut self, pointers: &[*mut u8], unused: &[*mut u8]) -> Outcome<()> {
        self.make_room(pointers.len())?;
        self.nchunks = i64::try_from(pointers.len()).map_err(|_| INVALID_PARAM)?;
        self.pointers_mut().copy_from_slice(pointers);
        for &chunk in unused {
            // SAFETY: it belonged to the super-chunk, and is not used any more.
            unsafe { memory::free(chunk) };
        }
        (self.nbytes, self.cbytes) = (0, 0);
        for index in 0..self.count() {
            let header = self.header(index)?;
            self.add_sizes(&header);
        }
        Ok(())
    }

    /// A view shows the chunks of another super-chunk, and cannot have more or fewer.
    pub(crate) fn check_owner(&self) -> Outcome<()> {
        if self.view { Err(INVALID_PARAM) } else { Ok(()) }
    }

    /// Room for `count` pointers.
    fn make_room(&mut self, count: usize) -> Outcome<()> {
        let needed = count.checked_mul(size_of::<*mut u8>()).ok_or(MEMORY_ALLOC)?;
        if !self.data.is_null() && needed <= self.data_len {
            return Ok(());
        }
        let len = needed.max(self.data_len * 2).next_multiple_of(GROWTH);
        // SAFETY: `data` is NULL or was taken here.
        let data = unsafe { libc::realloc(self.data.cast(), len) };
        if data.is_null() {
            return Err(MEMORY_ALLOC);
        }
        (self.data, self.data_len) = (data.cast(), len);
        Ok(())
    }

    /// Frees all chunks.
    pub(crate) fn drop_chunks(&mut self) {
        for &mut chunk in self.pointers_mut() {
            // SAFETY: it belongs to the super-chunk, and is not used any more.
            unsafe { memory::free(chunk) };
        }
        // SAFETY: it was taken with `realloc`, or is NULL.
        unsafe { memory::free(self.data) };
        (self.data, self.data_len, self.nchunks) = (null_mut(), 0, 0);
    }

    /// The fields for a chunk that has been put behind all others.
    pub(crate) fn count_appended(&mut self, header: &Header, last: Option<usize>) {
        let nbytes = i32::try_from(header.nbytes()).unwrap_or(i32::MAX);
        let fits = |size: i32| nbytes <= size && last.is_none_or(|last| usize::try_from(size) == Ok(last));
        self.chunksize = match self.chunksize {
            size if size < 0 => nbytes,
            size if size > 0 && !fits(size) => 0,
            size => size,
        };
        self.add_sizes(header);
    }

    /// The fields for a chunk that is there now.
    pub(crate) fn add_sizes(&mut self, header: &Header) {
        self.nbytes += i64::try_from(header.nbytes()).unwrap_or(i64::MAX);
        self.cbytes += i64::try_from(header.cbytes()).unwrap_or(i64::MAX);
        if header.has_vlblocks() {
            self.flags2 |= VL_BLOCKS;
            self.chunksize = 0;
        }
    }

    /// The fields for a chunk that is no longer there.
    pub(crate) fn take_sizes(&mut self, header: &Header) {
        self.nbytes -= i64::try_from(header.nbytes()).unwrap_or(i64::MAX);
        self.cbytes -= i64::try_from(header.cbytes()).unwrap_or(i64::MAX);
    }

    /// Whether all chunks have the same size, but for the last one, which may be smaller; else the
    /// size becomes 0.
    pub(crate) fn check_sizes(&mut self) -> Outcome<()> {
        let Ok(size) = usize::try_from(self.chunksize) else { return Ok(()) };
        let count = self.count();
        if size == 0 || count == 0 {
            return Ok(());
        }
        for index in 0..count {
            let nbytes = self.header(index)?.nbytes();
            if nbytes > size || (nbytes < size && index + 1 < count) {
                self.chunksize = 0;
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The header of a chunk that C gives, if the chunk is good for a super-chunk.
///
/// # Safety
/// `chunk` is NULL or a chunk.
pub(crate) unsafe fn given<'a>(chunk: *const u8) -> Outcome<(&'a [u8], Header)> {
    // SAFETY: the caller promises it.
    let len = unsafe { crate::exports::global::chunk_len(chunk.cast()) }?;
    // SAFETY: a chunk is as long as its header says.
    let bytes = unsafe { memory::input(chunk.cast(), len) }.ok_or(INVALID_PARAM)?;
    let header = decompress::header(bytes)?;
    if header.is_lazy() { Err(INVALID_HEADER) } else { Ok((bytes, header)) }
}
