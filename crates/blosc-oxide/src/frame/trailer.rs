//! The trailer of a frame: variable-length metalayers and a fingerprint.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::checksums;
use super::header::checked;
use super::layers::{self, Place};
use crate::bytes::msgpack::{Reader, Writer, marker};
use crate::error::{Result, bail};
use crate::schunk::VlMetalayers;

const ARRAY_4: u8 = marker::FIXARRAY | 4;
const VERSION: u8 = 1;
/// Array marker and version.
const LAYERS_AT: usize = 2;
/// Length, fingerprint type and fingerprint, with their markers.
pub(super) const TAIL_LEN: usize = 23;
/// Where the length stands, from the end.
const LEN_FROM_END: usize = 23;
/// The type and the 16 bytes of the fingerprint.
pub(super) const FINGERPRINT_LEN: usize = 16;
/// What a trailer without layers takes.
const EMPTY_LEN: usize = 35;
/// What a layer takes besides name and content.
const LAYER_OVERHEAD: usize = 11;
/// A fingerprint of 128 bits.
const FINGERPRINT_128: u8 = 3;

/// What a trailer says about the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fingerprint {
    /// Nothing: another program wrote it.
    None,
    /// The hashes that our writer left.
    Ours([u8; FINGERPRINT_LEN]),
}

/// The length of the trailer that `bytes` ends with.
pub(super) fn len(bytes: &[u8]) -> Result<usize> {
    let at = bytes.len().saturating_sub(LEN_FROM_END);
    let mut reader = Reader::new("frame trailer", bytes, at);
    let len = reader.uint32()?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if len < TAIL_LEN || len > bytes.len() {
        bail!(Corrupt, "frame trailer: its length is {len}, there are {} bytes after the chunks", bytes.len());
    }
    Ok(len)
}

/// Reads a trailer.
pub(super) fn read(bytes: &[u8]) -> Result<(VlMetalayers, Fingerprint)> {
    let mut reader = Reader::new("frame trailer", bytes, 0);
    reader.expect(ARRAY_4)?;
    let version = reader.byte()?;
    if version > VERSION {
        bail!(Unsupported, "frame trailer: version {version} is not known");
    }
    let mut vlmetalayers = VlMetalayers::new();
    for (name, chunk) in layers::read("frame trailer", bytes, LAYERS_AT)? {
        vlmetalayers.push_chunk(name, chunk);
    }
    Ok((vlmetalayers, fingerprint(bytes)?))
}

fn fingerprint(bytes: &[u8]) -> Result<Fingerprint> {
    let at = bytes.len().saturating_sub(FINGERPRINT_LEN.saturating_add(2));
    let mut reader = Reader::new("frame trailer", bytes, at);
    reader.expect(marker::FIXEXT16)?;
    let kind = reader.byte()?;
    let hash = reader.take(FINGERPRINT_LEN)?;
    Ok(match hash.try_into() {
        Ok(hash) if kind == FINGERPRINT_128 => Fingerprint::Ours(hash),
        _ => Fingerprint::None,
    })
}

/// Whether a trailer carries our fingerprint.
fn has_fingerprint(bytes: &[u8]) -> bool {
    matches!(fingerprint(bytes), Ok(Fingerprint::Ours(_)))
}

/// A trailer with these layers, and zeros where the fingerprint goes, which is its end.
pub(super) fn write<'a>(layers: impl Iterator<Item = (&'a str, &'a [u8])>, has_fingerprint: bool) -> Result<Vec<u8>> {
    let layers: Vec<_> = layers.collect();
    let contents = layers.iter().fold(0_usize, |len, (name, content)| {
        len.saturating_add(name.len()).saturating_add(content.len()).saturating_add(LAYER_OVERHEAD)
    });
    let mut writer = Writer(Vec::with_capacity(contents.saturating_add(EMPTY_LEN)));
    writer.byte(ARRAY_4);
    writer.byte(VERSION);
    layers::write(layers.into_iter(), Place::Trailer, &mut writer)?;
    let len = writer.0.len().saturating_add(TAIL_LEN);
    writer.uint32(checked(len)?);
    writer.byte(marker::FIXEXT16);
    writer.byte(if has_fingerprint { FINGERPRINT_128 } else { 0 });
    writer.bytes(&[0; FINGERPRINT_LEN]);
    Ok(writer.0)
}

/// Puts our fingerprint of a frame into its trailer, if that has a place for it.
pub(super) fn put_fingerprint(trailer: &mut [u8], header: &[u8], index: &[u8]) {
    if !has_fingerprint(trailer) {
        return;
    }
    let fingerprint = checksums::fingerprint(header, index, trailer);
    if let Some(place) = trailer.last_chunk_mut::<FINGERPRINT_LEN>() {
        *place = fingerprint;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_trailer_has_35_bytes() {
        let trailer = write(std::iter::empty(), false).unwrap();
        assert_eq!(trailer.len(), EMPTY_LEN);
        assert_eq!(len(&trailer).unwrap(), 35);
        assert_eq!(read(&trailer).unwrap().1, Fingerprint::None);
    }
}
