//! Commits: the new index changes names with the old one, and only then files are removed that it
//! does not need.

use super::{INDEX_NAME, NEW_INDEX_NAME, Sparse, at_file, file_name};
use crate::error::{Result, bail};
use crate::exec::lock;
use crate::frame::format::hashes::{Form, Hashes};
use crate::frame::format::header;
use crate::frame::format::index::Packed;
use crate::frame::format::trailer::Trailer;
use crate::schunk::{Foreign, State};
use crate::storage::read_exact;
use std::io::ErrorKind::{NotFound, Unsupported};

/// What a commit makes of the file with the index.
struct Rendered {
    header: Vec<u8>,
    index: Packed,
    trailer: Trailer,
    /// All of it.
    bytes: Vec<u8>,
}

impl Sparse {
    pub(super) fn commit_guarded(&mut self, state: &State) -> Result<()> {
        let Rendered { header, index, trailer, bytes } = self.render(state)?;
        self.sync_names()?;
        self.write_new_index(&bytes)?;
        self.publish()?;
        // Nothing that follows can fail.
        self.fresh.clear();
        self.header = header;
        self.trailer = trailer;
        self.index.set_committed(Some(index));
        self.foreign = Foreign::default();
        self.commits += 1;
        self.remove_superseded();
        Ok(())
    }

    /// Header, index and trailer.
    fn render(&mut self, state: &State) -> Result<Rendered> {
        let index = self.index.pack()?;
        let has_vlmetalayers = self.hashes.is_some() || !state.vlmetalayers.is_empty();
        let mut trailer = Trailer::new(state.vlmetalayers.chunks(), self.hashes.as_mut(), None)?;
        let header_len = header::write(state, 0, 0, true, has_vlmetalayers)?.len();
        let frame_len = (header_len + index.len() + trailer.len()) as u64;
        let header = header::write(state, frame_len, self.cbytes, true, has_vlmetalayers)?;
        trailer.put_fingerprint(&header, Form::Whole, index.digest());
        let hashes = self.hashes.as_ref().map(Hashes::as_bytes).unwrap_or_default();
        let (before, after) = trailer.parts();
        let bytes = [&header[..], index.bytes(), before, hashes, after].concat();
        Ok(Rendered { header, index, trailer, bytes })
    }

    /// Writes the file that is going to be the index.
    fn write_new_index(&mut self, bytes: &[u8]) -> Result<()> {
        self.settle()?;
        let is_durable = self.is_durable();
        let written = self.directory.create(NEW_INDEX_NAME).and_then(|file| {
            file.write_at(0, bytes)?;
            if is_durable { file.sync() } else { Ok(()) }
        });
        written.map_err(|cause| {
            self.remove_new_index();
            at_file(NEW_INDEX_NAME, cause)
        })
    }

    fn remove_new_index(&mut self) {
        // A file that is left over does no harm: the next commit replaces it.
        let _ = self.directory.remove(NEW_INDEX_NAME);
    }

    /// Puts the new index in place of the old one, and makes that last. If it fails, the old one is
    /// there again.
    fn publish(&mut self) -> Result<()> {
        // From the moment that it is in its place, others could get the right to replace it.
        let right = self.directory.own(NEW_INDEX_NAME).map_err(|cause| {
            self.remove_new_index();
            at_file(NEW_INDEX_NAME, cause)
        })?;
        let is_exchanged = self.put_in_place()?;
        if let Err(error) = self.sync_names() {
            self.put_back(is_exchanged);
            return Err(error);
        }
        if self.right.is_some() {
            self.right = right;
        }
        if is_exchanged {
            self.remove_new_index();
        }
        Ok(())
    }

    /// Puts the new index in place of the old one; returns whether the two have exchanged names.
    fn put_in_place(&mut self) -> Result<bool> {
        let exchanged = match self.directory.exchange(NEW_INDEX_NAME, INDEX_NAME) {
            Err(cause) if matches!(cause.kind(), Unsupported | NotFound) => {
                self.directory.rename(NEW_INDEX_NAME, INDEX_NAME).map(|()| false)
            }
            result => result.map(|()| true),
        };
        exchanged.map_err(|cause| {
            if self.header.is_empty() || matches!(self.has_known_state(), Ok(true)) {
                self.remove_new_index();
            } else {
                // It has happened after all, or nobody knows: the files of both are kept.
                self.fresh.clear();
            }
            at_file(INDEX_NAME, cause)
        })
    }

    /// Puts the old index back. If that fails too, either of them may be the one that survives: the
    /// files of both are kept.
    fn put_back(&mut self, is_exchanged: bool) {
        let restored = if self.header.is_empty() {
            // There was none.
            self.directory.remove(INDEX_NAME).map_err(Into::into)
        } else if is_exchanged {
            self.directory.exchange(NEW_INDEX_NAME, INDEX_NAME).map_err(Into::into)
        } else {
            self.rewrite_old_index()
        };
        if restored.and_then(|()| self.sync_names()).is_err() {
            self.fresh.clear();
        } else {
            self.remove_new_index();
        }
    }

    /// How long the committed index is.
    pub(super) fn index_len(&self) -> usize {
        self.index.committed().map_or(0, <[u8]>::len)
    }

    /// Puts a copy of the old index, which has no name any more but is still open, in place of the
    /// new one.
    fn rewrite_old_index(&mut self) -> Result<()> {
        let Some(source) = &self.index_file else {
            bail!(Io, "{INDEX_NAME}: the former one is not open any more");
        };
        let len = self.header.len() + self.index_len() + self.trailer.len();
        let mut bytes = vec![0; len];
        read_exact(&**source, 0, &mut bytes, INDEX_NAME)?;
        self.write_new_index(&bytes)?;
        Ok(self.directory.rename(NEW_INDEX_NAME, INDEX_NAME)?)
    }

    /// Removes files that the committed index no longer names, unless they may be in use by a
    /// reader: then a later commit does it, or `compact`. A file that cannot be removed does no
    /// harm.
    fn remove_superseded(&mut self) {
        self.index_file = self.directory.open(INDEX_NAME).ok();
        if self.dropped.is_empty() || !self.reader.is_only() {
            return;
        }
        let mut snapshots = lock(&self.snapshots);
        snapshots.retain(|(_, token)| token.strong_count() > 0);
        // A snapshot has nothing of what was superseded before it.
        let oldest = snapshots.iter().map(|(commit, _)| *commit).min().unwrap_or(u64::MAX);
        drop(snapshots);
        let (unused, needed) = std::mem::take(&mut self.dropped).into_iter().partition(|(commit, _)| *commit <= oldest);
        self.dropped = needed;
        let unused: Vec<(u64, u64)> = unused;
        unused.into_iter().for_each(|(_, file)| self.remove_file(file));
    }

    /// Removes a file that nobody needs; its number is free then.
    pub(super) fn remove_file(&mut self, file: u64) {
        self.forget_recent();
        match self.directory.remove(&file_name(file)) {
            Err(cause) if cause.kind() != NotFound => {}
            _ => self.free.give(file),
        }
    }

    /// Makes names survive a loss of power, if that is asked for.
    pub(super) fn sync_names(&mut self) -> Result<()> {
        if self.is_durable() {
            self.directory.sync().map_err(|cause| at_file(INDEX_NAME, cause))?;
        }
        Ok(())
    }
}
