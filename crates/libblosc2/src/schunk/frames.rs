//! Super-chunks to the bytes of frames, and back.

use super::edit::Given;
use crate::code::{self, FAILURE, Outcome};
use crate::context;
use crate::structs::{Schunk, Storage};
use crate::{defaults, schunk};
use blosc_oxide::storage::MemoryStorage;
use blosc_oxide::{Format, Frame, FrameOptions, SuperChunk};
use c_boundary::split;
use std::ffi::{CStr, CString};

impl Schunk {
    /// The bytes of a contiguous frame with the same chunks and metalayers.
    pub(crate) fn to_frame(&self) -> Outcome<Vec<u8>> {
        let options = context::options(&self.cparams(), Format::Blosc2)?;
        let mut options = FrameOptions::new(options).with_checksums(false);
        for (name, content) in self.all_meta() {
            options = options.with_metalayer(text(name), content);
        }
        self.frame_of(options).and_then(|frame| frame.to_bytes()).map_err(|error| code::of(&error))
    }

    fn frame_of(&self, options: FrameOptions) -> blosc_oxide::Result<Frame> {
        let mut edit = Frame::create(MemoryStorage::default(), options)?;
        self.fill(&mut edit)?;
        edit.commit()
    }

    fn fill(&self, target: &mut SuperChunk) -> blosc_oxide::Result<()> {
        target.vlmetalayers_mut().allow_many();
        for (name, chunk) in self.all_vlmeta() {
            target.vlmetalayers_mut().add(&text(name), &blosc_oxide::decompress(chunk)?)?;
        }
        for index in 0..self.count() {
            target.append_chunk(self.chunk(index).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// A super-chunk in memory with what the bytes of a frame have.
pub(crate) fn of_bytes(bytes: &[u8]) -> Outcome<*mut Schunk> {
    let frame = Frame::open(bytes.to_vec()).map_err(|error| code::of(&error))?;
    of_super_chunk(&frame)
}

fn of_super_chunk(source: &SuperChunk) -> Outcome<*mut Schunk> {
    let number = |size: usize| i32::try_from(size).map_err(|_| FAILURE);
    let mut cparams = defaults::CPARAMS;
    cparams.typesize = number(source.typesize())?;
    cparams.compcode = source.codec().code();
    cparams.compcode_meta = source.options().codec_meta();
    cparams.clevel = source.level();
    cparams.filters = source.pipeline().ids();
    cparams.filters_meta = source.pipeline().metas();
    cparams.blocksize = number(source.blocksize().unwrap_or_default())?;
    cparams.use_dict = source.has_dict().into();
    cparams.splitmode = match source.split() {
        blosc_oxide::SplitMode::Always => split::ALWAYS,
        blosc_oxide::SplitMode::Never => split::NEVER,
        blosc_oxide::SplitMode::Auto => split::AUTO,
        blosc_oxide::SplitMode::ForwardCompat => split::FORWARD_COMPAT,
    };
    let storage = Storage { cparams: &raw mut cparams, ..defaults::STORAGE };
    // SAFETY: the storage points to parameters that live until it returns.
    let made = unsafe { schunk::new(&raw const storage) }?;
    // SAFETY: it was made just now.
    let fields = unsafe { schunk::of_c(made) }?;
    match fields.take_all(source) {
        Ok(()) => Ok(made),
        Err(code) => {
            // SAFETY: it was made above, and nobody has seen it.
            unsafe { schunk::free(made) };
            Err(code)
        }
    }
}

impl Schunk {
    fn take_all(&mut self, source: &SuperChunk) -> Outcome<()> {
        let name = |name: &str| CString::new(name).map_err(|_| FAILURE);
        for (layer, content) in source.metalayers().iter() {
            self.add_meta(&name(layer)?, content)?;
        }
        let layers = source.vlmetalayers().contents().map_err(|error| code::of(&error))?;
        for (layer, content) in layers {
            self.add_vlmeta(&name(&layer)?, &content, None)?;
        }
        if let Some(chunksize) = source.chunksize() {
            self.chunksize = i32::try_from(chunksize).map_err(|_| FAILURE)?;
        }
        for index in 0..source.nchunks() {
            let chunk = source.chunk(index).map_err(|error| code::of(&error))?;
            // SAFETY: it is a chunk.
            unsafe { self.append(Given { chunk: chunk.as_ptr().cast_mut(), copy: true }) }?;
        }
        self.current_nchunk = 0;
        Ok(())
    }
}

fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}
