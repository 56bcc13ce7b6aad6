//! The super-chunk: any number of chunks that are one sequence of bytes, with metadata.
//!
//! A [`SuperChunk`] does the same whether its chunks are in memory, in a file or in a directory: it asks a
//! [`ChunkStore`] for their bytes, and tells it what to change.

mod compared;
mod edit;
mod meta;
mod read;
mod stage;
mod starts;
mod state;
mod store;
mod stream;
mod undo;

pub(crate) use compared::Compared;
pub(crate) use meta::RESERVED_NAME;
pub use meta::{Metalayers, VlMetalayers};
pub use read::ChunkRun;
pub(crate) use read::Parts;
use starts::Starts;
pub(crate) use state::{ChunkSize, State};
pub(crate) use store::{Begun, ChunkStore, Foreign, MemoryStore, Slot, Source, Staged};
pub(crate) use stream::room_for;

use crate::chunk::{Compressor, Decompressor, FetchBuffer, Options, SplitMode};
use crate::codec::Codec;
use crate::error::{Result, bail, error};
use crate::exec::{Threads, lock};
use crate::filter::{BitshuffleRule, FilterPlugin, Pipeline};
use crate::limits::Limits;
use std::sync::{Arc, Mutex, OnceLock};
use undo::Undo;

/// Chunks in a row, read and edited as one sequence of bytes or items.
///
/// ```
/// use blosc_oxide::{Options, SuperChunk};
/// let mut sc = SuperChunk::new(Options::new(4))?;
/// for start in [0, 1000, 2000_u32] {
///     let buffer: Vec<u8> = (start..start + 1000).flat_map(u32::to_le_bytes).collect();
///     sc.append(&buffer)?;
/// }
/// assert_eq!((sc.nchunks(), sc.nbytes()), (3, 12_000));
/// assert_eq!(sc.items(1999..2001)?, [1999_u32, 2000].map(u32::to_le_bytes).concat());
/// sc.write_items(5, &7_u32.to_le_bytes())?;
/// assert_eq!(sc.items(5..6)?, 7_u32.to_le_bytes());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub struct SuperChunk {
    pub(crate) state: State,
    pub(crate) store: Box<dyn ChunkStore>,
    options: Options,
    limits: Limits,
    /// The rule of bitshuffle where neither a chunk nor its frame tells it.
    untold_bitshuffle: BitshuffleRule,
    /// Made when it is first needed: what cannot be written here may still be read.
    compressor: Option<Compressor>,
    /// Room for a chunk that is being made.
    packed: Vec<u8>,
    /// Readers that are not in use.
    idle: Mutex<Vec<Reader>>,
    /// Where each chunk starts, as far as that can be told; only for chunks of different sizes. Or why it cannot be found
    /// out, so that whoever asks for chunk after chunk does not try every time.
    starts: OnceLock<Result<Starts>>,
    is_changed: bool,
    /// The edit that is under way.
    undo: Option<Undo>,
    /// Whether an edit has failed that could not be taken back.
    is_broken: bool,
    /// How often others have changed what is here.
    generation: u64,
    /// The chunks that have been compared with their hashes; `None` if none is to be.
    compared: Option<Compared>,
}

impl SuperChunk {
    /// An empty one in memory.
    ///
    /// # Errors
    /// As [`Compressor::new`].
    pub fn new(options: Options) -> Result<Self> {
        let compressor = Compressor::new(options.clone())?;
        let mut sc = Self::with_store(State::new(&options), Box::new(MemoryStore::default()), options, Limits::new());
        sc.compressor = Some(compressor);
        Ok(sc)
    }

    /// One whose chunks are in `store`.
    pub(crate) fn with_store(state: State, store: Box<dyn ChunkStore>, options: Options, limits: Limits) -> Self {
        Self {
            state,
            store,
            compressor: None,
            packed: Vec::new(),
            options,
            limits,
            untold_bitshuffle: BitshuffleRule::default(),
            idle: Mutex::default(),
            starts: OnceLock::new(),
            is_changed: false,
            undo: None,
            is_broken: false,
            generation: 0,
            compared: None,
        }
    }

    /// Sets the rule of bitshuffle where neither a chunk nor its frame tells it.
    pub(crate) fn with_untold_bitshuffle(mut self, rule: BitshuffleRule) -> Self {
        self.untold_bitshuffle = rule;
        self.state.vlmetalayers.set_bitshuffle(self.bitshuffle_rule());
        self
    }

    /// The rule of bitshuffle of chunks that do not tell it, which are those of version 4: that of the release that has
    /// written the frame, or the one that was [chosen](crate::FrameOptions::bitshuffle) if no field of it tells.
    #[must_use]
    pub fn bitshuffle_rule(&self) -> BitshuffleRule {
        self.state.bitshuffle.unwrap_or(self.untold_bitshuffle)
    }

    /// The options that buffers are compressed with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The codec that buffers are compressed with. Ready chunks that were added may have another one.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.state.codec
    }

    /// The level that buffers are compressed with.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.state.level
    }

    /// The filters that buffers go through.
    #[must_use]
    pub fn pipeline(&self) -> Pipeline {
        self.state.pipeline
    }

    /// When blocks are split into streams.
    #[must_use]
    pub fn split(&self) -> SplitMode {
        self.state.split
    }

    /// The size of blocks that was asked for; `None` if it is chosen for each chunk.
    #[must_use]
    pub fn blocksize(&self) -> Option<usize> {
        (self.state.blocksize > 0).then_some(self.state.blocksize)
    }

    /// Whether each chunk gets a dictionary.
    #[must_use]
    pub fn has_dict(&self) -> bool {
        self.state.dict
    }

    /// The size of an item.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.state.typesize
    }

    /// The size of the data.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.state.nbytes
    }

    /// The number of items; a last one that is cut short does not count.
    #[must_use]
    pub fn nitems(&self) -> u64 {
        self.state.nbytes / self.state.typesize as u64
    }

    /// The size of the chunks as they are stored; special values that need no chunk take nothing.
    #[must_use]
    pub fn cbytes(&self) -> u64 {
        self.store.cbytes()
    }

    /// The number of chunks.
    #[must_use]
    pub fn nchunks(&self) -> usize {
        self.store.nchunks()
    }

    /// The size of the data of every chunk but perhaps the last; `None` if they differ or there is none yet.
    #[must_use]
    pub fn chunksize(&self) -> Option<usize> {
        match self.state.chunksize {
            ChunkSize::Fixed(size) => Some(size),
            ChunkSize::Unknown | ChunkSize::Variable => None,
        }
    }

    /// Whether the chunks keep blocks of different lengths apart.
    #[must_use]
    pub fn has_vlblocks(&self) -> bool {
        self.state.vlblocks
    }

    /// The metalayers: small, of fixed size, stored as they are.
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        &self.state.metalayers
    }

    /// The metalayers, to be changed.
    pub fn metalayers_mut(&mut self) -> &mut Metalayers {
        self.is_changed = true;
        &mut self.state.metalayers
    }

    /// The variable-length metalayers: of any size, compressed.
    #[must_use]
    pub fn vlmetalayers(&self) -> &VlMetalayers {
        &self.state.vlmetalayers
    }

    /// The variable-length metalayers, to be changed.
    pub fn vlmetalayers_mut(&mut self) -> &mut VlMetalayers {
        self.is_changed = true;
        &mut self.state.vlmetalayers
    }

    /// From now on no data of a chunk is given out before all of the chunk was compared with its hash, as far as hashes
    /// have been fetched. Returns which were compared before.
    pub(crate) fn compare_when_read(&mut self) -> Option<Compared> {
        self.compared.replace(Compared::default())
    }

    /// Compares all chunks once more if they are compared when they are read: they may no longer be what they were. Without
    /// hashes to compare them with, nothing is given out.
    fn compare_anew(&mut self) {
        if self.compared.is_some() {
            self.compared = Some(Compared::none(self.store.fetch_hashes()));
        }
    }

    /// Goes on as before [`compare_when_read`](Self::compare_when_read).
    pub(crate) fn compare_as_before(&mut self, compared: Option<Compared>) {
        self.compared = compared;
    }

    /// What a declared size may make it allocate.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Adds filters that know more than a chunk does.
    pub(crate) fn add_filter(&mut self, id: u8, filter: Arc<dyn FilterPlugin>) {
        self.options.plugins.insert_filter(id, filter);
        self.compressor = None;
        lock(&self.idle).clear();
    }

    /// The chunks are of this size, though there may be none yet, and have blocks of that size.
    pub(crate) fn set_sizes(&mut self, chunksize: usize, blocksize: usize) {
        self.state.chunksize = ChunkSize::Fixed(chunksize);
        if self.state.blocksize != blocksize {
            self.state.blocksize = blocksize;
            self.options = self.state.options(&self.options);
            self.compressor = None;
        }
        self.is_changed = true;
    }

    /// Publishes all changes so far. In memory there is nothing to do.
    ///
    /// # Errors
    /// `Io` if they cannot be written: the state before is kept then. `Poisoned` if that has happened before. `Conflict` if
    /// somebody else has changed the frame since the changes here began, and `Locked` if they are changing it: nothing is
    /// written then.
    pub fn commit(&mut self) -> Result<()> {
        let result = self.publish();
        self.store.release();
        result
    }

    pub(crate) fn publish(&mut self) -> Result<()> {
        // A panic has interrupted it.
        self.take_back();
        if self.is_broken {
            bail!(Poisoned, "a change has failed and could not be taken back: roll back, or open it again");
        }
        if self.is_changed {
            self.store.commit(&self.state)?;
            self.is_changed = false;
        }
        Ok(())
    }

    /// Gives up all changes since the last commit, of chunks and of metalayers: it is again what it was then. So an edit
    /// of many steps that fails half way is neither committed nor kept.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
    /// let mut frame = Frame::create_in(MemoryStorage::default(), Options::new(4))?;
    /// frame.append(&[1; 4000])?;
    /// frame.commit()?;
    /// frame.append(&[2; 4000])?;
    /// frame.rollback()?;
    /// assert_eq!(frame.nbytes(), 4000);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` in memory, where nothing is kept of what was there before, and if nothing has been committed yet.
    /// `Poisoned` if a write has failed: nothing more will be committed then. As [`Frame::open`](crate::Frame::open) if
    /// what was committed cannot be read.
    pub fn rollback(&mut self) -> Result<()> {
        self.take_back();
        let state = self.store.rollback();
        self.store.release();
        self.replace_state(state?);
        (self.is_changed, self.is_broken) = (false, false);
        Ok(())
    }

    /// Gets hold of the chunks before they are changed; whether they were not held before.
    pub(crate) fn begin(&mut self) -> Result<bool> {
        let begun = self.store.begin(self.is_changed)?;
        match begun.state {
            Some(state) => self.replace_state(state),
            None => self.compare_anew(),
        }
        Ok(begun.is_new)
    }

    /// There is something to publish, though no chunk has been changed.
    pub(crate) fn mark_changed(&mut self) {
        self.is_changed = true;
    }

    /// Lets others change the chunks, after an edit that has not changed any: one that has failed, or had nothing to do.
    pub(crate) fn release_unchanged(&mut self) {
        if !self.is_changed {
            self.store.release();
        }
    }

    /// How often others have changed what is here: what is known of an older one may no longer be true.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether there are changes that are not published.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Takes notice of what another process has committed since; whether it has.
    pub(crate) fn reload(&mut self) -> Result<bool> {
        if self.is_changed {
            return Ok(false);
        }
        let state = self.store.reload()?;
        let is_new = state.is_some();
        if let Some(state) = state {
            self.replace_state(state);
        }
        Ok(is_new)
    }

    /// Becomes what another process has made of it.
    pub(crate) fn replace_state(&mut self, state: State) {
        self.compare_anew();
        self.generation += 1;
        self.options = state.options(&self.options);
        self.state = state;
        self.state.vlmetalayers.set_bitshuffle(self.bitshuffle_rule());
        self.compressor = None;
        self.starts = OnceLock::new();
    }

    /// Lends a reader; several threads can each have one.
    fn with_reader<T>(&self, action: impl FnOnce(&mut Reader) -> Result<T>) -> Result<T> {
        let idle = lock(&self.idle).pop();
        let mut reader = idle.unwrap_or_else(|| self.new_reader(&self.options.threads));
        let result = action(&mut reader);
        lock(&self.idle).push(reader);
        result
    }

    fn new_reader(&self, threads: &Threads) -> Reader {
        let decompressor = Decompressor::new()
            .with_threads(threads.clone())
            .with_plugins(self.options.plugins.clone())
            .with_item(self.state.typesize)
            .with_bitshuffle(self.bitshuffle_rule())
            .with_limits(self.limits);
        Reader { decompressor, buffer: FetchBuffer::default() }
    }

    fn compressor(&mut self) -> Result<&mut Compressor> {
        if self.compressor.is_none() {
            self.compressor = Some(Compressor::new(self.options.clone())?);
        }
        self.compressor.as_mut().ok_or_else(|| error!(InvalidArgument, "there is no compressor"))
    }
}

/// What it takes to read a chunk.
struct Reader {
    decompressor: Decompressor,
    /// The chunk, or what is needed of it.
    buffer: FetchBuffer,
}

impl Drop for SuperChunk {
    fn drop(&mut self) {
        // What a panic has interrupted is half done.
        if !std::thread::panicking() {
            // There is nobody left to tell; who wants to know calls `commit`.
            let _ = self.commit();
        }
    }
}

impl std::fmt::Debug for SuperChunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SuperChunk")
            .field("nchunks", &self.nchunks())
            .field("nbytes", &self.nbytes())
            .field("cbytes", &self.cbytes())
            .field("typesize", &self.typesize())
            .finish_non_exhaustive()
    }
}
