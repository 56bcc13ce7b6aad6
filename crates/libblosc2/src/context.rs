//! What compresses or decompresses for C programs: a context.

use crate::code::{self, CODEC_DICT, CODEC_PARAM, CODEC_SUPPORT, FAILURE, FILTER_PIPELINE, INVALID_PARAM, Outcome};
use crate::defaults;
use crate::plugins::{self, Call};
use crate::process::{registry, threads};
use crate::structs::{Cparams, Dparams, MAX_FILTERS, PostfilterParams, PrefilterParams, Tuner};
use blosc_oxide::plugin::Plugins;
use blosc_oxide::{Codec, Compressor, Decompressor, ErrorKind, Format, Limits, Options, Pipeline, SplitMode};
use c_boundary::split;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Instant;

/// What a context is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Compress,
    Decompress,
}

/// A context. C programs have pointers to it, and know nothing of what is inside.
pub(crate) struct Context {
    pub(crate) role: Role,
    pub(crate) cparams: Cparams,
    pub(crate) dparams: Dparams,
    /// What callbacks are given: copies, because the program's own may be gone.
    pub(crate) preparams: Option<PrefilterParams>,
    pub(crate) postparams: Option<PostfilterParams>,
    /// The number of the chunk that is worked on, as callbacks see it.
    pub(crate) nchunk: i64,
    /// The blocks that are not to be decompressed by the next call.
    pub(crate) maskout: Option<Vec<bool>>,
    /// The size of blocks of the chunk that was compressed last.
    pub(crate) blocksize: i32,
    pub(crate) format: Format,
    /// The shape of blocks, which codecs of arrays need to know.
    pub(crate) block_shape: Option<Vec<usize>>,
    /// What the program has registered to be told of each chunk.
    pub(crate) tuner: Option<&'static Tuner>,
    call: Arc<Call>,
    plugins: Plugins,
    known_plugins: usize,
    compressor: Option<Compressor>,
    decompressor: Option<(i16, Decompressor)>,
}

// SAFETY: its pointers are those that the program has given it, which by the contract of blosc2.h
// are used by one thread at a time together with the context.
unsafe impl Send for Context {}

impl Context {
    pub(crate) fn to_compress(cparams: Cparams, preparams: Option<PrefilterParams>) -> Self {
        Self { cparams, preparams, ..Self::new(Role::Compress) }
    }

    pub(crate) fn to_decompress(dparams: Dparams, postparams: Option<PostfilterParams>) -> Self {
        Self { dparams, postparams, ..Self::new(Role::Decompress) }
    }

    fn new(role: Role) -> Self {
        Self {
            role,
            cparams: defaults::CPARAMS,
            dparams: defaults::DPARAMS,
            preparams: None,
            postparams: None,
            nchunk: -1,
            maskout: None,
            blocksize: 0,
            format: Format::Blosc2,
            block_shape: None,
            tuner: None,
            call: Call::new(),
            plugins: Plugins::new(),
            known_plugins: 0,
            compressor: None,
            decompressor: None,
        }
    }

    /// Takes the parameters of another call, and keeps its memory.
    pub(crate) fn set_cparams(&mut self, cparams: Cparams) {
        (self.cparams, self.preparams) = (cparams, None);
    }

    /// The compressor for the parameters as they are now.
    pub(crate) fn compressor(&mut self) -> Outcome<&mut Compressor> {
        self.find_plugins();
        let options = options(&self.cparams, self.format)?
            .with_plugins(self.plugins.clone())
            .with_block_shape(self.block_shape.as_deref());
        let compressor = match self.compressor.take() {
            Some(compressor) if *compressor.options() == options => compressor,
            Some(mut compressor) => {
                compressor.set_options(options).map_err(|error| refused(&error))?;
                compressor
            }
            None => Compressor::new(options).map_err(|error| refused(&error))?,
        };
        Ok(self.compressor.insert(compressor))
    }

    /// The codecs and filters that are registered.
    pub(crate) fn plugins(&mut self) -> Plugins {
        self.find_plugins();
        self.plugins.clone()
    }

    /// The decompressor for the parameters as they are now.
    pub(crate) fn decompressor(&mut self) -> &mut Decompressor {
        if self.find_plugins() {
            self.decompressor = None;
        }
        let count = self.dparams.nthreads;
        let (known, mut decompressor) = self.decompressor.take().unwrap_or_else(|| {
            let limits = Limits::new().with_max_allocation(usize::MAX);
            (
                count,
                Decompressor::new()
                    .with_limits(limits)
                    .with_plugins(self.plugins.clone())
                    .with_threads(threads::of(count)),
            )
        });
        if known != count {
            decompressor.set_threads(threads::of(count));
        }
        decompressor.set_block_shape(self.block_shape.as_deref());
        &mut self.decompressor.insert((count, decompressor)).1
    }

    /// Takes notice of what has been registered; whether something has.
    fn find_plugins(&mut self) -> bool {
        let changes = registry::changes();
        let is_new = changes != self.known_plugins;
        if is_new {
            self.plugins = plugins::all(&self.call);
            self.known_plugins = changes;
        }
        is_new
    }

    /// A call begins: what codecs and filters of the program are told.
    pub(crate) fn begin(&mut self, chunk: *const u8) {
        self.call.begin(&raw mut self.cparams, &raw mut self.dparams, chunk);
    }

    /// The code for a call that has failed.
    pub(crate) fn failure(&self, error: &blosc_oxide::Error) -> c_int {
        self.call.failure().unwrap_or_else(|| code::of(error))
    }

    /// Compresses `src` to `dest`: the length of the chunk, 0 if it does not fit, or a code. Where
    /// the data comes from a prefilter, `src` is a copy of what that has made.
    pub(crate) fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Outcome<c_int> {
        self.ask_tuner()?;
        self.begin(dest.as_ptr());
        let start = self.tuner.map(|_| Instant::now());
        let written = self.compressor()?.compress_into(src, dest);
        match written {
            Ok(len) => {
                self.blocksize = blocksize_of(dest);
                if let Some(start) = start {
                    self.tell_tuner(start.elapsed())?;
                }
                Ok(code::of_len(len))
            }
            Err(error) if error.kind() == ErrorKind::OutputTooSmall => Ok(0),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Compresses blocks of any lengths to `dest`, as [`compress`](Self::compress).
    pub(crate) fn compress_blocks(&mut self, blocks: &[&[u8]], dest: &mut [u8]) -> Outcome<c_int> {
        self.begin(dest.as_ptr());
        let chunk = self.compressor()?.compress_vlblocks(blocks).map_err(|error| self.failure(&error))?;
        let Some(place) = dest.get_mut(..chunk.len()) else { return Ok(0) };
        place.copy_from_slice(&chunk);
        Ok(code::of_len(chunk.len()))
    }
}

/// Bytes 8 to 11 of a chunk.
fn blocksize_of(chunk: &[u8]) -> i32 {
    chunk.get(8..12).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_le_bytes)
}

/// The code for options that are refused.
fn refused(error: &blosc_oxide::Error) -> c_int {
    if error.kind() == ErrorKind::Unsupported { CODEC_SUPPORT } else { INVALID_PARAM }
}

/// The options that parameters stand for.
pub(crate) fn options(cparams: &Cparams, format: Format) -> Outcome<Options> {
    if cparams.clevel > 9 {
        return Err(CODEC_PARAM);
    }
    if cparams.instr_codec {
        return Err(INVALID_PARAM);
    }
    let codec = Codec::from_code(cparams.compcode);
    let is_there = match codec {
        Codec::Snappy | Codec::Lizard => false,
        Codec::Plugin(id) if registry::codec(id).is_some() => true,
        codec => codec.is_built_in(),
    };
    if !is_there {
        return Err(CODEC_SUPPORT);
    }
    if registry::user_filters(cparams.filters).any(|id| registry::filter(id).is_none()) {
        return Err(FILTER_PIPELINE);
    }
    if cparams.use_dict != 0 && !matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd) {
        return Err(CODEC_DICT);
    }
    let positive = |number: i32| usize::try_from(number).ok().filter(|&number| number > 0);
    let typesize = positive(cparams.typesize).ok_or(INVALID_PARAM)?;
    let pipeline = Pipeline::from_slots(cparams.filters, metas(cparams));
    Ok(Options::new(typesize)
        .with_format(format)
        .with_codec(codec)
        .with_codec_meta(cparams.compcode_meta)
        .with_level(cparams.clevel)
        .with_pipeline(pipeline)
        .with_split(split_mode(cparams.splitmode))
        .with_blocksize(positive(cparams.blocksize))
        .with_dict(cparams.use_dict != 0)
        .with_threads(threads::of(cparams.nthreads)))
}

/// The options that a frame has of its chunks. It may have none of a codec without dictionaries,
/// which only fails when one is to be made.
pub(crate) fn options_of_frame(cparams: &Cparams) -> Outcome<Options> {
    match options(cparams, Format::Blosc2) {
        Err(CODEC_DICT) => options(&Cparams { use_dict: 0, ..*cparams }, Format::Blosc2),
        options => options,
    }
}

/// Parameters of empty slots mean nothing, and are not written.
fn metas(cparams: &Cparams) -> [u8; MAX_FILTERS] {
    let mut metas = cparams.filters_meta;
    metas.iter_mut().zip(cparams.filters).filter(|&(_, id)| id == 0).for_each(|(meta, _)| *meta = 0);
    metas
}

/// A split mode by its number; any that is none stands for the default.
fn split_mode(number: i32) -> SplitMode {
    match number {
        split::ALWAYS => SplitMode::Always,
        split::NEVER => SplitMode::Never,
        split::AUTO => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    }
}

/// The context that a pointer of C's points to.
///
/// # Safety
/// `context` is NULL, or comes from `blosc2_create_cctx` or `blosc2_create_dctx`, is not freed yet,
/// and is not in use.
pub(crate) unsafe fn of_c<'a>(context: *mut Context, role: Role) -> Outcome<&'a mut Context> {
    // SAFETY: the caller promises it.
    let context = unsafe { c_boundary::memory::exclusive(context) }.ok_or(code::NULL_POINTER)?;
    if context.role == role { Ok(context) } else { Err(INVALID_PARAM) }
}

/// The code of a prefilter that has failed.
pub(crate) const PREFILTER_FAILED: c_int = FILTER_PIPELINE;

/// What a function returns that has panicked.
pub(crate) const PANICKED: c_int = FAILURE;
