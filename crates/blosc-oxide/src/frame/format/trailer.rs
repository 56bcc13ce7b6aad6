//! The trailer of a frame: variable-length metalayers and a fingerprint.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::field::checked;
use super::fingerprint::{FINGERPRINT_LEN, fingerprint};
use super::hashes::{self, Form, Hashes, HashesAt, StoredHashes};
use super::metalayers::{self, Content, Section};
use crate::bytes::msgpack::{Reader, Writer, marker};
use crate::error::{Result, bail};
use crate::schunk::VlMetalayers;
use std::ops::Range;

const ARRAY_4: u8 = marker::FIXARRAY | 4;
const VERSION: u8 = 1;
/// Array marker and version.
const LAYERS_AT: usize = 2;
/// Length, fingerprint type and fingerprint, with their markers.
pub(crate) const TAIL_LEN: usize = 23;
/// Where the length stands, from the end.
const LEN_FROM_END: usize = 23;
/// The types of a fingerprint of 128 bits: of an index that is written as a whole, and of one that
/// is written in parts.
const OF_WHOLE: u8 = 3;
const OF_WORDS: u8 = 4;

/// What a trailer says about the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::frame) enum Fingerprint {
    /// Nothing: another program wrote it.
    None,
    /// The hashes that our writer left, of an index in this form.
    Ours(Form, [u8; FINGERPRINT_LEN]),
}

/// The length of the trailer that `bytes` ends with, and that is at most `there` bytes long.
pub(in crate::frame) fn len(bytes: &[u8], there: usize) -> Result<usize> {
    let at = bytes.len().saturating_sub(LEN_FROM_END);
    let mut reader = Reader::new("frame trailer", bytes, at);
    let len = reader.uint32()?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if len < TAIL_LEN || len > there {
        bail!(Corrupt, "frame trailer: its length is {len}, there are {there} bytes after the chunks");
    }
    Ok(len)
}

/// A trailer, without the hashes of chunks: those are many, and are read when they are needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::frame) struct Trailer {
    bytes: Vec<u8>,
    /// Where the hashes are; empty if there are none.
    gap: Range<usize>,
}

impl Trailer {
    /// One with these layers, with hashes if there are any, and zeros where the fingerprint goes.
    /// Without hashes and a form it is to have none.
    pub(in crate::frame) fn new<'a>(
        layers: impl Iterator<Item = (&'a str, &'a [u8])>,
        hashes: Option<&mut Hashes>,
        form: Option<Form>,
    ) -> Result<Self> {
        let kind = form.or(hashes.as_ref().map(|_| Form::Whole)).map_or(0, code_of);
        let missing = hashes.as_ref().map_or(0, |hashes| hashes.as_bytes().len());
        let head = hashes.map(|hashes| hashes.layer_head(form.unwrap_or(Form::Whole))).transpose()?;
        let ours = head.as_ref().map(|bytes| (hashes::LAYER_NAME, Content { bytes, missing }));
        let mut writer = Writer::default();
        writer.byte(ARRAY_4);
        writer.byte(VERSION);
        let layers = layers.map(|(name, content)| (name, Content::whole(content)));
        metalayers::write(layers.chain(ours), Section::Trailer, &mut writer)?;
        let start = writer.0.len();
        let len = start.saturating_add(missing).saturating_add(TAIL_LEN);
        writer.uint32(checked(len)?);
        writer.byte(marker::FIXEXT16);
        writer.byte(kind);
        writer.bytes(&[0; FINGERPRINT_LEN]);
        Ok(Self { bytes: writer.0, gap: start..start.saturating_add(missing) })
    }

    /// One of which all bytes are there, and its hashes.
    pub(in crate::frame) fn from_whole(mut bytes: Vec<u8>) -> (Self, Option<StoredHashes>) {
        let Some(found) = find_hashes(&bytes, bytes.len()) else { return (Self { bytes, gap: 0..0 }, None) };
        let gap = found.range();
        let hashes = bytes.drain(gap.clone()).collect();
        (Self { bytes, gap }, Some(found.with_bytes(hashes)))
    }

    /// One of which the hashes have been left out.
    pub(in crate::frame) fn around(gap: Range<usize>, before: &[u8], after: &[u8]) -> Self {
        Self { bytes: [before, after].concat(), gap }
    }

    /// The length with the hashes.
    pub(in crate::frame) fn len(&self) -> usize {
        self.bytes.len().saturating_add(self.gap.len())
    }

    /// Where the hashes are.
    pub(in crate::frame) fn gap(&self) -> Range<usize> {
        self.gap.clone()
    }

    /// What is before the hashes and after them.
    pub(in crate::frame) fn parts(&self) -> (&[u8], &[u8]) {
        let middle = if self.gap.is_empty() { self.bytes.len() } else { self.gap.start };
        self.bytes.split_at_checked(middle).unwrap_or((&self.bytes, &[]))
    }

    /// The layers without the hashes, and what comes after those. In a trailer of our own the
    /// hashes are the last layer.
    pub(in crate::frame) fn layers_and_end(&self) -> (&[u8], &[u8]) {
        let end = self.bytes.len().saturating_sub(TAIL_LEN);
        self.bytes.split_at_checked(end).unwrap_or((&[], &self.bytes))
    }

    /// The bytes that the fingerprint is of: all but the hashes, which have a hash of their own,
    /// and the fingerprint.
    pub(in crate::frame) fn fingerprinted(&self) -> &[u8] {
        self.bytes.get(..self.bytes.len().saturating_sub(FINGERPRINT_LEN)).unwrap_or_default()
    }

    /// The layers.
    pub(in crate::frame) fn layers(&self) -> Result<VlMetalayers> {
        let mut reader = Reader::new("frame trailer", &self.bytes, 0);
        reader.expect(ARRAY_4)?;
        let version = reader.byte()?;
        if version > VERSION {
            bail!(Unsupported, "frame trailer: version {version} is not known");
        }
        let mut vlmetalayers = VlMetalayers::new();
        for (name, chunk) in metalayers::read("frame trailer", &self.bytes, LAYERS_AT, &self.gap)? {
            vlmetalayers.push_chunk(name, chunk);
        }
        Ok(vlmetalayers)
    }

    /// What it says about the frame.
    pub(in crate::frame) fn fingerprint(&self) -> Result<Fingerprint> {
        let at = self.bytes.len().saturating_sub(FINGERPRINT_LEN.saturating_add(2));
        let mut reader = Reader::new("frame trailer", &self.bytes, at);
        reader.expect(marker::FIXEXT16)?;
        let kind = reader.byte()?;
        let hash = reader.take(FINGERPRINT_LEN)?;
        let form = [Form::Whole, Form::Words].into_iter().find(|&form| code_of(form) == kind);
        Ok(match (form, hash.try_into()) {
            (Some(form), Ok(hash)) => Fingerprint::Ours(form, hash),
            _ => Fingerprint::None,
        })
    }

    /// Whether it has a fingerprint of ours.
    pub(in crate::frame) fn has_fingerprint(&self) -> bool {
        matches!(self.fingerprint(), Ok(Fingerprint::Ours(..)))
    }

    /// Puts our fingerprint of a frame, of whose index in this form the hash is given, into it, if
    /// it has a place for that.
    pub(in crate::frame) fn put_fingerprint(&mut self, header: &[u8], form: Form, index: u64) {
        if !self.has_fingerprint() {
            return;
        }
        let kind_at = self.bytes.len().saturating_sub(FINGERPRINT_LEN.saturating_add(1));
        if let Some(kind) = self.bytes.get_mut(kind_at) {
            *kind = code_of(form);
        }
        let fingerprint = fingerprint(header, index, self.fingerprinted());
        if let Some(place) = self.bytes.last_chunk_mut::<FINGERPRINT_LEN>() {
            *place = fingerprint;
        }
    }
}

fn code_of(form: Form) -> u8 {
    match form {
        Form::Whole => OF_WHOLE,
        Form::Words => OF_WORDS,
    }
}

/// Where the hashes are in a trailer of `len` bytes that starts with `front`; `None` if there are
/// none, or if that is not enough of it to tell.
pub(in crate::frame) fn find_hashes(front: &[u8], len: usize) -> Option<HashesAt> {
    let start = metalayers::find(front, LAYERS_AT, hashes::LAYER_NAME)?;
    HashesAt::parse(front, start).filter(|found| found.range().end.saturating_add(TAIL_LEN) <= len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn an_empty_trailer_has_35_bytes() {
        for form in [Form::Whole, Form::Words] {
            let trailer = Trailer::new(std::iter::empty(), None, Some(form)).unwrap();
            assert_eq!(trailer.len(), 35);
            assert_eq!(len(trailer.parts().0, 35).unwrap(), 35);
            assert_eq!(trailer.fingerprint().unwrap(), Fingerprint::Ours(form, [0; FINGERPRINT_LEN]));
        }
        let plain = Trailer::new(std::iter::empty(), None, None).unwrap();
        assert_eq!((plain.len(), plain.fingerprint().unwrap()), (35, Fingerprint::None));
    }

    #[test]
    fn hashes_are_left_out_and_found() {
        for form in [Form::Whole, Form::Words] {
            let mut hashes = Hashes::default();
            hashes.splice(0..0, &(5..15).collect::<Vec<u64>>());
            let trailer = Trailer::new([("note", &b"content"[..])].into_iter(), Some(&mut hashes), Some(form)).unwrap();
            let (before, after) = trailer.parts();
            let whole = [before, hashes.as_bytes(), after].concat();
            assert_eq!(len(&whole, whole.len()).unwrap(), whole.len());
            let (again, stored) = Trailer::from_whole(whole);
            assert_eq!(again, trailer);
            assert_eq!(again.gap().len(), 80);
            let loaded = stored.unwrap().load(&crate::storage::MemoryStorage::default(), 0, 10, Limits::new()).unwrap();
            assert_eq!(loaded.as_bytes(), hashes.as_bytes());
            assert_eq!(again.layers().unwrap().names().collect::<Vec<_>>(), ["note", hashes::LAYER_NAME]);
        }
    }
}
