//! The exact subset of msgpack that frames are made of. Integers are big-endian.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Result, bail, error};

/// The markers that stand before values.
pub(crate) mod marker {
    pub(crate) const FIXARRAY: u8 = 0x90;
    pub(crate) const FIXSTR: u8 = 0xa0;
    pub(crate) const FALSE: u8 = 0xc2;
    pub(crate) const TRUE: u8 = 0xc3;
    pub(crate) const BIN32: u8 = 0xc6;
    pub(crate) const UINT16: u8 = 0xcd;
    pub(crate) const UINT32: u8 = 0xce;
    pub(crate) const UINT64: u8 = 0xcf;
    pub(crate) const INT16: u8 = 0xd1;
    pub(crate) const INT32: u8 = 0xd2;
    pub(crate) const INT64: u8 = 0xd3;
    pub(crate) const FIXEXT16: u8 = 0xd8;
    pub(crate) const ARRAY16: u8 = 0xdc;
    pub(crate) const MAP16: u8 = 0xde;
}

/// The longest string that its marker can hold the length of.
pub(crate) const MAX_FIXSTR: usize = 31;

/// Reads values one after the other, each checked for its marker and for the end of the bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What is being read, for messages.
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(what: &'static str, bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, what }
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(len);
        let Some(bytes) = self.bytes.get(self.at..end) else {
            bail!(Truncated, "{}: {len} bytes at {} are not all there", self.what, self.at);
        };
        self.at = end;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| error!(Truncated, "{}: {N} bytes are not all there", self.what))
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    /// The next byte, which must be this one.
    pub(crate) fn expect(&mut self, marker: u8) -> Result<()> {
        let at = self.at;
        let found = self.byte()?;
        if found != marker {
            bail!(Corrupt, "{}: byte {at} is {found:#04x}, not {marker:#04x}", self.what);
        }
        Ok(())
    }

    pub(crate) fn uint16(&mut self) -> Result<u16> {
        self.expect(marker::UINT16)?;
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn uint32(&mut self) -> Result<u32> {
        self.expect(marker::UINT32)?;
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn uint64(&mut self) -> Result<u64> {
        self.expect(marker::UINT64)?;
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn int16(&mut self) -> Result<i16> {
        self.expect(marker::INT16)?;
        self.array().map(i16::from_be_bytes)
    }

    pub(crate) fn int32(&mut self) -> Result<i32> {
        self.expect(marker::INT32)?;
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn int64(&mut self) -> Result<i64> {
        self.expect(marker::INT64)?;
        self.array().map(i64::from_be_bytes)
    }

    /// Two bytes after a marker of a collection, or without one.
    pub(crate) fn length16(&mut self, marker: u8) -> Result<usize> {
        self.expect(marker)?;
        self.array().map(|bytes| usize::from(u16::from_be_bytes(bytes)))
    }

    pub(crate) fn boolean(&mut self) -> Result<bool> {
        let at = self.at;
        match self.byte()? {
            marker::FALSE => Ok(false),
            marker::TRUE => Ok(true),
            other => bail!(Corrupt, "{}: byte {at} is {other:#04x}, no boolean", self.what),
        }
    }

    /// A string of up to 31 bytes.
    pub(crate) fn short_str(&mut self) -> Result<&'a str> {
        let at = self.at;
        let marker = self.byte()?;
        let len = usize::from(marker ^ marker::FIXSTR);
        if len > MAX_FIXSTR {
            bail!(Corrupt, "{}: byte {at} is {marker:#04x}, no short string", self.what);
        }
        let bytes = self.take(len)?;
        std::str::from_utf8(bytes).map_err(|_| error!(Corrupt, "{}: the string at {at} is not UTF-8", self.what))
    }

    /// Bytes after a marker and a length of 32 bits.
    pub(crate) fn long(&mut self, marker: u8) -> Result<&'a [u8]> {
        let len = self.long_len(marker)?;
        self.take(len)
    }

    /// A marker and a length of 32 bits, without the bytes.
    pub(crate) fn long_len(&mut self, marker: u8) -> Result<usize> {
        self.expect(marker)?;
        let len = self.array().map(u32::from_be_bytes)?;
        Ok(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// Where the next value is.
    pub(crate) fn position(&self) -> usize {
        self.at
    }
}

/// Appends values to bytes.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn uint16(&mut self, value: u16) {
        self.length16(marker::UINT16, value);
    }

    pub(crate) fn uint32(&mut self, value: u32) {
        self.byte(marker::UINT32);
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn uint64(&mut self, value: u64) {
        self.byte(marker::UINT64);
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn int16(&mut self, value: i16) {
        self.byte(marker::INT16);
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn int32(&mut self, value: i32) {
        self.byte(marker::INT32);
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn int64(&mut self, value: i64) {
        self.byte(marker::INT64);
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn length16(&mut self, marker: u8, len: u16) {
        self.byte(marker);
        self.bytes(&len.to_be_bytes());
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.byte(if value { marker::TRUE } else { marker::FALSE });
    }

    /// A string that has been checked to be of at most 31 bytes.
    pub(crate) fn short_str(&mut self, text: &str) {
        let len = u8::try_from(text.len().min(MAX_FIXSTR)).unwrap_or_default();
        self.byte(marker::FIXSTR | len);
        self.bytes(text.as_bytes());
    }

    /// Bytes that have been checked to be less than 4 GiB.
    pub(crate) fn long(&mut self, marker: u8, bytes: &[u8]) {
        self.long_len(marker, bytes.len());
        self.bytes(bytes);
    }

    /// A marker and a length of 32 bits, without the bytes.
    pub(crate) fn long_len(&mut self, marker: u8, len: usize) {
        self.byte(marker);
        self.bytes(&u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut writer = Writer::default();
        writer.uint16(1);
        writer.uint32(2);
        writer.uint64(3);
        writer.int16(-4);
        writer.int32(-5);
        writer.int64(-6);
        writer.boolean(true);
        writer.short_str("seven");
        writer.long(marker::BIN32, b"eight");
        writer.length16(marker::MAP16, 9);
        let mut reader = Reader::new("test", &writer.0, 0);
        assert_eq!(reader.uint16().unwrap(), 1);
        assert_eq!(reader.uint32().unwrap(), 2);
        assert_eq!(reader.uint64().unwrap(), 3);
        assert_eq!(reader.int16().unwrap(), -4);
        assert_eq!(reader.int32().unwrap(), -5);
        assert_eq!(reader.int64().unwrap(), -6);
        assert!(reader.boolean().unwrap());
        assert_eq!(reader.short_str().unwrap(), "seven");
        assert_eq!(reader.long(marker::BIN32).unwrap(), b"eight");
        assert_eq!(reader.length16(marker::MAP16).unwrap(), 9);
        assert_eq!(
            reader.byte().unwrap_err().to_string(),
            format!("test: 1 bytes at {} are not all there", writer.0.len())
        );
    }

    #[test]
    fn a_wrong_marker_is_named() {
        let mut reader = Reader::new("trailer", &[0xd2, 0, 0, 0, 1], 0);
        assert_eq!(reader.uint32().unwrap_err().to_string(), "trailer: byte 0 is 0xd2, not 0xce");
    }
}
