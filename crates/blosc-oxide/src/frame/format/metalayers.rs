//! The list of named contents that headers and trailers have.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::field::checked;
use crate::bytes::msgpack::{Reader, Writer, marker};
use crate::error::{Result, bail, error};
use crate::limits::MAX_VLMETALAYERS;
use std::ops::Range;

const ARRAY_3: u8 = marker::FIXARRAY | 3;
/// The marker and the length of a content.
const CONTENT_HEAD: usize = 5;

/// The section of a frame that a list is in, which decides what its length field counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Header,
    Trailer,
}

/// Reads the list that starts at `at`; offsets count from the start of `bytes`, from which the part
/// at `gap` has been left out. Of a content that it was a part of, the rest is returned.
pub(in crate::frame) fn read<'a>(
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
    gap: &Range<usize>,
) -> Result<Vec<(&'a str, &'a [u8])>> {
    let mut reader = Reader::new(what, bytes, at);
    reader.expect(ARRAY_3)?;
    // The length of the map says nothing that the map does not, and overflows in long ones.
    reader.uint16()?;
    let count = reader.length16(marker::MAP16)?;
    if count > MAX_VLMETALAYERS {
        bail!(Corrupt, "{what}: {count} metalayers announced, there can be {MAX_VLMETALAYERS}");
    }
    let mut layers: Vec<(&str, &[u8])> = Vec::new();
    // Contents follow one another; if they could share bytes, a small file could hold any amount of
    // them.
    let mut free = at;
    for _ in 0..count {
        let name = reader.short_str()?;
        let stored = reader.int32()?;
        let offset = usize::try_from(stored).map_err(|_| error!(Corrupt, "{what}: {name:?} is at {stored}"))?;
        if offset < free {
            bail!(Corrupt, "{what}: {name:?} is at {offset}, inside what ends at {free}");
        }
        let is_behind_gap = offset >= gap.end;
        let here = if is_behind_gap { offset.saturating_sub(gap.len()) } else { offset };
        let mut content = Reader::new(what, bytes, here);
        let len = content.long_len(marker::BIN32)?;
        free = offset.saturating_add(CONTENT_HEAD).saturating_add(len);
        let has_gap = !is_behind_gap && free >= gap.end;
        layers.push((name, content.take(if has_gap { len.saturating_sub(gap.len()) } else { len })?));
    }
    Ok(layers)
}

/// Where the content of the layer with this name starts, in a list that starts at `at`, as far as
/// `bytes` tell.
pub(in crate::frame) fn find(bytes: &[u8], at: usize, wanted: &str) -> Option<usize> {
    let mut reader = Reader::new("layers", bytes, at);
    reader.expect(ARRAY_3).ok()?;
    reader.uint16().ok()?;
    for _ in 0..reader.length16(marker::MAP16).ok()? {
        let name = reader.short_str().ok()?;
        let offset = reader.int32().ok()?;
        if name == wanted {
            return usize::try_from(offset).ok()?.checked_add(CONTENT_HEAD);
        }
    }
    None
}

/// A content of which the end may be missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Content<'a> {
    pub(crate) bytes: &'a [u8],
    /// How many bytes follow that are not given.
    pub(crate) missing: usize,
}

impl<'a> Content<'a> {
    pub(crate) fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, missing: 0 }
    }

    fn len(self) -> usize {
        self.bytes.len().saturating_add(self.missing)
    }
}

/// Appends the list; offsets count from the start of what has been written. Only the last content
/// may have an end that is missing.
pub(crate) fn write<'a>(
    layers: impl Iterator<Item = (&'a str, Content<'a>)>,
    section: Section,
    writer: &mut Writer,
) -> Result<()> {
    let layers: Vec<_> = layers.collect();
    let count: u16 = checked(layers.len())?;
    let map_len = layers.iter().fold(3_usize, |len, (name, _)| len.saturating_add(name.len()).saturating_add(6));
    // The header counts from the array's marker on, the trailer from after it: 7 and 6 when there
    // is nothing.
    let counted = map_len.saturating_add(if section == Section::Header { 4 } else { 3 });
    let map_at = writer.0.len().saturating_add(4);
    writer.byte(ARRAY_3);
    writer.uint16(u16::try_from(counted).unwrap_or(u16::MAX));
    writer.length16(marker::MAP16, count);
    let mut offset = map_at.saturating_add(map_len).saturating_add(3);
    for (name, content) in &layers {
        writer.short_str(name);
        writer.int32(checked(offset)?);
        offset = offset.saturating_add(5).saturating_add(content.len());
    }
    writer.length16(marker::ARRAY16, count);
    for (_, content) in &layers {
        writer.long_len(marker::BIN32, content.len());
        writer.bytes(content.bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_counts_as_the_reference_does() {
        for (section, counted) in [(Section::Header, 7), (Section::Trailer, 6)] {
            let mut writer = Writer::default();
            write(std::iter::empty(), section, &mut writer).unwrap();
            assert_eq!(writer.0, [0x93, 0xcd, 0, counted, 0xde, 0, 0, 0xdc, 0, 0]);
        }
    }

    #[test]
    fn contents_that_share_bytes_are_refused() {
        let mut writer = Writer::default();
        let layers = [("one", Content::whole(b"first")), ("two", Content::whole(b"second"))];
        write(layers.into_iter(), Section::Trailer, &mut writer).unwrap();
        // The offset of the second is made that of the first.
        let first = writer.0[12..16].to_vec();
        writer.0[21..25].copy_from_slice(&first);
        let error = read("trailer", &writer.0, 0, &(0..0)).unwrap_err().to_string();
        assert!(error.contains("\"two\" is at 28, inside what ends at 38"), "{error}");
    }

    #[test]
    fn layers_are_read_back() {
        let layers: Vec<(&str, &[u8])> = vec![("one", b"first"), ("two", b"")];
        let mut writer = Writer(vec![1, 2, 3]);
        let contents = layers.iter().map(|&(name, content)| (name, Content::whole(content)));
        write(contents, Section::Trailer, &mut writer).unwrap();
        assert_eq!(read("test", &writer.0, 3, &(0..0)).unwrap(), layers);
    }

    #[test]
    fn what_is_around_a_gap_is_read() {
        let head = Content { bytes: b"he", missing: 4 };
        let mut writer = Writer::default();
        write([("one", Content::whole(b"first")), ("two", head)].into_iter(), Section::Trailer, &mut writer).unwrap();
        let start = writer.0.len();
        let layers = read("test", &writer.0, 0, &(start..start + 4)).unwrap();
        assert_eq!(layers, [("one", &b"first"[..]), ("two", b"he")]);
        assert_eq!(find(&writer.0, 0, "two"), Some(start - 2));
        assert_eq!(find(&writer.0, 0, "three"), None);
    }
}
