//! Metalayers, as C programs see them: structs with a name and a content from `malloc`. The content
//! of a variable-length one is a chunk.

use crate::code::{self, FAILURE, INVALID_PARAM, NOT_FOUND, Outcome};
use crate::context::Context;
use crate::defaults;
use crate::structs::{Cparams, MAX_METALAYERS, MAX_VLMETALAYERS, Metalayer, Schunk};
use c_boundary::memory;
use std::ffi::CStr;
use std::ptr::null_mut;

const MAX_NAME: usize = 31;
const MAX_OVERHEAD: usize = 32;

/// A metalayer in memory that C may look into.
fn layer(name: &CStr, content: &[u8]) -> Outcome<*mut Metalayer> {
    let content_len = i32::try_from(content.len()).map_err(|_| INVALID_PARAM)?;
    let layer = Metalayer { name: memory::copy_for_c(name), content: memory::bytes_for_c(content), content_len };
    Ok(Box::into_raw(Box::new(layer)))
}

/// Frees a metalayer.
fn drop_layer(layer: &mut *mut Metalayer) {
    if layer.is_null() {
        return;
    }
    // SAFETY: it was made of a box in `layer`, and belongs to a super-chunk.
    let own = unsafe { Box::from_raw(*layer) };
    // SAFETY: it was taken with `malloc`.
    unsafe { memory::free(own.name) };
    // SAFETY: it was taken with `malloc`.
    unsafe { memory::free(own.content) };
    *layer = null_mut();
}

/// The place of the metalayer with this name.
fn position(layers: &[*mut Metalayer], name: &CStr) -> Option<usize> {
    layers.iter().position(|&layer| {
        // SAFETY: it is NULL, or a metalayer of a super-chunk.
        let layer = unsafe { memory::shared(layer) };
        // SAFETY: its name is NULL or a string.
        layer.is_some_and(|layer| unsafe { memory::text(layer.name) } == Some(name))
    })
}

/// The content of a metalayer.
fn content<'a>(layer: *mut Metalayer) -> &'a [u8] {
    // SAFETY: it is NULL, or a metalayer of a super-chunk.
    let Some(layer) = (unsafe { memory::shared(layer) }) else { return &[] };
    let len = usize::try_from(layer.content_len).unwrap_or_default();
    // SAFETY: the content is as long as is said.
    unsafe { memory::input(layer.content.cast(), len) }.unwrap_or_default()
}

/// The name of a metalayer.
fn name_of<'a>(layer: *mut Metalayer) -> &'a CStr {
    // SAFETY: it is NULL, or a metalayer of a super-chunk.
    let Some(layer) = (unsafe { memory::shared(layer) }) else { return c"" };
    // SAFETY: its name is NULL or a string.
    unsafe { memory::text(layer.name) }.unwrap_or_default()
}

impl Schunk {
    fn layers(&self) -> &[*mut Metalayer] {
        &self.metalayers[..usize::from(self.nmetalayers).min(MAX_METALAYERS)]
    }

    fn vllayers(&self) -> &[*mut Metalayer] {
        &self.vlmetalayers[..usize::try_from(self.nvlmetalayers).unwrap_or_default().min(MAX_VLMETALAYERS)]
    }

    /// Names and contents of all metalayers.
    pub(crate) fn all_meta(&self) -> impl Iterator<Item = (&CStr, &[u8])> {
        self.layers().iter().map(|&layer| (name_of(layer), content(layer)))
    }

    /// Names and chunks of all variable-length metalayers.
    pub(crate) fn all_vlmeta(&self) -> impl Iterator<Item = (&CStr, &[u8])> {
        self.vllayers().iter().map(|&layer| (name_of(layer), content(layer)))
    }

    /// The content of a metalayer, if it is there.
    pub(crate) fn meta(&self, name: &CStr) -> Option<&[u8]> {
        position(self.layers(), name).map(|place| content(self.metalayers[place]))
    }

    /// Gives a metalayer another content, of any length.
    pub(crate) fn replace_meta(&mut self, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        let place = position(self.layers(), name).ok_or(NOT_FOUND)?;
        self.set_meta(place, name, bytes)
    }

    /// Adds all variable-length metalayers to another super-chunk.
    pub(crate) fn copy_vlmeta(&self, target: &mut Self) -> Outcome<()> {
        for (name, chunk) in self.all_vlmeta() {
            target.add_vlmeta(name, &decompressed(chunk)?, None)?;
        }
        Ok(())
    }

    /// Adds a metalayer; its number.
    pub(crate) fn add_meta(&mut self, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        let place = usize::from(self.nmetalayers);
        if place >= MAX_METALAYERS || name.count_bytes() > MAX_NAME || position(self.layers(), name).is_some() {
            return Err(INVALID_PARAM);
        }
        self.metalayers[place] = layer(name, bytes)?;
        self.nmetalayers += 1;
        i32::try_from(place).map_err(|_| FAILURE)
    }

    /// Gives a metalayer another content, which is not longer; its number.
    pub(crate) fn update_meta(&mut self, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        let place = position(self.layers(), name).ok_or(NOT_FOUND)?;
        let mut whole = content(self.metalayers[place]).to_vec();
        whole.get_mut(..bytes.len()).ok_or(INVALID_PARAM)?.copy_from_slice(bytes);
        self.set_meta(place, name, &whole)
    }

    fn set_meta(&mut self, place: usize, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        let new = layer(name, bytes)?;
        drop_layer(&mut self.metalayers[place]);
        self.metalayers[place] = new;
        i32::try_from(place).map_err(|_| FAILURE)
    }

    /// The number of a variable-length metalayer.
    pub(crate) fn find_vlmeta(&self, name: &CStr) -> Outcome<i32> {
        let place = position(self.vllayers(), name).ok_or(NOT_FOUND)?;
        i32::try_from(place).map_err(|_| FAILURE)
    }

    /// Adds a variable-length metalayer; its number.
    pub(crate) fn add_vlmeta(&mut self, name: &CStr, bytes: &[u8], cparams: Option<&Cparams>) -> Outcome<i32> {
        let place = self.vllayers().len();
        if place >= MAX_VLMETALAYERS || name.count_bytes() > MAX_NAME || self.find_vlmeta(name).is_ok() {
            return Err(INVALID_PARAM);
        }
        self.vlmetalayers[place] = layer(name, &compressed(bytes, cparams)?)?;
        self.nvlmetalayers += 1;
        i32::try_from(place).map_err(|_| FAILURE)
    }

    /// Gives a variable-length metalayer another content; its number.
    pub(crate) fn update_vlmeta(&mut self, name: &CStr, bytes: &[u8], cparams: Option<&Cparams>) -> Outcome<i32> {
        let place = position(self.vllayers(), name).ok_or(NOT_FOUND)?;
        let new = layer(name, &compressed(bytes, cparams)?)?;
        drop_layer(&mut self.vlmetalayers[place]);
        self.vlmetalayers[place] = new;
        i32::try_from(place).map_err(|_| FAILURE)
    }

    /// The content of a variable-length metalayer, and its number.
    pub(crate) fn vlmeta(&self, name: &CStr) -> Outcome<(i32, Vec<u8>)> {
        let place = position(self.vllayers(), name).ok_or(NOT_FOUND)?;
        let bytes = decompressed(content(self.vlmetalayers[place]))?;
        Ok((i32::try_from(place).map_err(|_| FAILURE)?, bytes))
    }

    /// Takes a variable-length metalayer away; how many are left.
    pub(crate) fn delete_vlmeta(&mut self, name: &CStr) -> Outcome<i32> {
        let count = self.vllayers().len();
        let place = position(self.vllayers(), name).ok_or(NOT_FOUND)?;
        drop_layer(&mut self.vlmetalayers[place]);
        self.vlmetalayers.copy_within(place + 1..count, place);
        self.vlmetalayers[count - 1] = null_mut();
        self.nvlmetalayers -= 1;
        Ok(self.nvlmetalayers.into())
    }

    /// The names of all variable-length metalayers, as they are in the super-chunk.
    pub(crate) fn vlmeta_names(&self) -> impl Iterator<Item = *mut std::ffi::c_char> {
        self.vllayers().iter().map(|&layer| name_of(layer).as_ptr().cast_mut())
    }

    pub(crate) fn drop_layers(&mut self) {
        self.metalayers.iter_mut().chain(&mut self.vlmetalayers).for_each(drop_layer);
        (self.nmetalayers, self.nvlmetalayers) = (0, 0);
    }
}

/// The chunk of a variable-length metalayer.
fn compressed(bytes: &[u8], cparams: Option<&Cparams>) -> Outcome<Vec<u8>> {
    let mut cparams = cparams.copied().unwrap_or(Cparams { typesize: 1, ..defaults::CPARAMS });
    cparams.prefilter = None;
    let mut chunk = vec![0; bytes.len() + MAX_OVERHEAD];
    let len = Context::to_compress(cparams, None).compress(bytes, &mut chunk)?;
    chunk.truncate(usize::try_from(len).map_err(|_| FAILURE)?);
    Ok(chunk)
}

/// The content of a variable-length metalayer.
pub(crate) fn decompressed(chunk: &[u8]) -> Outcome<Vec<u8>> {
    blosc_oxide::decompress(chunk).map_err(|error| code::of(&error))
}
