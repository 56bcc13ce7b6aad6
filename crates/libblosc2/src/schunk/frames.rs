//! Super-chunks to the bytes of frames, and back.

use super::edit::Given;
use crate::code::{self, FAILURE, Outcome};
use crate::context::{self, Context};
use crate::structs::{Cparams, Schunk, Storage};
use crate::{defaults, schunk};
use blosc_oxide::storage::MemoryStorage;
use blosc_oxide::{Frame, FrameOptions, Options, SuperChunk};
use c_boundary::{memory, split};
use std::ffi::{CStr, CString};

impl Schunk {
    /// The bytes of a contiguous frame with the same chunks and metalayers.
    pub(crate) fn frame_bytes(&mut self) -> Outcome<Vec<u8>> {
        let mut options = FrameOptions::new(self.options_of_frame()?).with_checksums(false);
        for (name, content) in self.all_meta() {
            options = options.with_metalayer(text(name), content);
        }
        let mut edit = Frame::create(MemoryStorage::default(), options).map_err(|error| code::of(&error))?;
        self.fill(&mut edit)?;
        edit.commit().and_then(|frame| frame.to_bytes()).map_err(|error| code::of(&error))
    }

    /// What a frame says of the chunks that are made for it.
    pub(super) fn options_of_frame(&mut self) -> Outcome<Options> {
        let options = context::options_of_frame(&self.cparams())?;
        // SAFETY: it is NULL, or a context of this super-chunk, which nobody else uses.
        let writer = unsafe { memory::exclusive(self.cctx) };
        Ok(options.with_plugins(writer.map(Context::plugins).unwrap_or_default()))
    }

    fn fill(&self, target: &mut SuperChunk) -> Outcome<()> {
        target.vlmetalayers_mut().allow_many();
        for (name, content) in self.vlmeta_contents()? {
            target.vlmetalayers_mut().add(&text(&name), &content).map_err(|error| code::of(&error))?;
        }
        for index in 0..self.count() {
            target.append_chunk(&self.chunk(index)?).map_err(|error| code::of(&error))?;
        }
        Ok(())
    }
}

/// A super-chunk in memory with what the bytes of a frame have.
pub(crate) fn of_bytes(bytes: &[u8]) -> Outcome<*mut Schunk> {
    let frame = Frame::open(bytes.to_vec()).map_err(|error| code::of(&error))?;
    of_super_chunk(&frame)
}

/// The parameters that a frame's chunks are made with.
pub(super) fn cparams_of(source: &SuperChunk) -> Outcome<Cparams> {
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
        _ => split::FORWARD_COMPAT,
    };
    Ok(cparams)
}

fn of_super_chunk(source: &SuperChunk) -> Outcome<*mut Schunk> {
    let mut cparams = cparams_of(source)?;
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

/// A name as the library takes it.
pub(super) fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}
