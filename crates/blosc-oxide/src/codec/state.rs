//! What each worker keeps between streams: tables and contexts, made when first needed.

#[cfg(feature = "lizard")]
use super::lizard;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(feature = "snappy")]
use super::snappy;
#[cfg(feature = "zfp")]
use super::zfp;
#[cfg(feature = "zlib")]
use super::zlib;
#[cfg(any(feature = "zstd", feature = "zstd-pure"))]
use super::zstd;
use super::{BloscLzVariant, Codec, CodecContext, CodecPlugin, NDLZ, blosclz, ndlz};
use crate::error::{Error, Result, bail, error};

/// How the streams of a chunk are compressed.
#[derive(Clone, Copy)]
pub(crate) struct Encoding<'a> {
    pub(crate) codec: Codec,
    pub(crate) context: CodecContext<'a>,
    pub(crate) plugin: Option<&'a dyn CodecPlugin>,
    /// Which matches blosclz takes; and the format, in which zlib is to compress as well as C's.
    pub(crate) variant: BloscLzVariant,
    #[cfg_attr(
        not(any(feature = "lz4", feature = "zstd", feature = "zstd-pure")),
        expect(dead_code, reason = "no codec of this build takes a dictionary")
    )]
    pub(crate) dict: Option<&'a EncodeDict>,
}

/// How the streams of a chunk are decompressed.
#[derive(Clone, Copy)]
pub(crate) struct Decoding<'a> {
    pub(crate) codec: Codec,
    pub(crate) context: CodecContext<'a>,
    pub(crate) plugin: Option<&'a dyn CodecPlugin>,
    #[cfg_attr(
        not(any(feature = "lz4", feature = "zstd", feature = "zstd-pure")),
        expect(dead_code, reason = "no codec of this build takes a dictionary")
    )]
    pub(crate) dict: Option<&'a DecodeDict<'a>>,
}

/// The tables and contexts of one worker that compresses.
#[derive(Default)]
pub(crate) struct EncodeState {
    blosclz: Option<blosclz::Encoder>,
    #[cfg(feature = "lz4")]
    lz4: Option<lz4::Encoder>,
    #[cfg(feature = "lz4")]
    lz4hc: Option<lz4::HcEncoder>,
    #[cfg(feature = "snappy")]
    snappy: Option<(snappy::Encoder, Vec<u8>)>,
    #[cfg(feature = "zfp")]
    zfp: Option<Box<zfp::Room>>,
    #[cfg(feature = "zlib")]
    zlib: Option<zlib::Encoder>,
    #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
    zstd: Option<zstd::Encoder>,
}

impl EncodeState {
    /// Compresses `src` into `dst`; `None` when the result is longer than `dst`.
    pub(crate) fn compress(&mut self, how: &Encoding<'_>, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        let level = how.context.level;
        Ok(match how.codec {
            Codec::BloscLz => {
                let encoder = self.blosclz.get_or_insert_with(blosclz::Encoder::new);
                encoder.compress(src, dst, level, how.variant)
            }
            #[cfg(feature = "lz4")]
            Codec::Lz4 => {
                let encoder = self.lz4.get_or_insert_with(lz4::Encoder::new);
                let acceleration = lz4::acceleration(level);
                match how.dict {
                    None => encoder.compress(src, dst, acceleration),
                    Some(dict) => encoder.compress_with_dict(src, &dict.bytes, dst, acceleration),
                }
            }
            #[cfg(feature = "lz4")]
            Codec::Lz4Hc => {
                let encoder = self.lz4hc.get_or_insert_with(lz4::HcEncoder::new);
                match how.dict {
                    None => encoder.compress(src, dst, level),
                    Some(dict) => encoder.compress_with_dict(src, &dict.bytes, dst, level),
                }
            }
            #[cfg(feature = "snappy")]
            Codec::Snappy => {
                let (encoder, room) = self.snappy.get_or_insert_with(|| (snappy::Encoder::new(), Vec::new()));
                snappy::compress(encoder, room, src, dst)
            }
            #[cfg(feature = "zlib")]
            Codec::Zlib => {
                let model = match how.variant {
                    BloscLzVariant::Blosc1 { .. } => zlib::Model::Zlib,
                    BloscLzVariant::Blosc2 => zlib::Model::ZlibNg,
                };
                self.zlib.get_or_insert_with(zlib::Encoder::new).compress(src, dst, level, model)
            }
            #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
            Codec::Zstd => {
                let dict = how.dict.and_then(|dict| dict.zstd.as_ref());
                self.zstd.get_or_insert_with(zstd::Encoder::new).compress(src, dict, dst, level)
            }
            codec => match how.plugin {
                Some(plugin) => plugin.compress(src, dst, how.context)?,
                #[cfg(feature = "zfp")]
                None if codec.is_zfp() => {
                    zfp::compress(self.zfp.get_or_insert_default(), codec, src, dst, how.context)?
                }
                None => return Err(missing(codec)),
            },
        })
    }
}

/// The tables and contexts of one worker that decompresses.
#[derive(Default)]
pub(crate) struct DecodeState {
    #[cfg(feature = "lizard")]
    lizard: Option<Box<lizard::Decoder>>,
    #[cfg(feature = "snappy")]
    snappy: Option<snappy::Decoder>,
    #[cfg(feature = "zfp")]
    zfp: Option<Box<zfp::Room>>,
    #[cfg(feature = "zlib")]
    zlib: Option<zlib::Decoder>,
    #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
    zstd: Option<zstd::Decoder>,
}

impl DecodeState {
    /// Decompresses `src` into `dst`, which it must fill.
    pub(crate) fn decompress(&mut self, how: &Decoding<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let written = match how.codec {
            Codec::BloscLz => blosclz::decompress(src, dst)?,
            #[cfg(feature = "lz4")]
            Codec::Lz4 | Codec::Lz4Hc => lz4::decompress(src, how.dict.map(|dict| dict.bytes), dst)?,
            #[cfg(feature = "snappy")]
            Codec::Snappy => snappy::decompress(self.snappy.get_or_insert_with(snappy::Decoder::new), src, dst)?,
            #[cfg(feature = "zlib")]
            Codec::Zlib => self.zlib.get_or_insert_with(zlib::Decoder::new).decompress(src, dst)?,
            #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
            Codec::Zstd => {
                let dict = how.dict.and_then(|dict| dict.zstd.as_ref());
                zstd::decompress(self.zstd.get_or_insert_with(zstd::Decoder::new), src, dict, dst)?
            }
            #[cfg(feature = "lizard")]
            Codec::Lizard => lizard::decompress(self.lizard.get_or_insert_default(), src, dst)?,
            codec => match how.plugin {
                Some(plugin) => plugin.decompress(src, dst, how.context)?,
                None if codec == Codec::Plugin(NDLZ) => ndlz::decompress(src, dst, how.context.meta)?,
                #[cfg(feature = "zfp")]
                None if codec.is_zfp() => {
                    zfp::decompress(self.zfp.get_or_insert_default(), codec, src, dst, how.context)?
                }
                None => return Err(missing(codec)),
            },
        };
        if written != dst.len() {
            bail!(Corrupt, "{}: {} bytes decode to {written}, not {}", how.codec, src.len(), dst.len());
        }
        Ok(())
    }
}

impl DecodeState {
    /// Decompresses `src` into `dst`, but perhaps no more than the first `wanted` bytes of it.
    pub(crate) fn decompress_prefix(
        &mut self,
        how: &Decoding<'_>,
        src: &[u8],
        wanted: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        let written = match how.codec {
            Codec::BloscLz => blosclz::decompress_prefix(src, &mut dst[..wanted])?,
            #[cfg(feature = "lz4")]
            Codec::Lz4 | Codec::Lz4Hc => {
                lz4::decompress_prefix(src, how.dict.map(|dict| dict.bytes), &mut dst[..wanted])?
            }
            _ => return self.decompress(how, src, dst),
        };
        if written != wanted {
            bail!(Corrupt, "{}: {} bytes decode to {written}, not to {wanted} or more", how.codec, src.len());
        }
        Ok(())
    }
}

/// The error for a codec that cannot be run.
pub(crate) fn missing(codec: Codec) -> Error {
    match codec {
        Codec::Plugin(id @ 160..) => {
            error!(Unsupported, "codec {id} is a user's own and no plug-in is registered for it")
        }
        Codec::Plugin(id) if !codec.is_zfp() => match codec.name() {
            Some(name) => error!(Unsupported, "codec {id} ({name}) is not supported"),
            None => error!(Unsupported, "codec {id} is not known"),
        },
        _ => error!(Unsupported, "{codec}: this build is without it; turn the feature on"),
    }
}

/// A dictionary that streams are compressed with.
pub(crate) struct EncodeDict {
    bytes: Vec<u8>,
    #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
    zstd: Option<zstd::EncodeDict>,
}

impl EncodeDict {
    pub(crate) fn new(codec: Codec, level: u8, bytes: Vec<u8>) -> Option<Self> {
        #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
        if codec == Codec::Zstd {
            let zstd = Some(zstd::EncodeDict::new(&bytes, level)?);
            return Some(Self { bytes, zstd });
        }
        let _ = level;
        codec.takes_dictionary().then_some(Self {
            bytes,
            #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
            zstd: None,
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A dictionary that streams are decompressed with.
pub(crate) struct DecodeDict<'a> {
    #[cfg_attr(not(feature = "lz4"), expect(dead_code, reason = "only LZ4 reads it as it is"))]
    bytes: &'a [u8],
    #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
    zstd: Option<zstd::DecodeDict>,
}

impl<'a> DecodeDict<'a> {
    pub(crate) fn new(codec: Codec, bytes: &'a [u8]) -> Result<Self> {
        if !codec.takes_dictionary() {
            bail!(Corrupt, "{codec} does not take a dictionary, the chunk has one of {} bytes", bytes.len());
        }
        #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
        if codec == Codec::Zstd {
            let zstd = zstd::DecodeDict::new(bytes)
                .ok_or_else(|| error!(Corrupt, "zstd: the dictionary of {} bytes is damaged", bytes.len()))?;
            return Ok(Self { bytes, zstd: Some(zstd) });
        }
        Ok(Self {
            bytes,
            #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
            zstd: None,
        })
    }
}

/// Trains a dictionary for `codec`, where that is possible: `None` if it is not, or if the
/// samples are of no use.
pub(crate) fn train(codec: Codec, samples: &[u8], sizes: &[usize], max_len: usize) -> Option<Vec<u8>> {
    match codec {
        #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
        Codec::Zstd => zstd::train(samples, sizes, max_len),
        Codec::Lz4 | Codec::Lz4Hc => Some(samples[..samples.len().min(max_len)].to_vec()),
        _ => {
            let _ = sizes;
            None
        }
    }
}
