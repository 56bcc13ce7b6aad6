//! Getting back what can be got back of a damaged frame.

mod candidates;
mod report;
mod rows;
mod scan;
mod watched;

pub use report::{LooseChunk, RepairReport, RepairUnknown, RepairedBy};

use crate::chunk::{Chunk, Compressor, Decompressor, Header, Options, Special, modernised};
use crate::error::{AtPath, Error, ErrorKind, Result, bail, error};
use crate::filter::BitshuffleRule;
use crate::frame::format::hashes::Hashes;
use crate::frame::format::index::Entry;
use crate::frame::options::FrameOptions;
use crate::frame::read::load;
use crate::frame::read::verify::{Damage, Remembered, is_obstacle};
use crate::frame::snapshot::frame::Frame;
use crate::frame::store::sparse::{INDEX_NAME, NEW_INDEX_NAME, file_name, file_number};
use crate::limits::{Limits, MAX_BLOCKSIZE};
use crate::schunk::{ChunkSize, State, SuperChunk, hash_of_chunk};
use crate::storage::{Directory, FileDirectory, FileStorage, MemoryStorage, ReadAt, read_exact};
use candidates::{Candidate, Candidates, options_of};
use rows::{Examined, LOST, Piece, Rows, usual_size, with_last_apart};
use scan::{FoundAt, Scan};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use watched::Watched;

const MIN_CHUNK: usize = 32;
/// The headers of chunks that are not damaged, by place and hash, and whether that is known.
type Good = Remembered<(u64, Option<u64>), (Header, bool)>;
/// What a chunk takes in the index of a frame that is written, and in its list of checksums while
/// that grows.
type CopyMemory = [u64; 4];
/// From how many chunks on there are no checksums if most of them are special.
const MANY_CHUNKS: usize = 1 << 20;

/// What could be found of a damaged frame, ready to be written to a new one.
///
/// The header is not trusted: the bytes are walked through from the first to the last, chunks are
/// recognised by their own headers, and the newest index that fits them tells which of them count
/// and in which order. Every chunk is compared with its checksum, where there is one, and decoded.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let mut frame = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// frame.append(b"worth keeping")?;
/// let mut bytes = frame.commit()?.to_bytes()?;
/// bytes[..80].fill(0);
/// assert!(Frame::open(bytes.clone()).is_err());
///
/// let repair = Frame::repair(MemoryStorage::new(bytes), Options::new(1))?;
/// let mut repaired = Frame::create(MemoryStorage::default(), repair.frame_options())?;
/// repair.write_to(&mut repaired)?;
/// assert_eq!(repaired.bytes(0..13)?, b"worth keeping");
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub struct Repair {
    origin: Origin,
    state: State,
    /// The chunks of the new frame, and how many of each there are in a row.
    pieces: Vec<(Piece, usize)>,
    options: FrameOptions,
    report: RepairReport,
}

impl Frame {
    /// Looks for what can be got back of a damaged contiguous frame. Of the options, threads,
    /// plug-ins and limits count.
    ///
    /// # Errors
    /// `Io` if `source` cannot be read. `LimitExceeded` if a chunk without a checksum, or a
    /// metalayer, asks for more memory than the limits allow: it may be good. Damage is no error.
    pub fn repair(source: impl ReadAt + 'static, options: impl Into<FrameOptions>) -> Result<Repair> {
        let options = options.into();
        let watched = Watched::new(&source);
        let scan = scan::scan(&watched, options.limits())?;
        let picked = Candidates { source: &watched, scan: &scan, files: None, limits: options.limits() }.pick();
        let picked = watched.check().and(picked)?;
        Repair::new(Origin::File(Box::new(source)), picked, &scan, None, options)
    }

    /// Looks for what can be got back of a damaged sparse frame. Of the options, threads, plug-ins
    /// and limits count.
    ///
    /// # Errors
    /// As [`repair`](Self::repair).
    pub fn repair_directory(directory: impl Directory + 'static, options: impl Into<FrameOptions>) -> Result<Repair> {
        let options = options.into();
        let files: BTreeSet<u64> = directory.names()?.iter().filter_map(|name| file_number(name)).collect();
        let source = index_of(&directory, options.limits())?;
        let watched = Watched::new(&*source);
        let scan = scan::scan(&watched, options.limits())?;
        let picked = Candidates { source: &watched, scan: &scan, files: Some(&files), limits: options.limits() }.pick();
        let picked = watched.check().and(picked)?;
        Repair::new(Origin::Directory(Box::new(directory)), picked, &scan, Some(files), options)
    }

    /// Looks for what can be got back of the damaged frame at `path`, a file or a directory. Of the
    /// options, threads, plug-ins and limits count.
    ///
    /// # Errors
    /// As [`repair`](Self::repair).
    pub fn repair_path(path: impl AsRef<Path>, options: impl Into<FrameOptions>) -> Result<Repair> {
        let path = path.as_ref();
        if path.is_dir() {
            return Self::repair_directory(FileDirectory::new(path), options).at_path(path);
        }
        Self::repair(FileStorage::open(path).at_path(path)?, options).at_path(path)
    }
}

/// The file with the index, or what a commit has left of a new one, or nothing. That a file is
/// there but cannot be read is no damage.
fn index_of(directory: &dyn Directory, limits: Limits) -> Result<Box<dyn ReadAt>> {
    let mut candidates: Vec<Box<dyn ReadAt>> = Vec::new();
    for name in [INDEX_NAME, NEW_INDEX_NAME] {
        match directory.open(name) {
            Ok(source) => candidates.push(source),
            Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {}
            Err(cause) => return Err(error!(Io, "{name}: {cause}").with_source(cause)),
        }
    }
    let mut best = 0;
    for (at, source) in candidates.iter().enumerate().rev() {
        match load::load(&**source, 0, limits) {
            Ok(_) => best = at,
            Err(error) if error.kind() == ErrorKind::Io => return Err(error),
            Err(_) => {}
        }
    }
    Ok(candidates.into_iter().nth(best).unwrap_or_else(|| Box::new(MemoryStorage::default())))
}

/// Where the chunks are.
enum Origin {
    File(Box<dyn ReadAt>),
    Directory(Box<dyn Directory>),
}

impl Origin {
    /// The chunk at this position, or in the file of this number.
    fn read(&self, place: u64, limits: Limits) -> Result<Vec<u8>> {
        match self {
            Self::File(source) => read_chunk(&**source, place, limits),
            Self::Directory(directory) => {
                let name = file_name(place);
                let source = directory.open(&name).map_err(|cause| error!(Io, "{name}: {cause}").with_source(cause))?;
                read_chunk(&*source, 0, limits)
            }
        }
    }
}

fn read_chunk(source: &dyn ReadAt, position: u64, limits: Limits) -> Result<Vec<u8>> {
    let mut head = [0; MIN_CHUNK];
    read_exact(source, position, &mut head, "chunk")?;
    let cbytes = Header::parse(&head)?.cbytes();
    let there = source.len()?.saturating_sub(position);
    if cbytes as u64 > there {
        bail!(Truncated, "chunk: it has {cbytes} bytes, {there} are there");
    }
    limits.check("a chunk", cbytes)?;
    let mut bytes = vec![0; cbytes];
    read_exact(source, position, &mut bytes, "chunk")?;
    Ok(bytes)
}

impl Repair {
    fn new(
        origin: Origin,
        picked: Candidate,
        scan: &Scan,
        files: Option<BTreeSet<u64>>,
        options: FrameOptions,
    ) -> Result<Self> {
        let loose = loose_chunks(&origin, &picked, scan, files, options.limits());
        let Candidate { by, state, rows, hashes, unknown, .. } = picked;
        let mut repair = Self {
            origin,
            state,
            pieces: Vec::new(),
            options,
            report: RepairReport {
                by,
                nchunks: rows.len(),
                checksums: 0,
                damaged_chunks: 0,
                damaged_metalayers: 0,
                damage: Vec::new(),
                unexamined: 0,
                loose,
                unrecognised: scan.unrecognised,
                unknown,
            },
        };
        let has_newer = repair.report.loose.iter().any(|chunk| chunk.is_uncommitted);
        if by == RepairedBy::HeaderCopy && has_newer {
            repair.report.unknown.push(RepairUnknown::IsNewest);
        }
        repair.report.unknown.extend(scan.gave_up_at.map(RepairUnknown::Rest));
        repair.check_options(scan);
        let rule = repair.bitshuffle_rule();
        repair.state.vlmetalayers.set_bitshuffle(rule);
        repair.check_chunks(&rows, hashes.as_ref())?;
        repair.check_metalayers()?;
        Ok(repair)
    }

    /// Options that nothing could be written with are damaged, too.
    fn check_options(&mut self, scan: &Scan) {
        if Compressor::new(self.options()).is_ok() {
            return;
        }
        let of_chunk = scan.chunks.first().map(|found| options_of(&found.header));
        let usable = of_chunk.into_iter().find(|options| Compressor::new(options.clone()).is_ok());
        let typesize = if self.state.typesize <= MAX_BLOCKSIZE { self.state.typesize } else { 1 };
        let options = State::new(&usable.unwrap_or_else(|| Options::new(typesize)));
        let damaged = std::mem::replace(&mut self.state, options);
        self.state.chunksize = damaged.chunksize;
        self.state.nbytes = damaged.nbytes;
        self.state.vlblocks = damaged.vlblocks;
        self.state.bitshuffle = damaged.bitshuffle;
        self.state.metalayers = damaged.metalayers;
        self.state.vlmetalayers = damaged.vlmetalayers;
        if !self.report.unknown.contains(&RepairUnknown::Options) {
            self.report.unknown.push(RepairUnknown::Options);
        }
    }

    /// Reads and checks all chunks, and finds out how long those are that are not stored or
    /// damaged. Those that are good or may be, but take more memory than there is or a codec that
    /// is not known, are not damaged.
    fn check_chunks(&mut self, rows: &Rows, hashes: Option<&Hashes>) -> Result<()> {
        let mut decompressor = self.decompressor();
        let mut good = Good::new();
        let mut examined = Vec::new();
        let mut vlblocks = None;
        let mut index = 0;
        for (entry, count) in rows.iter() {
            let end = index + count;
            while index < end {
                // Without hashes, all chunks at one place are as good as the first.
                let hash = hashes.and_then(|hashes| hashes.get(index));
                let is_alone = entry.offset().is_some() && hashes.is_some();
                let count = if is_alone { 1 } else { end - index };
                self.report.checksums += usize::from(hash.is_some());
                let mut check = |place| self.check_chunk(place, hash, &mut decompressor);
                let checked = entry.offset().map(|place| good.get_or((place, hash), || check(place)));
                let header = self.note_row(index, entry, count, checked)?;
                if let Some(header) = &header {
                    vlblocks.get_or_insert(header.has_vlblocks());
                }
                examined.push(Examined { entry, count, size: header.map(|header| header.nbytes()) });
                index += count;
            }
        }
        if let Some(vlblocks) = vlblocks {
            self.state.vlblocks = vlblocks;
        }
        self.lay_out(with_last_apart(examined), rows.len());
        Ok(())
    }

    /// Takes note of what has become of the chunks from `index` on. Their header, if they are
    /// stored and not damaged.
    fn note_row(
        &mut self,
        index: usize,
        entry: Entry,
        count: usize,
        checked: Option<Result<(Header, bool)>>,
    ) -> Result<Option<Header>> {
        let damage = match (checked, entry) {
            (Some(Ok((header, is_examined))), _) => {
                self.report.unexamined += if is_examined { 0 } else { count };
                return Ok(Some(header));
            }
            (Some(Err(error)), _) if error.kind() == ErrorKind::LimitExceeded => {
                return Err(error.within(format_args!("chunk {index}")));
            }
            (Some(Err(error)), _) => error,
            (None, LOST) => error!(Corrupt, "nothing was found of it"),
            (None, Entry::Wrong(bits)) => error!(Corrupt, "frame index: {bits:#x} is no place of a chunk"),
            (None, _) => return Ok(None),
        };
        self.note_damage(index, count, damage);
        Ok(None)
    }

    /// Takes note of chunks that are damaged in the same way; the first of them is described.
    fn note_damage(&mut self, index: usize, count: usize, error: Error) {
        self.report.note(Damage { chunk: Some(index), error: error.within(format_args!("chunk {index}")) });
        self.report.damaged_chunks += count - 1;
    }

    /// The header of a chunk that is not damaged, and whether that is known.
    fn check_chunk(&self, place: u64, hash: Option<u64>, decompressor: &mut Decompressor) -> Result<(Header, bool)> {
        let bytes = self.origin.read(place, self.options.limits())?;
        if let Some(hash) = hash {
            let found = hash_of_chunk(&bytes);
            if found != hash {
                bail!(ChecksumMismatch, "its hash is {found:016x}, not {hash:016x}");
            }
        }
        let chunk = Chunk::parse(&bytes)?;
        match decompressor.examine(&chunk) {
            // It is what was written, whatever that is.
            Err(error) if hash.is_some() && is_obstacle(&error) => Ok((*chunk.header(), true)),
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok((*chunk.header(), false)),
            result => result.map(|_| (*chunk.header(), true)),
        }
    }

    /// Decides what each chunk of the new frame is.
    fn lay_out(&mut self, examined: Vec<Examined>, nchunks: usize) {
        let usual = match self.state.chunksize {
            ChunkSize::Fixed(size) => Some(size),
            _ => usual_size(&examined),
        };
        let has_header = !self.report.unknown.contains(&RepairUnknown::Options);
        let is_last_known = self.report.by <= RepairedBy::HeaderCopy
            || has_header && load::nchunks_by_size(&self.state) == Some(nchunks);
        let last = examined.len().saturating_sub(1);
        for (at, row) in examined.into_iter().enumerate() {
            let assumed = if at == last && is_last_known { self.last_size(usual, nchunks) } else { usual };
            if at == last && row.size.is_none() && !is_last_known {
                self.report.unknown.push(RepairUnknown::LastLength);
            }
            self.pieces.push((row.piece(assumed), row.count));
        }
        let is_unsized = |(piece, _): &(Piece, usize)| matches!(piece, Piece::Special(_, None));
        if self.pieces.iter().any(is_unsized) && !self.report.unknown.contains(&RepairUnknown::SpecialChunks) {
            self.report.unknown.push(RepairUnknown::SpecialChunks);
        }
    }

    /// How long the last chunk is, if the header tells how much data there is.
    fn last_size(&self, usual: Option<usize>, nchunks: usize) -> Option<usize> {
        let usual = usual?;
        let before = (nchunks as u64).saturating_sub(1).saturating_mul(usual as u64);
        usize::try_from(self.state.nbytes.saturating_sub(before)).ok().filter(|&size| (1..=usual).contains(&size))
    }

    fn check_metalayers(&mut self) -> Result<()> {
        let examined = self.state.vlmetalayers.examine().map(|(name, result)| (name.to_owned(), result));
        for (name, result) in examined.collect::<Vec<_>>() {
            match result {
                Err(error) if error.kind() == ErrorKind::LimitExceeded => return Err(error),
                Err(error) if error.kind() == ErrorKind::Unsupported => self.report.unexamined += 1,
                Err(error) => {
                    self.state.vlmetalayers.take_chunk(&name);
                    self.report.note(Damage { chunk: None, error });
                }
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// What was found, and what could not be known.
    #[must_use]
    pub fn report(&self) -> &RepairReport {
        &self.report
    }

    /// The options that the frame had, or the first of its chunks.
    #[must_use]
    pub fn options(&self) -> Options {
        self.state.options(&self.options.chunks)
    }

    /// The options of a new frame for what was found: those of the frame, and its metalayers of
    /// fixed size. These have to be there before the first chunk of a [frame that is
    /// made](Frame::create). It is without checksums if there are 16 variable-length metalayers,
    /// because the checksums would be one more than other programs take, and if most of more than a
    /// million chunks are special: the list of checksums would be all that the frame is.
    #[must_use]
    pub fn frame_options(&self) -> FrameOptions {
        let has_room = self.state.vlmetalayers.has_room_for_checksums();
        let is_hollow = self.report.nchunks > MANY_CHUNKS && self.report.nchunks / 2 > self.pieces.len();
        let has_checksums = self.options.checksums && has_room && !is_hollow;
        let options = self.options.clone().with_chunks(self.options()).with_checksums(has_checksums);
        self.state.metalayers.iter().fold(options, |options, (name, content)| options.with_metalayer(name, content))
    }

    /// The data of a chunk that no index names.
    ///
    /// # Errors
    /// As [`Chunk::decompress`](crate::Chunk::decompress).
    pub fn decompress_loose(&self, chunk: &LooseChunk) -> Result<Vec<u8>> {
        let bytes = self.origin.read(chunk.position, self.options.limits())?;
        self.decompressor().decompress(&bytes)
    }

    fn decompressor(&self) -> Decompressor {
        Decompressor::new()
            .with_threads(self.options.chunks.threads.clone())
            .with_plugins(self.options.chunks.plugins.clone())
            .with_limits(self.options.limits())
            .with_bitshuffle(self.bitshuffle_rule())
    }

    /// The rule of bitshuffle of chunks that do not name it.
    fn bitshuffle_rule(&self) -> BitshuffleRule {
        self.state.bitshuffle.unwrap_or(self.options.bitshuffle())
    }

    /// A chunk as the new frame holds it, which follows the current rule of bitshuffle.
    fn read_piece(&self, place: u64) -> Result<Vec<u8>> {
        let bytes = self.origin.read(place, self.options.limits())?;
        if !Header::parse(&bytes)?.needs_old_bitshuffle(self.bitshuffle_rule()) {
            return Ok(bytes);
        }
        modernised(&bytes, self.options().level, &mut self.decompressor())
    }

    /// Appends the chunks to `target`, with zeros in place of damaged ones, and adds the
    /// metalayers.
    ///
    /// # Errors
    /// As [`SuperChunk::append_chunk`] and [`Metalayers::add`](crate::Metalayers::add);
    /// `LimitExceeded` if zeros, or the list of chunks, would take more memory than the limits
    /// allow.
    pub fn write_to(&self, target: &mut SuperChunk) -> Result<()> {
        for (name, content) in self.state.metalayers.iter() {
            if target.metalayers().get(name) != Some(content) {
                target.metalayers_mut().add(name, content)?;
            }
        }
        target.vlmetalayers_mut().extend(&self.state.vlmetalayers)?;
        for &(piece, count) in &self.pieces {
            match piece {
                Piece::At(place) => self.append_stored(target, &self.read_piece(place)?, count)?,
                Piece::Special(special, Some(nbytes)) => self.append_special(target, special, nbytes, count)?,
                Piece::Special(_, None) => {}
            }
        }
        Ok(())
    }

    fn append_stored(&self, target: &mut SuperChunk, chunk: &[u8], count: usize) -> Result<()> {
        let header = Header::parse(chunk)?;
        match header.special() {
            Some(special) if count > 1 && special != Special::Value && !header.has_vlblocks() => {
                self.append_special(target, special, header.nbytes(), count)
            }
            _ => {
                if count > 1 {
                    // Each copy is a chunk of its own in the new frame, and nothing bounds how
                    // often an index names one.
                    self.options.limits().check_list::<CopyMemory>("the list of copies of a chunk", count as u64)?;
                }
                (0..count).try_for_each(|_| target.append_chunk(chunk))
            }
        }
    }

    fn append_special(&self, target: &mut SuperChunk, special: Special, nbytes: usize, count: usize) -> Result<()> {
        if !self.state.vlblocks && nbytes.is_multiple_of(target.typesize()) {
            return target.fill(special, (nbytes as u64).saturating_mul(count as u64), nbytes);
        }
        // How long the chunk was is what a damaged file says.
        self.options.limits().check("zeros in place of a chunk", nbytes)?;
        let zeros = vec![0; nbytes];
        (0..count).try_for_each(|_| {
            if self.state.vlblocks { target.append_vlblocks(&[&zeros]) } else { target.append(&zeros) }
        })
    }
}

/// The chunks that are whole, but not named by the index.
fn loose_chunks(
    origin: &Origin,
    picked: &Candidate,
    scan: &Scan,
    files: Option<BTreeSet<u64>>,
    limits: Limits,
) -> Vec<LooseChunk> {
    let used: BTreeSet<u64> = picked.rows.iter().filter_map(|(entry, _)| entry.offset()).collect();
    let Some(files) = files else {
        let is_index = |found: &FoundAt| scan.trailer_after(found).is_some();
        let loose = scan.chunks.iter().filter(|found| !used.contains(&found.position) && !is_index(found));
        return loose.map(|found| LooseChunk::new(found.position, &found.header, picked.index_end)).collect();
    };
    let headers = files.difference(&used).filter_map(|&file| {
        let bytes = origin.read(file, limits).ok()?;
        Some((file, Header::parse(&bytes).ok()?))
    });
    headers.map(|(file, header)| LooseChunk::new(file, &header, 0)).collect()
}

impl LooseChunk {
    fn new(position: u64, header: &Header, index_end: u64) -> Self {
        Self { position, nbytes: header.nbytes(), cbytes: header.cbytes(), is_uncommitted: position >= index_end }
    }
}

impl std::fmt::Debug for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repair").field("report", &self.report).finish_non_exhaustive()
    }
}
