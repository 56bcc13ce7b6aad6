//! Options resolved for a chunk.

use super::layout::stored_typesize;
use crate::chunk::format::header::flag2;
use crate::chunk::options::{Format, Options};
use crate::codec::{BloscLzVariant, Codec, CodecContext, EncodeDict, Encoding};
use crate::error::Result;
use crate::filter::{Element, Stages};

/// How each block is filtered.
pub(in crate::chunk) fn stages(options: &Options) -> Result<Stages<'_>> {
    let element = Element {
        typesize: stored_typesize(options.typesize),
        item: options.typesize,
        bitshuffle: options.bitshuffle_rule(),
    };
    Stages::for_encoding(&options.pipeline, element, &options.plugins.filters)
}

/// How each stream is compressed.
pub(in crate::chunk) fn encoding<'o>(
    options: &'o Options,
    is_split: bool,
    dict: Option<&'o EncodeDict>,
) -> Encoding<'o> {
    let plugin = match options.codec {
        Codec::Plugin(id) => options.plugins.codecs.get(id),
        _ => None,
    };
    let typesize = stored_typesize(options.typesize);
    let block_shape = options.block_shape.as_deref();
    let context = CodecContext { meta: options.codec_meta, level: options.level, typesize, block_shape };
    let variant = match options.format {
        Format::Blosc1 => BloscLzVariant::Blosc1 { is_split },
        Format::Blosc2 => BloscLzVariant::Blosc2,
    };
    Encoding { codec: options.codec, context, plugin, variant, dict }
}

pub(in crate::chunk) fn codec_version(options: &Options) -> u8 {
    match options.codec {
        Codec::Plugin(id) => options.plugins.codecs.get(id).map_or(1, |codec| codec.version()),
        _ => 1,
    }
}

/// The flag of chunks that were written on a big-endian machine.
pub(in crate::chunk) fn native_endianness() -> u8 {
    if cfg!(target_endian = "big") { flag2::BIG_ENDIAN } else { 0 }
}
