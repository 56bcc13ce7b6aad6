//! The type, and what it is apart from its chunks.

mod edit;
mod publish;
mod read;
mod stream;

pub use read::ChunkRun;
pub(crate) use read::Parts;
pub(crate) use stream::room_for;

use super::checked_chunks::CheckedChunks;
use super::meta::{Metalayers, VlMetalayers};
use super::starts::Starts;
use super::state::{ChunkSize, State};
use super::store::{MemoryStore, PublishChunks, ReadChunks};
use super::undo::UndoLog;
use crate::chunk::{Compressor, Decompressor, FetchBuffer, Options, SplitMode};
use crate::codec::Codec;
use crate::error::{Result, bail, error};
use crate::exec::{Threads, lock};
use crate::filter::{BitshuffleRule, FilterPlugin, Pipeline};
use crate::limits::Limits;
use std::sync::{Arc, Mutex, OnceLock};

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
///
/// By itself it is in memory. A [`Frame`](crate::Frame) lends one to read, and a
/// [`FrameEdit`](crate::FrameEdit) one to change.
pub struct SuperChunk {
    state: State,
    store: Store,
    options: Options,
    limits: Limits,
    /// The rule of bitshuffle where neither a chunk nor its frame tells it.
    untold_bitshuffle: BitshuffleRule,
    /// Made when it is first needed: what cannot be written here may still be read.
    compressor: Option<Compressor>,
    /// Buffer for a chunk that is being made.
    packed: Vec<u8>,
    /// Readers that are not in use.
    idle: Mutex<Vec<Reader>>,
    /// Where each chunk starts, as far as that can be told; only for chunks of different sizes. Or
    /// why it cannot be found out, so that whoever asks for chunk after chunk does not try every
    /// time.
    starts: OnceLock<Result<Arc<Starts>>>,
    is_changed: bool,
    /// The edit that is under way.
    undo: Option<UndoLog>,
    /// Whether an edit has failed that could not be taken back.
    is_broken: bool,
    /// The chunks that have been compared with their hashes; `None` if none is to be.
    compared: Option<CheckedChunks>,
    /// By which the edit that it belongs to recognises it.
    token: Option<Arc<()>>,
}

impl SuperChunk {
    /// An empty one in memory.
    ///
    /// # Errors
    /// As [`Compressor::new`].
    pub fn new(options: Options) -> Result<Self> {
        let compressor = Compressor::new(options.clone())?;
        let mut sc = Self::in_memory(State::new(&options), options);
        sc.compressor = Some(compressor);
        Ok(sc)
    }

    /// The same where nothing has been checked.
    fn in_memory(state: State, options: Options) -> Self {
        Self::with_store(state, Store::Own(Box::new(MemoryStore::default())), options, Limits::new())
    }

    /// An empty one, to put in place of one that is moved out.
    pub(crate) fn placeholder() -> Self {
        let options = Options::new(1);
        Self::in_memory(State::new(&options), options)
    }

    /// One whose chunks are in `store`.
    pub(crate) fn with_store(state: State, store: Store, options: Options, limits: Limits) -> Self {
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
            compared: None,
            token: None,
        }
    }

    /// Sets the rule of bitshuffle where neither a chunk nor its frame tells it.
    pub(crate) fn with_untold_bitshuffle(mut self, rule: BitshuffleRule) -> Self {
        self.untold_bitshuffle = rule;
        self.state.vlmetalayers.set_bitshuffle(self.bitshuffle_rule());
        self
    }

    /// The rule of bitshuffle of chunks that do not tell it, which are those of version 4: that of
    /// the release that has written the frame, or the one that was
    /// [chosen](crate::FrameOptions::bitshuffle) if no field of it tells.
    #[must_use]
    pub fn bitshuffle_rule(&self) -> BitshuffleRule {
        self.state.bitshuffle.unwrap_or(self.untold_bitshuffle)
    }

    /// The options that buffers are compressed with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The codec that buffers are compressed with. Ready chunks that were added may have another
    /// one.
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
        self.store().cbytes()
    }

    /// The number of chunks.
    #[must_use]
    pub fn nchunks(&self) -> usize {
        self.store().nchunks()
    }

    /// The size of the data of every chunk but perhaps the last; `None` if they differ or there is
    /// none yet.
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

    /// Limits for what a declared size may allocate.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Adds filters that know more than a chunk does.
    pub(crate) fn add_filter(&mut self, id: u8, filter: Arc<dyn FilterPlugin>) {
        self.options.plugins.insert_filter(id, filter);
        self.compressor = None;
        lock(&self.idle).clear();
    }

    /// Says which shape blocks have, in items.
    pub(crate) fn set_block_shape(&mut self, shape: &[usize]) {
        self.options.block_shape = Some(shape.into());
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

    /// What is read of the chunks.
    pub(crate) fn store(&self) -> &dyn ReadChunks {
        self.store.read()
    }

    /// What changes the chunks.
    fn own(&mut self) -> Result<&mut dyn PublishChunks> {
        self.store.own()
    }

    /// What it is, apart from its chunks.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Takes over the state that another process has committed.
    pub(crate) fn replace_state(&mut self, state: State) {
        self.forget_checked();
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
            .with_block_shape(self.options.block_shape())
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

/// Where the chunks are.
pub(crate) enum Store {
    /// Where others read them, too; nobody changes them.
    Shared(Arc<dyn ReadChunks>),
    Own(Box<dyn PublishChunks>),
}

impl Store {
    fn read(&self) -> &dyn ReadChunks {
        match self {
            Self::Shared(store) => &**store,
            Self::Own(store) => &**store,
        }
    }

    fn own(&mut self) -> Result<&mut dyn PublishChunks> {
        match self {
            Self::Own(store) => Ok(&mut **store),
            Self::Shared(_) => bail!(InvalidArgument, "it is open for reading only: begin an edit"),
        }
    }

    fn snapshot(&self, with_hashes: bool) -> Result<Arc<dyn ReadChunks>> {
        match self {
            Self::Shared(store) => Ok(Arc::clone(store)),
            Self::Own(store) => store.snapshot(with_hashes),
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
