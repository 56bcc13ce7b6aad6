//! Changing a super-chunk: adding, replacing, removing and reordering chunks, and writing into
//! them.

use crate::chunk::{
    Chunk, Decompressor, Header, Options, Special, VERSION_BLOSC1, fill_chunk, fill_special, modernised,
};
use crate::error::{Result, bail};
use crate::filter::BitshuffleRule;
use crate::limits::MAX_NBYTES;
use crate::schunk::SuperChunk;
use crate::schunk::state::ChunkSize;
use crate::schunk::store::{NewChunk, Slot, Source, Staged};
use crate::schunk::super_chunk::read::at_chunk;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

impl SuperChunk {
    /// Compresses `buffer` and adds it as the last chunk.
    ///
    /// # Errors
    /// `InvalidArgument` if `buffer` is empty or too long for a chunk; `Io` if it cannot be
    /// written.
    pub fn append(&mut self, buffer: &[u8]) -> Result<()> {
        self.edit(|sc| sc.append_buffer(buffer))
    }

    pub(in crate::schunk) fn append_buffer(&mut self, buffer: &[u8]) -> Result<()> {
        self.with_compressed(buffer, |sc, chunk| sc.put_chunk(sc.nchunks(), chunk))
    }

    /// Compresses `buffer` and lends the chunk.
    fn with_compressed<T>(&mut self, buffer: &[u8], action: impl FnOnce(&mut Self, &[u8]) -> Result<T>) -> Result<T> {
        if buffer.is_empty() {
            bail!(InvalidArgument, "an empty buffer makes no chunk");
        }
        let mut packed = std::mem::take(&mut self.packed);
        let compressor = self.compressor()?;
        let len = compressor.max_compressed_len(buffer.len());
        if packed.len() < len {
            packed.resize(len, 0);
        }
        let result = compressor.compress_into(buffer, &mut packed).and_then(|len| action(self, &packed[..len]));
        self.packed = packed;
        result
    }

    /// Adds a chunk that is compressed already as the last one.
    ///
    /// # Errors
    /// As [`Chunk::parse`]; `InvalidArgument` if it holds no data or does not go with the others.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        self.edit(|sc| sc.put_chunk(sc.nchunks(), chunk))
    }

    /// Adds `blocks` as a chunk that keeps them apart.
    ///
    /// # Errors
    /// As [`Compressor::compress_vlblocks`](crate::Compressor::compress_vlblocks);
    /// `InvalidArgument` if the other chunks have blocks of one size.
    pub fn append_vlblocks(&mut self, blocks: &[&[u8]]) -> Result<()> {
        self.edit(|sc| sc.put_vlblocks(blocks))
    }

    fn put_vlblocks(&mut self, blocks: &[&[u8]]) -> Result<()> {
        let chunk = self.compressor()?.compress_vlblocks(blocks)?;
        self.put_chunk(self.nchunks(), &chunk)
    }

    /// Cuts `data` into buffers of `chunk_nbytes` and appends each; the last one can be shorter.
    ///
    /// # Errors
    /// As [`append`](Self::append). Nothing has been appended then.
    pub fn extend(&mut self, data: &[u8], chunk_nbytes: usize) -> Result<()> {
        if chunk_nbytes == 0 {
            bail!(InvalidArgument, "chunks of 0 bytes are asked for");
        }
        self.edit(|sc| data.chunks(chunk_nbytes).try_for_each(|buffer| sc.append_buffer(buffer)))
    }

    /// Appends `nbytes` of a special value in chunks of `chunk_nbytes`, for which nothing is
    /// stored.
    ///
    /// # Errors
    /// `InvalidArgument` for [`Special::Value`], for NaNs with a typesize other than 4 and 8, and
    /// for sizes that are no multiple of the typesize.
    pub fn fill(&mut self, special: Special, nbytes: u64, chunk_nbytes: usize) -> Result<()> {
        self.edit(|sc| sc.put_fill(special, nbytes, chunk_nbytes))
    }

    fn put_fill(&mut self, special: Special, nbytes: u64, chunk_nbytes: usize) -> Result<()> {
        let typesize = self.typesize();
        if special == Special::Value || (special == Special::NaN && !matches!(typesize, 4 | 8)) {
            bail!(InvalidArgument, "{special:?} cannot be filled in for items of {typesize} bytes");
        }
        let mut sizes = fill_sizes(nbytes, chunk_nbytes, typesize)?;
        // Behind the first one, all are of one size or none is.
        sizes.next().map_or(Ok(()), |len| self.append_special(special, len))?;
        let size = chunk_nbytes as u64;
        if self.chunksize() == Some(chunk_nbytes) && self.nbytes().is_multiple_of(size) {
            self.append_specials(special, (nbytes / size).saturating_sub(1), chunk_nbytes)?;
            let rest = usize::try_from(nbytes % size).unwrap_or_default();
            return if rest > 0 && nbytes > size { self.append_special(special, rest) } else { Ok(()) };
        }
        sizes.try_for_each(|len| self.append_special(special, len))
    }

    fn append_special(&mut self, special: Special, nbytes: usize) -> Result<()> {
        self.check_kind(false, self.nchunks() == 0)?;
        self.put_new(self.nchunks(), nbytes, NewChunk::Special(special), false)
    }

    /// Appends chunks of the one size that all have.
    fn append_specials(&mut self, special: Special, count: u64, size: usize) -> Result<()> {
        let added = count.checked_mul(size as u64).and_then(|added| self.state.nbytes.checked_add(added));
        let (Some(nbytes), Ok(count)) = (added, usize::try_from(count)) else {
            bail!(InvalidArgument, "{count} chunks of {size} bytes are too many");
        };
        self.insert_specials(self.nchunks(), special, count)?;
        self.changed(nbytes);
        self.starts = OnceLock::new();
        Ok(())
    }

    /// Appends `nbytes` that repeat `value` in chunks of `chunk_nbytes`, each stored as little more
    /// than the value.
    ///
    /// # Errors
    /// `InvalidArgument` if `value` is not of the typesize, or the sizes are no multiples of it.
    pub fn fill_value(&mut self, value: &[u8], nbytes: u64, chunk_nbytes: usize) -> Result<()> {
        if value.len() != self.typesize() {
            bail!(InvalidArgument, "a value of {} bytes is given, items have {}", value.len(), self.typesize());
        }
        let mut sizes = fill_sizes(nbytes, chunk_nbytes, value.len())?;
        self.edit(|sc| sizes.try_for_each(|len| sc.put_chunk(sc.nchunks(), &fill_chunk(value, len, &sc.options)?)))
    }

    /// Appends all chunks of `other`, as they are if they were compressed with the same options,
    /// else compressed anew.
    ///
    /// # Errors
    /// As reading the one and appending to the other. Nothing has been appended then.
    pub fn append_all(&mut self, other: &SuperChunk) -> Result<()> {
        self.edit(|sc| sc.put_all(other))
    }

    fn put_all(&mut self, other: &SuperChunk) -> Result<()> {
        let is_same = same_compression(&self.options, &other.options);
        let mut index = 0;
        while index < other.nchunks() {
            let (special, end) = other.special_row(index)?;
            index = match special {
                Some(special) if end - index > 1 && self.can_fill(other, special) => {
                    let (first, last) = (other.chunk_range(index)?, other.chunk_range(end - 1)?);
                    let size = usize::try_from(first.end - first.start).unwrap_or(usize::MAX);
                    self.put_fill(special, last.end - first.start, size)?;
                    end
                }
                _ => {
                    self.append_from(other, index, is_same)?;
                    index + 1
                }
            };
        }
        Ok(())
    }

    /// The special value of the chunks from `index` on, if they have one, and where those end of
    /// which the same is stored: nothing, or one chunk for all. A chunk with a hash is one by
    /// itself, to be compared.
    fn special_row(&self, index: usize) -> Result<(Option<Special>, usize)> {
        let (slot, end) = self.store().run(index)?;
        if let Slot::Special(special) = slot {
            return Ok((Some(special), end));
        }
        // The last one may be shorter than what is stored.
        let end = end.min(self.nchunks() - 1);
        if end <= index + 1 || self.store().facts().has_hashes {
            return Ok((None, index + 1));
        }
        let is_plain = |header: &Header| !header.has_vlblocks() && header.typesize() == self.typesize();
        let is_whole = |header: &Header| Some(header.nbytes()) == self.chunksize();
        let header = self.chunk_header(index)?.filter(|header| is_plain(header) && is_whole(header));
        let special = header.and_then(|header| header.special()).filter(|&special| special != Special::Value);
        Ok((special, if special.is_some() { end } else { index + 1 }))
    }

    /// Whether chunks of a special value of `other` are the same here.
    fn can_fill(&self, other: &SuperChunk, special: Special) -> bool {
        let typesize = self.typesize();
        let is_whole = |nbytes: u64| nbytes.is_multiple_of(typesize as u64);
        let has_value = special != Special::NaN || matches!(typesize, 4 | 8);
        let is_fixed = other.chunksize().is_some_and(|size| is_whole(size as u64)) && is_whole(other.nbytes());
        typesize == other.typesize() && has_value && is_fixed
    }

    fn append_from(&mut self, other: &SuperChunk, index: usize, is_same: bool) -> Result<()> {
        let is_special = self.typesize() == other.typesize() && other.chunk_special(index)?.is_some();
        if is_same || is_special {
            return self.put_chunk(self.nchunks(), &other.chunk(index)?);
        }
        match other.chunk_header(index)? {
            Some(header) if header.has_vlblocks() => {
                let blocks = (0..header.nblocks()).map(|block| other.block(index, block));
                let blocks: Vec<Vec<u8>> = blocks.collect::<Result<_>>()?;
                self.put_vlblocks(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
            }
            _ => self.append_buffer(&other.decompress(index)?),
        }
    }

    /// Appends all chunks of this one to `target`, compressed with the options of `target`, and
    /// adds all metalayers.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, SuperChunk, storage::MemoryStorage};
    /// let mut sc = SuperChunk::new(Options::new(1))?;
    /// sc.append(b"some data")?;
    /// sc.metalayers_mut().add("kind", "text")?;
    /// let mut frame = Frame::create(MemoryStorage::default(), Options::new(1).with_level(9))?;
    /// sc.copy_to(&mut frame)?;
    /// assert_eq!(frame.metalayers().get("kind"), Some(&b"text"[..]));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`append_all`](Self::append_all); `InvalidArgument` if a metalayer of the same name is
    /// there already, or if there are too many. Nothing has been copied then.
    pub fn copy_to(&self, target: &mut SuperChunk) -> Result<()> {
        target.edit_metadata(|target| {
            for (name, content) in self.metalayers().iter() {
                target.metalayers_mut().add(name, content)?;
            }
            target.vlmetalayers_mut().extend(self.vlmetalayers())?;
            target.put_all(self)
        })
    }

    /// A copy in memory, compressed with `options`, with all metalayers.
    ///
    /// # Errors
    /// As [`append_all`](Self::append_all).
    pub fn copy(&self, options: Options) -> Result<SuperChunk> {
        let mut copy = SuperChunk::new(options)?;
        self.copy_to(&mut copy)?;
        Ok(copy)
    }

    /// Compresses `buffer` and puts it in front of the chunk `index`.
    ///
    /// # Errors
    /// As [`append`](Self::append); `InvalidArgument` if `index` is more than the number of chunks.
    pub fn insert(&mut self, index: usize, buffer: &[u8]) -> Result<()> {
        self.edit(|sc| sc.with_compressed(buffer, |sc, chunk| sc.put_chunk(index, chunk)))
    }

    /// Puts a chunk that is compressed already in front of the chunk `index`.
    ///
    /// # Errors
    /// As [`append_chunk`](Self::append_chunk); `InvalidArgument` if `index` is more than the
    /// number of chunks.
    pub fn insert_chunk(&mut self, index: usize, chunk: &[u8]) -> Result<()> {
        self.edit(|sc| sc.put_chunk(index, chunk))
    }

    /// Puts a chunk in front of another, or at the end.
    pub(in crate::schunk) fn put_chunk(&mut self, index: usize, chunk: &[u8]) -> Result<()> {
        if index > self.nchunks() {
            bail!(InvalidArgument, "a chunk is to be put at {index}, there are {}", self.nchunks());
        }
        let chunk = self.storable(chunk)?;
        let chunk = self.acceptable(&chunk, self.nchunks() == 0)?;
        let incoming = Self::incoming(&chunk);
        self.put_new(index, chunk.header().nbytes(), incoming, chunk.header().has_vlblocks())
    }

    /// Compresses `buffer` and puts it in place of the chunk `index`.
    ///
    /// # Errors
    /// As [`append`](Self::append); `InvalidArgument` if there is no such chunk.
    pub fn update(&mut self, index: usize, buffer: &[u8]) -> Result<()> {
        self.edit(|sc| sc.replace_data(index, buffer))
    }

    /// Puts a chunk that is compressed already in place of the chunk `index`.
    ///
    /// # Errors
    /// As [`append_chunk`](Self::append_chunk); `InvalidArgument` if there is no such chunk.
    pub fn update_chunk(&mut self, index: usize, chunk: &[u8]) -> Result<()> {
        self.edit(|sc| sc.replace(index, chunk))
    }

    pub(in crate::schunk) fn replace_data(&mut self, index: usize, buffer: &[u8]) -> Result<()> {
        self.with_compressed(buffer, |sc, chunk| sc.replace(index, chunk))
    }

    fn replace(&mut self, index: usize, chunk: &[u8]) -> Result<()> {
        self.check_index(index)?;
        let chunk = self.storable(chunk)?;
        let chunk = self.acceptable(&chunk, self.nchunks() == 1)?;
        let incoming = Self::incoming(&chunk);
        let (old, new) = (self.chunk_range(index)?, chunk.header().nbytes());
        let is_last = index + 1 == self.nchunks();
        let keeps_size = match self.state.chunksize {
            ChunkSize::Fixed(size) => new == size || (is_last && new < size),
            ChunkSize::Unknown | ChunkSize::Variable => true,
        };
        if !keeps_size && self.nchunks() > 1 {
            self.become_variable()?;
        }
        let staged = self.stage_new(incoming, new)?;
        self.splice(index..index + 1, vec![staged])?;
        if !keeps_size && self.nchunks() == 1 {
            self.state.chunksize = ChunkSize::Fixed(new);
        }
        self.state.vlblocks = chunk.header().has_vlblocks();
        self.changed(self.state.nbytes - (old.end - old.start) + new as u64);
        self.move_starts(index..index + 1, Some(new));
        Ok(())
    }

    /// Takes the chunk `index` away.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such chunk; `Io` if that cannot be written.
    pub fn delete(&mut self, index: usize) -> Result<()> {
        self.edit(|sc| {
            let range = sc.chunk_range(index)?;
            sc.splice(index..index + 1, Vec::new())?;
            sc.changed(sc.state.nbytes - (range.end - range.start));
            sc.move_starts(index..index + 1, None);
            Ok(())
        })
    }

    /// Makes `order[i]` the chunk `i`.
    ///
    /// # Errors
    /// `InvalidArgument` if `order` does not name each chunk once.
    pub fn reorder(&mut self, order: &[usize]) -> Result<()> {
        self.edit(|sc| sc.put_in_order(order))
    }

    fn put_in_order(&mut self, order: &[usize]) -> Result<()> {
        let mut seen = vec![false; self.nchunks()];
        for &index in order {
            self.check_index(index)?;
            seen[index] = true;
        }
        if order.len() != seen.len() || seen.contains(&false) {
            bail!(InvalidArgument, "the order has {} chunks, not each of the {} once", order.len(), seen.len());
        }
        if let (ChunkSize::Fixed(size), Some(&last)) = (self.state.chunksize, order.last()) {
            let was_last = seen.len() - 1;
            if last != was_last && self.chunk_nbytes(was_last)? != size {
                self.become_variable()?;
            }
        }
        self.splice_sources(0, order.iter().map(|&from| Source::Old(from)).collect())?;
        self.changed(self.state.nbytes);
        self.starts = OnceLock::new();
        Ok(())
    }

    /// Writes `data` over the data from byte `start` on; only the chunks that are touched are
    /// compressed again.
    ///
    /// # Errors
    /// `InvalidArgument` if that is not inside the data, or if the chunks have variable-length
    /// blocks.
    pub fn write(&mut self, start: u64, data: &[u8]) -> Result<()> {
        self.edit(|sc| sc.overwrite(start, data))
    }

    fn overwrite(&mut self, start: u64, data: &[u8]) -> Result<()> {
        let end = start.saturating_add(data.len() as u64);
        self.check_range("bytes", &(start..end), self.nbytes())?;
        if self.state.vlblocks {
            bail!(InvalidArgument, "variable-length blocks cannot be written into, only replaced");
        }
        let mut at = start;
        let mut rest = data;
        while !rest.is_empty() {
            let index = self.chunk_at(at)?;
            let range = self.chunk_range(index)?;
            let from = usize::try_from(at - range.start).unwrap_or(usize::MAX);
            let len = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(rest.len());
            let (part, after) = rest.split_at(len);
            self.write_chunk(index, from, part)?;
            at += len as u64;
            rest = after;
        }
        Ok(())
    }

    /// Writes `data` over the data from item `first` on.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_items(&mut self, first: u64, data: &[u8]) -> Result<()> {
        self.write(first.saturating_mul(self.typesize() as u64), data)
    }

    fn write_chunk(&mut self, index: usize, from: usize, part: &[u8]) -> Result<()> {
        if from == 0 && part.len() == self.chunk_nbytes(index)? {
            return self.replace_data(index, part);
        }
        let special = self.chunk_special(index)?;
        let (old, mut data) = self.sound_chunk(index)?;
        let changed = from..from + part.len();
        data[changed.clone()].copy_from_slice(part);
        let Some(old) = old.filter(|_| special.is_none()) else { return self.replace_data(index, &data) };
        let chunk = self.compressor()?.compress_changed(&data, &Chunk::parse(&old)?, &changed)?;
        self.replace(index, &chunk)
    }

    /// What is stored of a chunk, and its data, compared with its hash: what is made of damage gets
    /// a hash that calls it good.
    pub(in crate::schunk) fn sound_chunk(&mut self, index: usize) -> Result<(Option<Vec<u8>>, Vec<u8>)> {
        self.store().fetch_hashes()?;
        let before = self.start_checking();
        let stored = self.stored_chunk(index).map(|stored| stored.map(Cow::into_owned));
        let sound = stored.and_then(|stored| Ok((stored, self.decompress(index)?)));
        self.restore_checking(before);
        sound
    }

    /// Puts in a chunk that has been checked. What its size and kind make of all chunks counts when
    /// it is stored.
    fn put_new(&mut self, index: usize, nbytes: usize, incoming: NewChunk<'_>, has_vlblocks: bool) -> Result<()> {
        let is_end = index == self.nchunks();
        let chunksize = match self.state.chunksize {
            ChunkSize::Variable => ChunkSize::Variable,
            ChunkSize::Fixed(size) if self.nchunks() > 0 => {
                let is_short_end = is_end && nbytes <= size && self.state.nbytes.is_multiple_of(size as u64);
                let fits = is_short_end || (!is_end && nbytes == size);
                if fits { ChunkSize::Fixed(size) } else { ChunkSize::Variable }
            }
            ChunkSize::Unknown | ChunkSize::Fixed(_) => ChunkSize::Fixed(nbytes),
        };
        if chunksize != self.state.chunksize && chunksize == ChunkSize::Variable {
            self.become_variable()?;
        }
        let staged = self.stage_new(incoming, nbytes)?;
        self.splice(index..index, vec![staged])?;
        self.state.chunksize = chunksize;
        self.state.vlblocks = has_vlblocks;
        self.changed(self.state.nbytes + nbytes as u64);
        self.move_starts(index..index, Some(nbytes));
        Ok(())
    }

    /// Gives up the one size of all chunks. Special chunks must carry their size then.
    fn become_variable(&mut self) -> Result<()> {
        for index in 0..self.nchunks() {
            if let Slot::Special(special) = self.store().slot(index)? {
                let chunk = self.explicit_special(special, self.chunk_nbytes(index)?)?;
                let staged = self.own()?.stage(chunk.into()).map_err(at_chunk(index))?;
                self.splice(index..index + 1, vec![staged]).map_err(at_chunk(index))?;
            }
        }
        self.state.chunksize = ChunkSize::Variable;
        self.starts = OnceLock::new();
        self.is_changed = true;
        Ok(())
    }

    /// Stores a chunk; that of a special value only where it must be.
    fn stage_new(&mut self, incoming: NewChunk<'_>, nbytes: usize) -> Result<Staged> {
        match incoming {
            NewChunk::Special(special) if self.state.chunksize == ChunkSize::Variable => {
                let chunk = self.explicit_special(special, nbytes)?;
                self.own()?.stage(chunk.into())
            }
            NewChunk::Special(special) => Ok(Staged::Special(special)),
            NewChunk::Bytes(bytes) => self.own()?.stage(bytes.into()),
        }
    }

    /// What is to be stored for a chunk: nothing, if a few bits in the index say it all.
    pub(in crate::schunk) fn incoming<'a>(chunk: &Chunk<'a>) -> NewChunk<'a> {
        match chunk.header().special() {
            Some(Special::Value) | None => NewChunk::Bytes(chunk.as_bytes()),
            Some(special) => NewChunk::Special(special),
        }
    }

    /// The chunk as it can be stored: NaNs of another typesize are no special value of this one,
    /// and the reference does not read a stored chunk of NaNs. Chunks of the alphas with the old
    /// rule of bitshuffle are compressed anew: the reference reads them by the current one.
    pub(in crate::schunk) fn storable<'a>(&self, chunk: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        let header = *Chunk::parse(chunk)?.header();
        if header.version() > VERSION_BLOSC1 && header.needs_old_bitshuffle(BitshuffleRule::Current) {
            let mut decompressor = Decompressor::new().with_limits(self.limits);
            return modernised(chunk, self.options.level, &mut decompressor).map(Cow::Owned);
        }
        let typesize = header.typesize();
        if header.special() != Some(Special::NaN) || typesize == self.typesize() {
            return Ok(Cow::Borrowed(chunk));
        }
        let mut value = vec![0; typesize];
        fill_special(Special::NaN, typesize, 0, &mut value);
        fill_chunk(&value, header.nbytes(), &self.options).map(Cow::Owned)
    }

    /// Checks that a chunk can be one of these, before anything is changed for it.
    pub(in crate::schunk) fn acceptable<'a>(&self, chunk: &'a [u8], is_only: bool) -> Result<Chunk<'a>> {
        let chunk = Chunk::parse(chunk)?;
        let header = chunk.header();
        if header.nbytes() == 0 {
            bail!(InvalidArgument, "a chunk without data cannot be one of several");
        }
        if header.cbytes() < self.store().facts().min_chunk {
            let least = self.store().facts().min_chunk;
            bail!(InvalidArgument, "a frame takes chunks of {least} bytes or more, this has {}", header.cbytes());
        }
        self.check_kind(header.has_vlblocks(), is_only)?;
        Ok(chunk)
    }

    fn check_kind(&self, has_vlblocks: bool, is_only: bool) -> Result<()> {
        if !is_only && has_vlblocks != self.state.vlblocks {
            bail!(InvalidArgument, "chunks with and without variable-length blocks do not go together");
        }
        Ok(())
    }

    pub(in crate::schunk) fn changed(&mut self, nbytes: u64) {
        self.state.nbytes = nbytes;
        self.is_changed = true;
    }

    /// Notes that a chunk of `nbytes`, or none, is in place of `chunks`, if it is known where
    /// chunks start.
    fn move_starts(&mut self, chunks: Range<usize>, nbytes: Option<usize>) {
        let (size, all) = (nbytes.map(|nbytes| nbytes as u64), self.state.nbytes);
        let is_known = match self.starts.get_mut() {
            Some(Ok(starts)) => Arc::make_mut(starts).change(chunks, size, all),
            _ => false,
        };
        if !is_known {
            // Perhaps it can be told now.
            self.starts = OnceLock::new();
        }
    }
}

/// The sizes of the chunks that `nbytes` are cut into.
fn fill_sizes(nbytes: u64, chunk_nbytes: usize, typesize: usize) -> Result<impl Iterator<Item = usize>> {
    if !(1..=MAX_NBYTES).contains(&chunk_nbytes) {
        bail!(InvalidArgument, "chunks of {chunk_nbytes} bytes are asked for, they can have 1 to {MAX_NBYTES}");
    }
    if !chunk_nbytes.is_multiple_of(typesize) || !nbytes.is_multiple_of(typesize as u64) {
        bail!(InvalidArgument, "{nbytes} bytes in chunks of {chunk_nbytes} are no whole items of {typesize} bytes");
    }
    let size = chunk_nbytes as u64;
    let rest = usize::try_from(nbytes % size).unwrap_or_default();
    Ok((0..nbytes / size).map(move |_| chunk_nbytes).chain((rest > 0).then_some(rest)))
}

/// Whether chunks made with the one could have been made with the other.
fn same_compression(a: &Options, b: &Options) -> bool {
    (a.typesize, a.codec, a.codec_meta, a.level, a.pipeline, a.split, a.blocksize, a.dict, a.format)
        == (b.typesize, b.codec, b.codec_meta, b.level, b.pipeline, b.split, b.blocksize, b.dict, b.format)
}
