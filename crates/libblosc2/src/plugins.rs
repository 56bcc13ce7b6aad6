//! Codecs and filters of C programs, as the library calls them.

use crate::process::registry;
use crate::structs::{Cparams, Dparams, UserCodec, UserFilter};
use blosc_oxide::plugin::{CodecContext, CodecPlugin, FilterContext, FilterPlugin, Plugins};
use blosc_oxide::{Error, ErrorKind, Result};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// What the functions of C programs are told about the call they are a part of, and what they have
/// returned.
pub(crate) struct Call {
    cparams: AtomicPtr<Cparams>,
    dparams: AtomicPtr<Dparams>,
    chunk: AtomicPtr<u8>,
    failure: AtomicI32,
}

impl Call {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            cparams: AtomicPtr::new(null_mut()),
            dparams: AtomicPtr::new(null_mut()),
            chunk: AtomicPtr::new(null_mut()),
            failure: AtomicI32::new(0),
        })
    }

    /// Another call begins.
    pub(crate) fn begin(&self, cparams: *mut Cparams, dparams: *mut Dparams, chunk: *const u8) {
        self.cparams.store(cparams, Ordering::Relaxed);
        self.dparams.store(dparams, Ordering::Relaxed);
        self.chunk.store(chunk.cast_mut(), Ordering::Relaxed);
        self.failure.store(0, Ordering::Relaxed);
    }

    /// The code that a function has failed with, if one has.
    pub(crate) fn failure(&self) -> Option<c_int> {
        Some(self.failure.load(Ordering::Relaxed)).filter(|&code| code < 0)
    }

    fn fail(&self, code: c_int, what: &'static str) -> Error {
        self.failure.store(code, Ordering::Relaxed);
        Error::new(ErrorKind::Corrupt, what)
    }
}

/// All that is registered.
pub(crate) fn all(call: &Arc<Call>) -> Plugins {
    let mut plugins = Plugins::new();
    for id in registry::FIRST_USER..=u8::MAX {
        if let Some(codec) = registry::codec(id) {
            let codec = Arc::new(Codec { functions: codec.functions, call: Arc::clone(call) });
            plugins = plugins.clone().with_codec(id, codec).unwrap_or(plugins);
        }
        if let Some(filter) = registry::filter(id) {
            let filter = Arc::new(Filter { functions: filter.functions, call: Arc::clone(call) });
            plugins = plugins.clone().with_filter(id, filter).unwrap_or(plugins);
        }
    }
    plugins
}

/// A codec, and the call it is used in.
struct Codec {
    functions: UserCodec,
    call: Arc<Call>,
}

// SAFETY: the pointers in it are functions, which a program has registered to be called from any
// thread, and a name that is not used.
unsafe impl Send for Codec {}
// SAFETY: as above.
unsafe impl Sync for Codec {}

impl CodecPlugin for Codec {
    fn compress(&self, src: &[u8], dst: &mut [u8], context: CodecContext<'_>) -> Result<Option<usize>> {
        let Some(encoder) = self.functions.encoder else {
            return Err(self.call.fail(crate::code::CODEC_SUPPORT, "the codec has no encoder"));
        };
        let (cparams, chunk) = (self.call.cparams.load(Ordering::Relaxed), self.call.chunk.load(Ordering::Relaxed));
        let (src_len, dst_len) = (length(src), length(dst));
        // SAFETY: both pieces of memory are as long as is said, and the parameters are those of the
        // call that is under way.
        let code =
            unsafe { encoder(src.as_ptr(), src_len, dst.as_mut_ptr(), dst_len, context.meta, cparams, chunk.cast()) };
        match usize::try_from(code) {
            Ok(0) => Ok(None),
            Ok(len) if len <= dst.len() => Ok(Some(len)),
            Ok(_) => Ok(None),
            Err(_) => Err(self.call.fail(code, "the codec has failed")),
        }
    }

    fn decompress(&self, src: &[u8], dst: &mut [u8], context: CodecContext<'_>) -> Result<usize> {
        let Some(decoder) = self.functions.decoder else {
            return Err(self.call.fail(crate::code::CODEC_SUPPORT, "the codec has no decoder"));
        };
        let (dparams, chunk) = (self.call.dparams.load(Ordering::Relaxed), self.call.chunk.load(Ordering::Relaxed));
        let (src_len, dst_len) = (length(src), length(dst));
        // SAFETY: both pieces of memory are as long as is said, and the parameters are those of the
        // call that is under way.
        let code =
            unsafe { decoder(src.as_ptr(), src_len, dst.as_mut_ptr(), dst_len, context.meta, dparams, chunk.cast()) };
        usize::try_from(code).map_err(|_| self.call.fail(code, "the codec has failed"))
    }

    fn version(&self) -> u8 {
        self.functions.version
    }
}

/// A filter, and the call it is used in.
struct Filter {
    functions: UserFilter,
    call: Arc<Call>,
}

// SAFETY: as for a codec.
unsafe impl Send for Filter {}
// SAFETY: as for a codec.
unsafe impl Sync for Filter {}

impl Filter {
    fn outcome(&self, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.call.fail(crate::code::FILTER_PIPELINE, "the filter has failed")) }
    }
}

impl FilterPlugin for Filter {
    fn forward(&self, src: &[u8], dst: &mut [u8], context: FilterContext) -> Result<()> {
        let cparams = self.call.cparams.load(Ordering::Relaxed);
        let Some(forward) = self.functions.forward else { return self.outcome(-1) };
        // SAFETY: both pieces of memory have this length, and the parameters are those of the call
        // that is under way.
        let code =
            unsafe { forward(src.as_ptr(), dst.as_mut_ptr(), length(src), context.meta, cparams, self.functions.id) };
        self.outcome(code)
    }

    fn backward(&self, src: &[u8], dst: &mut [u8], context: FilterContext) -> Result<()> {
        let dparams = self.call.dparams.load(Ordering::Relaxed);
        let Some(backward) = self.functions.backward else { return self.outcome(-1) };
        // SAFETY: both pieces of memory have this length, and the parameters are those of the call
        // that is under way.
        let code =
            unsafe { backward(src.as_ptr(), dst.as_mut_ptr(), length(src), context.meta, dparams, self.functions.id) };
        self.outcome(code)
    }
}

/// The length of a part of a block, which is never longer than an `int` can say.
fn length(bytes: &[u8]) -> i32 {
    i32::try_from(bytes.len()).unwrap_or(i32::MAX)
}
