//! A file that comes from a stream: read once, front to back.

use super::decode::{Decoding, Job, Jobs, Worker};
use super::reader::ReadOptions;
use crate::bloscpack::batch::Batch;
use crate::bloscpack::format::header::{FileHeader, LEN, V1_LEN};
use crate::bloscpack::format::journal::Journal;
use crate::bloscpack::format::layout::{ChunkRecord, Layout, Order};
use crate::bloscpack::format::metadata::{HEADER_LEN as SECTION_HEADER_LEN, Metadata, SectionHeader};
use crate::bloscpack::format::offsets::{ENTRY_LEN, UNSET, end_by_first_entry};
use crate::bytes::le_i64;
use crate::chunk::Header;
use crate::error::{ErrorKind, Result, bail};
use crate::limits::Limits;
use std::io::{self, Read, Write};

/// The length of what every chunk starts with; some go on with as much again.
const CHUNK_HEADER_LEN: usize = 16;

/// How much of what comes after the last chunk is looked at.
const TAIL_LEN: usize = 4 << 20;

/// What has come out of a stream.
///
/// ```
/// use blosc_oxide::bloscpack::{BloscpackOptions, ReadOptions, pack, unpack};
/// use blosc_oxide::Options;
/// let (mut file, mut data) = (Vec::new(), Vec::new());
/// pack(&b"data"[..], &mut file, &BloscpackOptions::new(Options::new(1)))?;
/// let unpacked = unpack(&file[..], &mut data, &ReadOptions::new())?;
/// assert_eq!((unpacked.nbytes, &data[..]), (4, &b"data"[..]));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unpacked {
    /// The header.
    pub header: FileHeader,
    /// The metadata, if there is any.
    pub metadata: Option<Metadata>,
    /// How many chunks there were.
    pub nchunks: u64,
    /// How many bytes of data there were.
    pub nbytes: u64,
}

/// Writes the data of the file that comes from `input` to `out`. Holds a few chunks at a time, and
/// decompresses them in parallel; every checksum is verified.
///
/// If the header leaves open how many chunks there are, they are read up to the end: a stream that
/// was cut between two chunks cannot be told from a whole one then.
///
/// # Errors
/// As [`Bloscpack::from_storage`](crate::bloscpack::Bloscpack::from_storage) and
/// [`Bloscpack::copy_to`](crate::bloscpack::Bloscpack::copy_to), and whatever `input` reports. All
/// data before the damage has been written then.
pub fn unpack(input: impl Read, out: impl Write, options: &ReadOptions) -> Result<Unpacked> {
    unpack_after(input, out, options, |_, _, _| Ok(()))
}

/// As [`unpack`], but `begin` may write something before the data.
pub(in crate::bloscpack) fn unpack_after<W: Write>(
    input: impl Read,
    mut out: W,
    options: &ReadOptions,
    begin: impl FnOnce(&FileHeader, Option<&Metadata>, &mut W) -> Result<()>,
) -> Result<Unpacked> {
    let mut input = Input { input, at: 0, unread: Vec::new() };
    let layout = input.layout(options.limits)?;
    begin(&layout.header, layout.metadata.as_ref(), &mut out)?;
    let ReadOptions { limits, threads } = options.clone();
    let how = Decoding { checksum: layout.header.checksum(), limits, threads };
    let mut chunks = Chunks { input, layout, order: Order::default(), index: 0, held: None };
    let nbytes = chunks.copy_to(&mut out, &how)?;
    out.flush()?;
    if chunks.layout.header.nchunks().is_some() {
        chunks.input.drain()?;
    }
    let Layout { header, metadata, .. } = chunks.layout;
    Ok(Unpacked { header, metadata, nchunks: chunks.index, nbytes })
}

/// A stream that knows how far it has come, and takes back what was read too early.
struct Input<R> {
    input: R,
    at: u64,
    unread: Vec<u8>,
}

impl<R: Read> Input<R> {
    /// Reads `len` bytes, or as many as there are. Allocates no more than comes.
    fn up_to(&mut self, len: usize, into: &mut Vec<u8>) -> Result<usize> {
        let before = into.len();
        let old = self.unread.len().min(len);
        into.extend(self.unread.drain(..old));
        self.input.by_ref().take((len - old) as u64).read_to_end(into)?;
        let came = into.len() - before;
        self.at += came as u64;
        Ok(came)
    }

    fn exactly(&mut self, len: usize, into: &mut Vec<u8>, what: &str) -> Result<()> {
        let start = self.at;
        let came = self.up_to(len, into)?;
        if came < len {
            bail!(Truncated, "{what}: {len} bytes at {start} are not all there, the stream ends at {}", self.at);
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut bytes = Vec::with_capacity(N);
        self.exactly(N, &mut bytes, what)?;
        let mut array = [0; N];
        array.copy_from_slice(&bytes);
        Ok(array)
    }

    fn skip(&mut self, len: u64, what: &str) -> Result<()> {
        let start = self.at;
        let old = usize::try_from(len).unwrap_or(usize::MAX).min(self.unread.len());
        self.unread.drain(..old);
        let came = io::copy(&mut self.input.by_ref().take(len - old as u64), &mut io::sink())?;
        self.at += came + old as u64;
        if self.at - start < len {
            bail!(Truncated, "{what}: {len} bytes at {start} are not all there, the stream ends at {}", self.at);
        }
        Ok(())
    }

    fn put_back(&mut self, bytes: &[u8]) {
        self.unread.splice(..0, bytes.iter().copied());
        self.at -= bytes.len() as u64;
    }

    /// Reads all that stands before the chunks.
    fn layout(&mut self, limits: Limits) -> Result<Layout> {
        let mut start = Vec::new();
        self.up_to(V1_LEN, &mut start)?;
        let header = match FileHeader::parse(&start) {
            Err(error) if error.kind() == ErrorKind::Truncated && start.len() == V1_LEN => {
                self.up_to(LEN - V1_LEN, &mut start)?;
                FileHeader::parse(&start)?
            }
            parsed => parsed?,
        };
        limits.check_chunks(header.nchunks().unwrap_or_default())?;
        let metadata = if header.has_metadata() { Some(self.metadata(limits)?) } else { None };
        if header.has_offsets() {
            match header.table_entries() {
                Some(entries) => self.skip(entries.saturating_mul(ENTRY_LEN), "offsets")?,
                None => self.skip_unknown_table()?,
            }
        }
        Ok(Layout { header, metadata, table: None, chunks_at: self.at, len: u64::MAX })
    }

    fn metadata(&mut self, limits: Limits) -> Result<Metadata> {
        let header = SectionHeader::parse(&self.array::<SECTION_HEADER_LEN>("metadata")?)?;
        limits.check("metadata", header.stored_len)?;
        let (mut stored, mut digest) = (Vec::new(), Vec::new());
        self.exactly(header.stored_len, &mut stored, "metadata")?;
        self.skip((header.room - header.stored_len) as u64, "metadata")?;
        self.exactly(header.checksum.len(), &mut digest, "metadata")?;
        header.decode(&stored, &digest, limits)
    }

    /// The first entry is the end of the table, or else all entries are -1 and no chunk starts with
    /// that.
    fn skip_unknown_table(&mut self) -> Result<()> {
        let start = self.at;
        loop {
            let mut bytes = Vec::new();
            self.up_to(8, &mut bytes)?;
            let entry = le_i64(&bytes, 0);
            if entry == Some(UNSET) {
                continue;
            }
            let is_first = self.at == start + ENTRY_LEN;
            let end = entry.filter(|_| is_first).and_then(|first| end_by_first_entry(start, first));
            if let Some(end) = end {
                return self.skip(end - self.at, "offsets");
            }
            self.put_back(&bytes);
            return Ok(());
        }
    }

    /// Reads up to the end; what comes after the last chunk is nothing, unless it is a journal.
    fn drain(&mut self) -> Result<()> {
        let chunks_end = self.at;
        let mut tail = Vec::new();
        let mut is_first = true;
        while self.up_to(TAIL_LEN, &mut tail)? > 0 {
            if std::mem::take(&mut is_first) && crate::bloscpack::is_bloscpack(&tail) {
                bail!(
                    Unsupported,
                    "another Bloscpack file follows at byte {chunks_end}: each has to be read by itself"
                );
            }
            tail.drain(..tail.len().saturating_sub(TAIL_LEN));
        }
        if Journal::may_count(&tail, chunks_end, self.at) {
            bail!(
                Unsupported,
                "a change of this file was interrupted: recover the file, or open it in place of a stream"
            );
        }
        Ok(())
    }
}

/// The chunks of a stream.
struct Chunks<R> {
    input: Input<R>,
    layout: Layout,
    order: Order,
    index: u64,
    /// A chunk that was too much for the last batch, and the bytes of its header.
    held: Option<(ChunkRecord, Vec<u8>)>,
}

impl<R: Read> Chunks<R> {
    fn copy_to(&mut self, out: &mut dyn Write, how: &Decoding) -> Result<u64> {
        let team = Worker::team(&how.threads);
        let mut jobs = Jobs::default();
        let mut nbytes = 0;
        loop {
            let more = self.gather(&mut jobs, how);
            jobs.run(None, &team, how, &mut |data| {
                nbytes += data.len() as u64;
                Ok(out.write_all(data)?)
            })?;
            if !more? {
                return Ok(nbytes);
            }
        }
    }

    /// Reads as many records as are worked on at a time; `false` if there are no more. After an
    /// error, those before it are there.
    fn gather(&mut self, jobs: &mut Jobs, how: &Decoding) -> Result<bool> {
        jobs.clear();
        let mut batch = Batch::new(&how.threads);
        loop {
            let next = match self.held.take() {
                Some(held) => Some(held),
                None => self.next_header()?,
            };
            let Some((place, start)) = next else { return Ok(false) };
            if !batch.takes(place.memory()) {
                self.held = Some((place, start));
                return Ok(true);
            }
            let len = usize::try_from(place.end - place.at).unwrap_or(usize::MAX);
            how.limits.check_chunks(self.index)?;
            how.limits.check("a chunk", len)?;
            let mut record = jobs.spare_record();
            record.extend_from_slice(&start);
            self.input
                .exactly(len - start.len(), &mut record, "its bytes")
                .map_err(|error| error.within(format_args!("chunk {}", place.index)))?;
            jobs.push(Job::with_record(place, record));
        }
    }

    /// The next chunk and the bytes of its header.
    fn next_header(&mut self) -> Result<Option<(ChunkRecord, Vec<u8>)>> {
        if self.layout.header.nchunks() == Some(self.index) {
            return Ok(None);
        }
        let index = self.index;
        let at = self.input.at;
        let mut start = Vec::with_capacity(2 * CHUNK_HEADER_LEN);
        let came = self.input.up_to(CHUNK_HEADER_LEN, &mut start)?;
        if came == 0 && self.layout.header.nchunks().is_none() && (index > 0 || self.layout.header.tells_no_size()) {
            return Ok(None);
        }
        let header =
            self.parse_header(&mut start).map_err(|error| error.within(format_args!("chunk {index}: at {at}")))?;
        self.order.admit(&self.layout, index, &header)?;
        self.layout.check_nbytes(index, &header).map_err(|error| error.within(format_args!("chunk {index}")))?;
        self.index += 1;
        let end = at + self.layout.record_len(&header);
        Ok(Some((ChunkRecord { index, at, header, end }, start)))
    }

    fn parse_header(&mut self, start: &mut Vec<u8>) -> Result<Header> {
        match Header::parse(start) {
            Err(error) if error.kind() == ErrorKind::Truncated && start.len() == CHUNK_HEADER_LEN => {
                self.input.up_to(CHUNK_HEADER_LEN, start)?;
                Header::parse(start)
            }
            parsed => parsed,
        }
    }
}
