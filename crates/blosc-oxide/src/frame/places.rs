//! Where things are in a contiguous frame, and where there is room.

use super::room::Room;
use super::vacancies::Vacancies;
use std::ops::Range;

/// How many written parts are kept in mind: commits take turns between two or three places, with
/// two parts in each.
const REMEMBERED: usize = 8;

/// A part of what a commit writes that is often the same in the next one, and which version of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Index(u64),
    Hashes(u64),
}

/// Where things are in a frame, counted from its start.
#[derive(Debug)]
pub(super) struct Places {
    /// The committed index and trailer.
    pub(super) live: Range<u64>,
    /// The footer of the last commit.
    pub(super) footer: Range<u64>,
    /// No chunk ends after this, be it committed, yet to be committed, or one that others may still
    /// be reading. The index lies behind it, unless there are no chunks.
    pub(super) chunks_end: u64,
    /// Where the storage ended when the frame was committed last: chunks behind this are known to
    /// nobody else.
    pub(super) committed_end: u64,
    pub(super) room: Room,
    /// What has been written where, and not been written over: what is there already need not be
    /// written again.
    written: Vec<(Range<u64>, Part)>,
}

impl Places {
    /// Those of a new frame: all that follows the header is yet to be written.
    pub(super) fn new(header_len: u64, room: Room) -> Self {
        Self { live: 0..0, footer: 0..0, chunks_end: header_len, committed_end: 0, room, written: Vec::new() }
    }

    /// Those of a frame that has been opened, with index and trailer at `live`, on a storage that
    /// ends at `end`. What replaced chunks have left behind cannot be told from old indexes, unless
    /// a footer does.
    pub(super) fn opened(live: Range<u64>, end: u64, has_chunks: bool, room: Room) -> Self {
        let mut places = Self::new(live.start, room);
        if has_chunks {
            // All chunks that there have ever been lie before the index.
            places.room.give(live.end..end);
        } else {
            // The trailer is directly behind the header then, and deleted chunks are behind it.
            places.chunks_end = end;
        }
        places.live = live;
        places.committed_end = end;
        places
    }

    /// Takes over what the footer of the last commit tells, if that can be.
    pub(super) fn believe(&mut self, vacancies: &Vacancies, header_len: u64, footer: Range<u64>) {
        if !vacancies.fit(&(header_len..footer.start), &self.live) {
            return;
        }
        self.footer = footer;
        if vacancies.parts.is_empty() {
            // Somebody has begun to use what was free before the last chunk.
            self.room.keep(0, self.footer.start);
            self.room.give(vacancies.chunks_end.max(header_len)..self.live.start);
        } else {
            self.room.clear();
            vacancies.parts.iter().for_each(|part| self.room.give(part.clone()));
        }
        self.chunks_end = vacancies.chunks_end.max(header_len);
    }

    /// Takes over what the footer of a commit tells that has not been done: no chunk has ever been
    /// behind the last one that it knows of.
    pub(super) fn believe_undone(&mut self, vacancies: &Vacancies, header_len: u64) {
        let hole = vacancies.chunks_end.max(header_len)..self.live.start;
        if hole.start < hole.end {
            self.chunks_end = hole.start;
            self.room.give(hole);
        }
    }

    /// What there is room for when the next commit, whose index and trailer have their place
    /// already, has set `free` free, too.
    pub(super) fn vacancies(&self, free: Vec<Range<u64>>) -> Vacancies {
        let mut parts = self.room.parts().to_vec();
        // There may be hundreds of parts, and they are in order.
        for part in free.into_iter().filter(|part| !part.is_empty()) {
            parts.insert(parts.partition_point(|other| other.start < part.start), part);
        }
        Vacancies { chunks_end: self.chunks_end, parts }
    }

    /// Takes room for index and trailer, `len` bytes, behind all chunks: where this version of the
    /// index is already, or else where there is some. `None` if there is none.
    pub(super) fn take(&mut self, index: Option<Part>, len: u64) -> Option<u64> {
        let Self { written, room, chunks_end, .. } = self;
        let is_there = |(place, part): &&(Range<u64>, Part)| Some(*part) == index && place.start >= *chunks_end;
        let mut starts = written.iter().filter(is_there).map(|(place, _)| place.start);
        let same = starts.find(|&start| room.take_exactly(&(start..start + len)));
        same.or_else(|| room.take_behind(*chunks_end, len))
    }

    /// Takes notice of a commit that has put index and trailer elsewhere, and has set `freed` free.
    pub(super) fn moved(&mut self, live: Range<u64>, freed: Range<u64>) {
        self.live = live;
        self.room.give(freed);
    }

    /// Forgets where there is room.
    pub(super) fn forget_room(&mut self) {
        self.room.clear();
        self.footer = 0..0;
        self.written.clear();
    }

    /// Takes notice that everything from a position on is gone.
    pub(super) fn cut(&mut self, position: u64) {
        self.footer = 0..0;
        self.chunks_end = self.chunks_end.min(position);
        self.committed_end = self.committed_end.min(position);
        self.overwritten(&(position..u64::MAX));
        self.room.keep(0, position);
    }

    /// Takes notice that the bytes before a position are not free any more.
    pub(super) fn reserve(&mut self, position: u64) {
        self.room.keep(position, u64::MAX);
        self.overwritten(&(0..position));
    }

    /// Takes notice that something is written to a place.
    pub(super) fn overwritten(&mut self, place: &Range<u64>) {
        self.written.retain(|(other, _)| other.end <= place.start || place.end <= other.start);
    }

    /// Takes notice that a part has been written to a place.
    pub(super) fn wrote(&mut self, place: Range<u64>, part: Part) {
        self.overwritten(&place);
        self.written.push((place, part));
        if self.written.len() > REMEMBERED {
            self.written.remove(0);
        }
    }

    /// Whether a part is in its place already.
    pub(super) fn holds(&self, place: &Range<u64>, part: Part) -> bool {
        self.written.iter().any(|(other, known)| other == place && *known == part)
    }
}
