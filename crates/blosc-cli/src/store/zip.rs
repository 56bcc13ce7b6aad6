//! Zip archives whose members are stored as they are, as `.b2z` stores are.
//!
//! The list at the end of the archive says what there is. It is not believed: each member must lie
//! inside the archive, apart from all others, and its own header must tell the same name.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::names;
use blosc_oxide::{Error, ErrorKind, Limits, Result, storage::ReadAt};
use std::fmt::Display;

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const ENTRY: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";
const LONG_END: &[u8; 4] = b"PK\x06\x06";
const LONG_LOCATOR: &[u8; 4] = b"PK\x06\x07";
const LOCAL_LEN: u64 = 30;
const ENTRY_LEN: usize = 46;
const END_LEN: usize = 22;
const LONG_END_LEN: usize = 56;
const LOCATOR_LEN: u64 = 20;
/// A comment may follow the end.
const MAX_COMMENT: u64 = 65_535;
/// What a member takes in memory besides its name, about: here, and in the store that is made of
/// it.
const MEMBER_COST: u64 = 512;
/// The extra field with the sizes that do not fit 32 bits.
const LONG_FIELD: u16 = 1;
/// The type of a file in the mode that Unix keeps: all bits of it, and those of a directory and a
/// plain file.
const TYPE_MASK: u32 = 0o170_000;
const PLAIN_TYPE: u32 = 0o100_000;

/// A file in an archive, and where its bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) crc: u32,
}

/// Whether bytes that start like this are an archive.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(LOCAL) || head.starts_with(END)
}

/// The files of an archive.
pub(super) fn entries(bytes: &dyn ReadAt, limits: &Limits) -> Result<Vec<Entry>> {
    let list = List::find(bytes)?;
    limits.check("the list of an archive", list.memory())?;
    let raw = read(bytes, list.offset, usize::try_from(list.len).unwrap_or(usize::MAX))?;
    let mut left = raw.as_slice();
    let mut entries = Vec::new();
    for _ in 0..list.count {
        if let Some(listed) = Listed::parse(&mut left)? {
            entries.push(listed.locate(bytes, list.offset)?);
        }
    }
    if !left.is_empty() {
        return Err(corrupt(format!("{} bytes of the list come after its {} members", left.len(), list.count)));
    }
    check_apart(&entries)?;
    Ok(entries)
}

/// Refuses two members of one name, and members that share bytes.
fn check_apart(entries: &[Entry]) -> Result<()> {
    names::check_apart(entries.iter().map(|entry| (entry.name.as_str(), entry.name.as_str()))).map_err(corrupt)?;
    let mut by_place: Vec<&Entry> = entries.iter().collect();
    by_place.sort_by_key(|entry| entry.offset);
    for pair in by_place.windows(2) {
        if let [first, second] = pair
            && first.offset.saturating_add(first.len) > second.offset
        {
            return Err(corrupt(format!("members {:?} and {:?} overlap", first.name, second.name)));
        }
    }
    Ok(())
}

/// Where the list of members is.
struct List {
    offset: u64,
    len: u64,
    count: u64,
}

impl List {
    fn find(bytes: &dyn ReadAt) -> Result<Self> {
        let len = bytes.len()?;
        let tail_len = len.min(MAX_COMMENT.saturating_add(END_LEN as u64));
        let start = len.saturating_sub(tail_len);
        let tail = read(bytes, start, usize::try_from(tail_len).unwrap_or_default())?;
        let end = tail.windows(END_LEN).rposition(|end| end.starts_with(END));
        let end = end.ok_or_else(|| truncated("the end of the archive is missing"))?;
        let mut fields = tail.get(end..).unwrap_or_default();
        let at = start.saturating_add(end as u64);
        let [_, _] = [u32_of(&mut fields)?, u32_of(&mut fields)?];
        let _count_here = u16_of(&mut fields)?;
        let count = u16_of(&mut fields)?;
        let (list_len, offset) = (u32_of(&mut fields)?, u32_of(&mut fields)?);
        let comment = u16_of(&mut fields)?;
        if fields.len() != usize::from(comment) {
            return Err(corrupt(format!("{} bytes come after the end of the archive", fields.len())));
        }
        let usual = Self { offset: offset.into(), len: list_len.into(), count: count.into() };
        let is_told = count < u16::MAX && list_len < u32::MAX && offset < u32::MAX;
        match Self::locator(bytes, at)? {
            Some(locator) if !is_told || !usual.ends_at(at) => Self::find_long(bytes, &locator)?.like(&usual),
            _ => usual.checked(at),
        }
    }

    /// What says where the long end is, right before the usual one. Python writes both from 2 GiB
    /// on, where the usual one can still tell everything.
    fn locator(bytes: &dyn ReadAt, end: u64) -> Result<Option<Vec<u8>>> {
        let Some(at) = end.checked_sub(LOCATOR_LEN) else { return Ok(None) };
        Ok(Some(read(bytes, at, 20)?).filter(|raw| raw.starts_with(LONG_LOCATOR)))
    }

    /// The end of an archive with more members or bytes than the usual one can tell.
    fn find_long(bytes: &dyn ReadAt, locator: &[u8]) -> Result<Self> {
        let mut fields = locator.strip_prefix(LONG_LOCATOR).unwrap_or_default();
        u32_of(&mut fields)?;
        let at = u64_of(&mut fields)?;
        let raw = read(bytes, at, LONG_END_LEN)?;
        let mut fields = raw.strip_prefix(LONG_END).ok_or_else(|| corrupt(format!("no long end at {at}")))?;
        // Its length, the versions, the numbers of disks, and the members of this one.
        for _ in 0..3 {
            u64_of(&mut fields)?;
        }
        u32_of(&mut fields)?;
        let (count, len, offset) = (u64_of(&mut fields)?, u64_of(&mut fields)?, u64_of(&mut fields)?);
        Self { offset, len, count }.checked(at)
    }

    /// What the usual end says must be the same, or that it cannot tell.
    fn like(self, usual: &Self) -> Result<Self> {
        let fields = [
            (self.count, usual.count, u64::from(u16::MAX)),
            (self.len, usual.len, u32::MAX.into()),
            (self.offset, usual.offset, u32::MAX.into()),
        ];
        match fields.iter().find(|(long, short, most)| short != most && short != long) {
            Some((long, short, _)) => Err(corrupt(format!("one end of the archive says {short}, the other {long}"))),
            None => Ok(self),
        }
    }

    /// About how much memory the members take.
    fn memory(&self) -> usize {
        let members = self.count.saturating_mul(MEMBER_COST);
        usize::try_from(self.len.saturating_add(members)).unwrap_or(usize::MAX)
    }

    fn ends_at(&self, end: u64) -> bool {
        self.offset.checked_add(self.len) == Some(end)
    }

    /// The list must be what comes right before the end.
    fn checked(self, end: u64) -> Result<Self> {
        if !self.ends_at(end) {
            let Self { offset, len, .. } = self;
            return Err(corrupt(format!("the list has {len} bytes at {offset}, the end of the archive is at {end}")));
        }
        Ok(self)
    }
}

/// What the list says about a member.
struct Listed {
    name: String,
    header: u64,
    len: u64,
    crc: u32,
}

impl Listed {
    /// Takes the next member of the list; `None` if it is a directory.
    fn parse(left: &mut &[u8]) -> Result<Option<Self>> {
        let cut = || truncated("the list of members is cut off");
        let (head, rest) = left.split_at_checked(ENTRY_LEN).ok_or_else(cut)?;
        let mut fields = head.strip_prefix(ENTRY).ok_or_else(|| corrupt("the list has something else"))?;
        let [_, flags] = [u32_of(&mut fields)?, u32_of(&mut fields)?];
        let (flags, method) = (flags & 0xffff, flags >> 16);
        u32_of(&mut fields)?;
        let crc = u32_of(&mut fields)?;
        let (packed, len) = (u32_of(&mut fields)?, u32_of(&mut fields)?);
        let lengths = [u16_of(&mut fields)?, u16_of(&mut fields)?, u16_of(&mut fields)?];
        u32_of(&mut fields)?;
        let (attributes, header) = (u32_of(&mut fields)?, u32_of(&mut fields)?);
        let [name_len, extra_len, comment_len] = lengths.map(usize::from);
        let (name, rest) = rest.split_at_checked(name_len).ok_or_else(cut)?;
        let (extra, rest) = rest.split_at_checked(extra_len).ok_or_else(cut)?;
        *left = rest.get(comment_len..).ok_or_else(cut)?;
        let name = std::str::from_utf8(name).map_err(|_| unsupported(format!("the name {name:?} is no UTF-8")))?;
        let mut long = LongField::of(extra);
        let len = long.or(len)?;
        let packed = long.or(packed)?;
        let header = long.or(header)?;
        check_kind(name, flags, method, attributes >> 16)?;
        if packed != len {
            return Err(corrupt(format!("member {name:?} is stored, but has {packed} bytes of {len}")));
        }
        if let Some(directory) = name.strip_suffix('/') {
            names::check(directory).map_err(unsupported)?;
            return if len == 0 { Ok(None) } else { Err(corrupt(format!("{name:?} is a directory with data"))) };
        }
        names::check(name).map_err(unsupported)?;
        Ok(Some(Self { name: name.to_owned(), header, len, crc }))
    }

    /// Where the bytes are, by the header in front of them.
    fn locate(self, bytes: &dyn ReadAt, list: u64) -> Result<Entry> {
        let Self { name, header, len, crc } = self;
        let raw = read(bytes, header, 30)?;
        let lost = || corrupt(format!("member {name:?} is not at {header}"));
        let fields = raw.strip_prefix(LOCAL).ok_or_else(lost)?;
        let mut lengths = fields.get(22..).ok_or_else(lost)?;
        let (name_len, extra_len) = (u16_of(&mut lengths)?, u16_of(&mut lengths)?);
        let own = read(bytes, header.saturating_add(LOCAL_LEN), usize::from(name_len))?;
        if own != name.as_bytes() {
            return Err(corrupt(format!("member {name:?} calls itself \"{}\"", own.escape_ascii())));
        }
        let before = LOCAL_LEN.saturating_add(name_len.into()).saturating_add(extra_len.into());
        let offset = header.saturating_add(before);
        if offset.checked_add(len).is_none_or(|end| end > list) {
            return Err(corrupt(format!(
                "member {name:?} has {len} bytes at {offset}, the list of members is at {list}"
            )));
        }
        Ok(Entry { name, offset, len, crc })
    }
}

/// Refuses what is no plain file that is stored as it is.
fn check_kind(name: &str, flags: u32, method: u32, mode: u32) -> Result<()> {
    if flags & 1 != 0 {
        return Err(unsupported(format!("member {name:?} is encrypted")));
    }
    if method != 0 {
        let message = "is compressed by zip (method";
        return Err(unsupported(format!(
            "member {name:?} {message} {method}); unzip the store and take the directory"
        )));
    }
    // Programs that know no types leave the bits out.
    let kind = mode & TYPE_MASK;
    if kind != 0 && kind != PLAIN_TYPE && !name.ends_with('/') {
        return Err(unsupported(format!("member {name:?} is a link or a device")));
    }
    Ok(())
}

/// The sizes that do not fit 32 bits, in the order of the fields that they stand for.
struct LongField<'a>(&'a [u8]);

impl<'a> LongField<'a> {
    fn of(mut extra: &'a [u8]) -> Self {
        while let (Ok(id), Ok(len)) = (u16_of(&mut extra), u16_of(&mut extra)) {
            let Some((content, rest)) = extra.split_at_checked(len.into()) else { break };
            if id == LONG_FIELD {
                return Self(content);
            }
            extra = rest;
        }
        Self(&[])
    }

    /// A field, or what stands for it.
    fn or(&mut self, field: u32) -> Result<u64> {
        if field == u32::MAX { u64_of(&mut self.0) } else { Ok(field.into()) }
    }
}

fn read(bytes: &dyn ReadAt, offset: u64, len: usize) -> Result<Vec<u8>> {
    let there = bytes.len()?;
    if offset.checked_add(len as u64).is_none_or(|end| end > there) {
        return Err(truncated(format!("{len} bytes at {offset} are needed, the archive has {there}")));
    }
    let mut buffer = vec![0; len];
    bytes.read_at(offset, &mut buffer)?;
    Ok(buffer)
}

fn array<const N: usize>(fields: &mut &[u8]) -> Result<[u8; N]> {
    let (taken, left) = fields.split_first_chunk().ok_or_else(|| truncated("a field is cut off"))?;
    *fields = left;
    Ok(*taken)
}

fn u16_of(fields: &mut &[u8]) -> Result<u16> {
    array(fields).map(u16::from_le_bytes)
}

fn u32_of(fields: &mut &[u8]) -> Result<u32> {
    array(fields).map(u32::from_le_bytes)
}

fn u64_of(fields: &mut &[u8]) -> Result<u64> {
    array(fields).map(u64::from_le_bytes)
}

fn corrupt(message: impl Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("zip: {message}"))
}

fn truncated(message: impl Display) -> Error {
    Error::new(ErrorKind::Truncated, format!("zip: {message}"))
}

fn unsupported(message: impl Display) -> Error {
    Error::new(ErrorKind::Unsupported, format!("zip: {message}"))
}

/// The checksum of members: CRC-32 of the bytes so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crc32(u32);

impl Crc32 {
    const TABLE: [u32; 256] = table();

    pub(super) fn new() -> Self {
        Self(!0)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let [low, ..] = self.0.to_le_bytes();
            self.0 = self.0 >> 8 ^ Self::TABLE.get(usize::from(low ^ byte)).copied().unwrap_or_default();
        }
    }

    pub(super) fn value(self) -> u32 {
        !self.0
    }
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "checked when compiled"
)]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let (mut value, mut bit) = (index as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive as Python writes it, with members of a name, a content, a method and a mode.
    fn archive(members: &[(&str, &[u8], u16, u32)]) -> Vec<u8> {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        for (name, content, method, mode) in members {
            let mut crc = Crc32::new();
            crc.update(content);
            let len = u32::try_from(<[u8]>::len(content)).unwrap().to_le_bytes();
            let fields = [&[0; 2][..], &method.to_le_bytes(), &[0; 4], &crc.value().to_le_bytes(), &len, &len].concat();
            let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
            let header = u32::try_from(bytes.len()).unwrap().to_le_bytes();
            bytes.extend([LOCAL, &[20, 0][..], &fields, &name_len, &[0; 2], name.as_bytes(), content].concat());
            let attributes = (mode << 16).to_le_bytes();
            list.extend([ENTRY, &[20, 3, 20, 0][..], &fields, &name_len, &[0; 8], &attributes, &header].concat());
            list.extend(name.as_bytes());
        }
        let count = u16::try_from(members.len()).unwrap().to_le_bytes();
        let at = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let len = u32::try_from(list.len()).unwrap().to_le_bytes();
        [bytes, list, [END, &[0; 4][..], &count, &count, &len, &at, &[0; 2]].concat()].concat()
    }

    fn names(bytes: &[u8]) -> Result<Vec<String>> {
        Ok(entries(&bytes, &Limits::new())?.into_iter().map(|entry| entry.name).collect())
    }

    #[test]
    fn members_are_found_where_they_are() {
        let bytes = archive(&[
            ("a", b"one", 0, 0o100_644),
            ("d/", b"", 0, 0o040_755),
            ("d/b", b"", 0, 0),
            ("c", b"three", 0, 0),
        ]);
        let found = entries(&&bytes[..], &Limits::new()).unwrap();
        let content = |entry: &Entry| {
            let start = usize::try_from(entry.offset).unwrap();
            bytes[start..start + usize::try_from(entry.len).unwrap()].to_vec()
        };
        let all: Vec<(String, Vec<u8>)> = found.iter().map(|entry| (entry.name.clone(), content(entry))).collect();
        assert_eq!(all, [("a".into(), b"one".to_vec()), ("d/b".into(), vec![]), ("c".into(), b"three".to_vec())]);
        let mut crc = Crc32::new();
        crc.update(b"123456789");
        assert_eq!(crc.value(), 0xcbf4_3926);
    }

    #[test]
    fn every_prefix_is_an_error() {
        let bytes = archive(&[("a", b"one", 0, 0), ("b", b"two", 0, 0)]);
        for len in 0..bytes.len() {
            assert!(names(&bytes[..len]).is_err(), "{len} of {} bytes", bytes.len());
        }
        let behind = [&bytes[..], b"more"].concat();
        assert!(names(&behind).unwrap_err().to_string().contains("4 bytes come after the end"));
    }

    #[test]
    fn every_changed_byte_is_an_error_or_a_list() {
        let bytes = archive(&[("a", b"one", 0, 0), ("b", b"two", 0, 0)]);
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                let _ = names(&changed);
            }
        }
    }

    #[test]
    fn names_that_lead_elsewhere_links_and_compressed_members_are_refused() {
        let message = |name: &str, method, mode| {
            names(&archive(&[("ok", b"x", 0, 0), (name, b"y", method, mode)])).unwrap_err().to_string()
        };
        assert!(message("../evil", 0, 0).contains("\"../evil\" leads out of the store"));
        assert!(message("/etc/passwd", 0, 0).contains("is absolute"));
        assert!(message("a/../../b", 0, 0).contains("leads out of the store"));
        assert!(message("a\\..\\b", 0, 0).contains("no name of a file"));
        assert!(message("link", 0, 0o120_777).contains("\"link\" is a link or a device"));
        assert!(message("pipe", 0, 0o010_644).contains("\"pipe\" is a link or a device"));
        assert!(message("a", 8, 0).contains("\"a\" is compressed by zip (method 8)"));
        assert!(message("ok", 0, 0).contains("both become \"ok\""));
        assert!(message("ok/b", 0, 0).contains("needs a directory"));
        let twice = archive(&[("a", b"x", 0, 0)]);
        let mut named = twice;
        named[30] = b'z';
        assert!(names(&named).unwrap_err().to_string().contains("calls itself \"z\""));
    }

    #[test]
    fn what_members_take_is_held_to_the_limit() {
        let bytes = archive(&[("a", b"one", 0, 0), ("b", b"two", 0, 0)]);
        let with = |most| entries(&&bytes[..], &Limits::new().with_max_allocation(most)).map(|entries| entries.len());
        assert_eq!(with(2000).unwrap(), 2);
        assert_eq!(with(1000).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn members_that_share_bytes_are_refused() {
        let mut bytes = archive(&[("a", b"xxxx", 0, 0), ("b", b"yyyy", 0, 0)]);
        // The first claims the bytes of the second as well: 4 of its own, and all before the 4 of
        // the other.
        let list = bytes.windows(4).position(|window| window == ENTRY).unwrap();
        for field in [20, 24] {
            bytes[list + field..list + field + 4].copy_from_slice(&(4 + 31 + 1_u32).to_le_bytes());
        }
        assert!(names(&bytes).unwrap_err().to_string().contains("overlap"));
        for field in [20, 24] {
            bytes[list + field..list + field + 4].copy_from_slice(&4_000_000_000_u32.to_le_bytes());
        }
        assert!(names(&bytes).unwrap_err().to_string().contains("has 4000000000 bytes at"));
    }
}
