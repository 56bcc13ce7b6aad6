//! Metalayers, as C programs see them: structs with a name and a content from `malloc`. The content
//! of a variable-length one is a chunk; of those that are stored, only the name is in memory.

use super::frames::text;
use crate::code::{self, FAILURE, INVALID_PARAM, NOT_FOUND, Outcome};
use crate::context::Context;
use crate::defaults;
use crate::structs::{Cparams, MAX_METALAYERS, MAX_VLMETALAYERS, Metalayer, Schunk};
use blosc_oxide::SuperChunk;
use c_boundary::memory;
use std::ffi::{CStr, CString};
use std::ptr::null_mut;

const MAX_NAME: usize = 31;
const MAX_OVERHEAD: usize = 32;

/// A metalayer in memory that C may look into.
fn layer(name: &CStr, content: &[u8]) -> Outcome<*mut Metalayer> {
    let content_len = i32::try_from(content.len()).map_err(|_| INVALID_PARAM)?;
    let layer = Metalayer { name: memory::copy_for_c(name), content: memory::bytes_for_c(content), content_len };
    Ok(Box::into_raw(Box::new(layer)))
}

/// The place of a metalayer as C programs get it.
fn number(place: Option<usize>) -> Outcome<i32> {
    i32::try_from(place.ok_or(NOT_FOUND)?).map_err(|_| FAILURE)
}

/// Frees a metalayer.
fn drop_layer(layer: *mut Metalayer) {
    if layer.is_null() {
        return;
    }
    // SAFETY: it was made of a box in `layer`, and belongs to a super-chunk.
    let own = unsafe { Box::from_raw(layer) };
    // SAFETY: it was taken with `malloc`.
    unsafe { memory::free(own.name) };
    // SAFETY: it was taken with `malloc`.
    unsafe { memory::free(own.content) };
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

    /// Names and contents of all variable-length metalayers.
    pub(super) fn vlmeta_contents(&self) -> Outcome<Vec<(CString, Vec<u8>)>> {
        if let Some(state) = self.stored() {
            let contents = state.vlmetalayers().contents().map_err(|error| code::of(&error))?;
            let named = |(name, content)| Ok((CString::new(name).map_err(|_| FAILURE)?, content));
            return contents.into_iter().map(named).collect();
        }
        self.vllayers().iter().map(|&layer| Ok((name_of(layer).to_owned(), decompressed(content(layer))?))).collect()
    }

    /// Lets the metalayers of the struct follow those that are stored; whether any has changed.
    /// A view has its own.
    pub(super) fn mirror_layers(&mut self) -> Outcome<bool> {
        let Some(state) = self.stored().filter(|_| !self.view) else { return Ok(false) };
        let is_same = self
            .all_meta()
            .map(|(name, content)| (text(name), content))
            .eq(state.metalayers().iter().map(|(name, content)| (name.to_owned(), content)))
            && self.vllayers().iter().map(|&layer| text(name_of(layer))).eq(state.vlmetalayers().names());
        if is_same {
            return Ok(false);
        }
        let named = |name: &str| CString::new(name).map_err(|_| FAILURE);
        let all = state.metalayers().iter().take(MAX_METALAYERS);
        let all: Vec<_> = all.map(|(name, content)| layer(&named(name)?, content)).collect::<Outcome<_>>()?;
        let names = state.vlmetalayers().names().take(MAX_VLMETALAYERS);
        let names: Vec<_> = names.map(|name| layer(&named(name)?, &[])).collect::<Outcome<_>>()?;
        self.drop_layers();
        self.metalayers[..all.len()].copy_from_slice(&all);
        self.vlmetalayers[..names.len()].copy_from_slice(&names);
        self.nmetalayers = u16::try_from(all.len()).map_err(|_| FAILURE)?;
        self.nvlmetalayers = i16::try_from(names.len()).map_err(|_| FAILURE)?;
        Ok(true)
    }

    /// The content of a metalayer, if it is there.
    pub(crate) fn meta(&self, name: &CStr) -> Option<&[u8]> {
        position(self.layers(), name).map(|place| content(self.metalayers[place]))
    }

    /// Gives a metalayer another content, of any length.
    pub(crate) fn replace_meta(&mut self, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        position(self.layers(), name).ok_or(NOT_FOUND)?;
        self.set_meta(name, bytes)
    }

    /// Adds all variable-length metalayers to another super-chunk.
    pub(crate) fn copy_vlmeta(&self, target: &mut Self) -> Outcome<()> {
        let contents = self.vlmeta_contents()?;
        target.together(|target| {
            contents.iter().try_for_each(|(name, content)| target.add_vlmeta(name, content, None).map(drop))
        })
    }

    /// Adds a metalayer; its number.
    pub(crate) fn add_meta(&mut self, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        let place = usize::from(self.nmetalayers);
        if place >= MAX_METALAYERS || name.count_bytes() > MAX_NAME || position(self.layers(), name).is_some() {
            return Err(INVALID_PARAM);
        }
        if !self.change_layers(|stored| stored.metalayers_mut().add(&text(name), bytes))? {
            self.metalayers[place] = layer(name, bytes)?;
            self.nmetalayers += 1;
        }
        number(position(self.layers(), name))
    }

    /// Gives a metalayer another content, which is not longer; its number.
    pub(crate) fn update_meta(&mut self, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        let place = position(self.layers(), name).ok_or(NOT_FOUND)?;
        let mut whole = content(self.metalayers[place]).to_vec();
        whole.get_mut(..bytes.len()).ok_or(INVALID_PARAM)?.copy_from_slice(bytes);
        self.set_meta(name, &whole)
    }

    fn set_meta(&mut self, name: &CStr, bytes: &[u8]) -> Outcome<i32> {
        if !self.change_layers(|stored| stored.metalayers_mut().update(&text(name), bytes))? {
            let place = position(self.layers(), name).ok_or(NOT_FOUND)?;
            let old = std::mem::replace(&mut self.metalayers[place], layer(name, bytes)?);
            drop_layer(old);
        }
        number(position(self.layers(), name))
    }

    /// Changes the metalayers that are stored; whether there are any.
    fn change_layers(&mut self, action: impl FnOnce(&mut SuperChunk) -> blosc_oxide::Result<()>) -> Outcome<bool> {
        self.change_tick += 1;
        if self.disk().is_none() || self.view {
            return Ok(false);
        }
        self.together(|schunk| {
            schunk.change(action)?;
            schunk.mirror_layers().map(|_| true)
        })
    }

    /// The number of a variable-length metalayer.
    pub(crate) fn find_vlmeta(&self, name: &CStr) -> Outcome<i32> {
        number(position(self.vllayers(), name))
    }

    /// Adds a variable-length metalayer; its number.
    pub(crate) fn add_vlmeta(&mut self, name: &CStr, bytes: &[u8], cparams: Option<&Cparams>) -> Outcome<i32> {
        let place = self.vllayers().len();
        if place >= MAX_VLMETALAYERS || name.count_bytes() > MAX_NAME || self.find_vlmeta(name).is_ok() {
            return Err(INVALID_PARAM);
        }
        let is_stored = self.change_layers(|stored| {
            stored.vlmetalayers_mut().allow_many();
            stored.vlmetalayers_mut().add(&text(name), bytes)
        })?;
        if !is_stored {
            self.vlmetalayers[place] = layer(name, &compressed(bytes, cparams)?)?;
            self.nvlmetalayers += 1;
        }
        self.find_vlmeta(name)
    }

    /// Gives a variable-length metalayer another content; its number.
    pub(crate) fn update_vlmeta(&mut self, name: &CStr, bytes: &[u8], cparams: Option<&Cparams>) -> Outcome<i32> {
        let place = position(self.vllayers(), name).ok_or(NOT_FOUND)?;
        if !self.change_layers(|stored| stored.vlmetalayers_mut().update(&text(name), bytes))? {
            let new = layer(name, &compressed(bytes, cparams)?)?;
            drop_layer(std::mem::replace(&mut self.vlmetalayers[place], new));
        }
        self.find_vlmeta(name)
    }

    /// The content of a variable-length metalayer, and its number.
    pub(crate) fn vlmeta(&self, name: &CStr) -> Outcome<(i32, Vec<u8>)> {
        let place = position(self.vllayers(), name).ok_or(NOT_FOUND)?;
        let bytes = match self.stored() {
            Some(state) => state.vlmetalayers().get(&text(name)).map_err(|error| code::of(&error))?.ok_or(NOT_FOUND)?,
            None => decompressed(content(self.vlmetalayers[place]))?,
        };
        Ok((number(Some(place))?, bytes))
    }

    /// Takes a variable-length metalayer away; how many are left.
    pub(crate) fn delete_vlmeta(&mut self, name: &CStr) -> Outcome<i32> {
        let count = self.vllayers().len();
        let place = position(self.vllayers(), name).ok_or(NOT_FOUND)?;
        if !self.change_layers(|stored| stored.vlmetalayers_mut().remove(&text(name)))? {
            drop_layer(self.vlmetalayers[place]);
            self.vlmetalayers.copy_within(place + 1..count, place);
            self.vlmetalayers[count - 1] = null_mut();
            self.nvlmetalayers -= 1;
        }
        Ok(self.nvlmetalayers.into())
    }

    /// The names of all variable-length metalayers, as they are in the super-chunk.
    pub(crate) fn vlmeta_names(&self) -> impl Iterator<Item = *mut std::ffi::c_char> {
        self.vllayers().iter().map(|&layer| name_of(layer).as_ptr().cast_mut())
    }

    pub(crate) fn drop_layers(&mut self) {
        for layer in self.metalayers.iter_mut().chain(&mut self.vlmetalayers) {
            drop_layer(std::mem::replace(layer, null_mut()));
        }
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
