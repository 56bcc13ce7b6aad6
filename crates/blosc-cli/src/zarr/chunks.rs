//! How chunks are packed: compressors, checksums and orders of items.

use crate::failure::{Failure, Outcome};
use blosc_oxide::{Decompressor, Limits};
use serde_json::Value;

/// What is done to a chunk when it is written.
#[derive(Debug, Clone)]
pub(super) struct Coding {
    /// From items to bytes, each on what the one before gives.
    pub(super) packings: Vec<Packing>,
    /// The order of axes in a chunk, if it is not that of the array: `Some(None)` is reversed.
    pub(super) transposed: Option<Option<Vec<usize>>>,
}

/// One step from bytes to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Blosc,
    Zlib,
    Zstd,
    Crc32c,
}

/// The header of a chunk of Blosc1 that is one stream, and of the tables before that.
const BLOSC1_HEADER: usize = 16;
const BLOSC1_TABLES: usize = 8;
/// The codecs of Blosc1 in the upper bits of its flags, and the flag for one stream a block.
const FLAG_ZLIB: u8 = 3 << 5;
const FLAG_ZSTD: u8 = 4 << 5;
const FLAG_ONE_STREAM: u8 = 0x10;

impl Packing {
    pub(super) fn of_v2(compressor: &Value) -> Outcome<Self> {
        match compressor["id"].as_str() {
            None if compressor.is_null() => Ok(Self::None),
            Some("blosc") => Ok(Self::Blosc),
            Some("zlib") => Ok(Self::Zlib),
            Some("zstd") => Ok(Self::Zstd),
            _ => Err(unsupported(compressor.get("id").unwrap_or(compressor))),
        }
    }

    /// The bytes before the step, of which there are `nbytes` unless a checksum follows them.
    fn undone(self, packed: Vec<u8>, nbytes: usize, limits: Limits) -> blosc_oxide::Result<Vec<u8>> {
        match self {
            Self::None => Ok(packed),
            Self::Blosc => Decompressor::new().with_limits(limits).decompress(&packed),
            Self::Zlib => stream(&packed, FLAG_ZLIB, nbytes, limits),
            Self::Zstd => stream(&packed, FLAG_ZSTD, nbytes, limits),
            Self::Crc32c => {
                let corrupt =
                    |message: String| blosc_oxide::Error::new(blosc_oxide::ErrorKind::ChecksumMismatch, message);
                let Some((bytes, sum)) = packed.split_last_chunk::<4>() else {
                    return Err(corrupt(format!("{} bytes have no place for a checksum", packed.len())));
                };
                let (stored, found) = (u32::from_le_bytes(*sum), crc32c(bytes));
                if stored != found {
                    return Err(corrupt(format!("its crc32c is {found:08x}, not {stored:08x}")));
                }
                Ok(bytes.to_vec())
            }
        }
    }
}

impl Coding {
    /// The steps of version 3, and whether items have their highest byte first.
    pub(super) fn of_v3(codecs: &[Value]) -> Outcome<(Self, bool)> {
        let mut coding = Self { packings: Vec::new(), transposed: None };
        let mut is_big = false;
        for codec in codecs {
            let config = &codec["configuration"];
            match codec["name"].as_str().or(codec.as_str()).unwrap_or_default() {
                "bytes" | "endian" => is_big = config["endian"] == "big",
                "transpose" if coding.transposed.is_some() => {
                    return Err(Failure::data("its chunks are transposed more than once, which is not supported"));
                }
                "transpose" => {
                    let order = config["order"].as_array().map(Vec::as_slice).unwrap_or_default();
                    let order = order.iter().map(|axis| axis.as_u64().and_then(|axis| usize::try_from(axis).ok()));
                    coding.transposed = Some(Some(order.collect::<Option<_>>().ok_or_else(|| unsupported(codec))?));
                }
                "blosc" => coding.packings.push(Packing::Blosc),
                "zstd" => coding.packings.push(Packing::Zstd),
                "crc32c" => coding.packings.push(Packing::Crc32c),
                "sharding_indexed" => {
                    return Err(Failure::data(
                        "its chunks are in shards, which are not read; write it with zarr-python without `shards` first",
                    ));
                }
                _ => return Err(unsupported(codec.get("name").unwrap_or(codec))),
            }
        }
        Ok((coding, is_big))
    }

    /// The items of a chunk of `nbytes`, as they are stored.
    pub(super) fn undone(&self, mut bytes: Vec<u8>, nbytes: usize, limits: Limits) -> blosc_oxide::Result<Vec<u8>> {
        let sums = |packings: &[Packing]| 4 * packings.iter().filter(|packing| **packing == Packing::Crc32c).count();
        for (at, packing) in self.packings.iter().enumerate().rev() {
            bytes = packing.undone(bytes, nbytes.saturating_add(sums(&self.packings[..at])), limits)?;
        }
        if bytes.len() != nbytes {
            let message = format!("it has {} bytes of items, not {nbytes}", bytes.len());
            return Err(blosc_oxide::Error::new(blosc_oxide::ErrorKind::Corrupt, message));
        }
        Ok(bytes)
    }
}

fn unsupported(codec: &Value) -> Failure {
    Failure::data(format!(
        "its codec {codec} is not supported: blosc, zlib, zstd and crc32c are; `blosc` reads no others"
    ))
}

/// The data of a stream of zlib or zstd, which is what the only block of a chunk of Blosc1 holds.
fn stream(packed: &[u8], codec: u8, nbytes: usize, limits: Limits) -> blosc_oxide::Result<Vec<u8>> {
    let too_long = |_| blosc_oxide::Error::new(blosc_oxide::ErrorKind::Unsupported, "a chunk of more than 2 GiB");
    let start = BLOSC1_HEADER + BLOSC1_TABLES;
    let lengths = [nbytes, nbytes, packed.len() + start].map(|len| i32::try_from(len).map_err(too_long));
    let mut chunk = vec![2, 1, codec | FLAG_ONE_STREAM, 1];
    for length in lengths {
        chunk.extend(length?.to_le_bytes());
    }
    chunk.extend(u32::try_from(BLOSC1_HEADER + 4).unwrap_or_default().to_le_bytes());
    chunk.extend(i32::try_from(packed.len()).map_err(too_long)?.to_le_bytes());
    chunk.extend(packed);
    Decompressor::new().with_limits(limits).decompress(&chunk)
}

/// The checksum of RFC 3720, bit by bit from a table of its polynomial.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0_u32;
        while byte < 256 {
            let (mut sum, mut bit) = (byte, 0);
            while bit < 8 {
                sum = if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
                bit += 1;
            }
            table[byte as usize] = sum;
            byte += 1;
        }
        table
    };
    let next = |sum: u32, byte: &u8| TABLE[usize::from(sum.to_le_bytes()[0] ^ byte)] ^ sum >> 8;
    !bytes.iter().fold(!0, next)
}

/// The items of a chunk of the shape `chunks` in C order, from one whose axes have been stored in
/// another order.
pub(super) fn transposed(stored: &[u8], chunks: &[usize], order: &[usize], itemsize: usize) -> Vec<u8> {
    // How far neighbours along each axis are apart where they are stored.
    let mut strides = vec![0; chunks.len()];
    let mut step = itemsize;
    for &axis in order.iter().rev() {
        strides[axis] = step;
        step *= chunks[axis];
    }
    let mut items = Vec::with_capacity(stored.len());
    let mut index = vec![0; chunks.len()];
    for _ in 0..chunks.iter().product() {
        let at: usize = index.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
        items.extend(&stored[at..at + itemsize]);
        for axis in (0..chunks.len()).rev() {
            index[axis] += 1;
            if index[axis] < chunks[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::{crc32c, transposed};

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn axes_are_put_in_order() {
        assert_eq!(transposed(b"adbecf", &[2, 3], &[1, 0], 1), b"abcdef");
        assert_eq!(transposed(b"abcdef", &[2, 3], &[0, 1], 1), b"abcdef");
    }
}
