//! The crate `blosc2`: bindings to C-Blosc2 2.

use crate::{Case, LEVEL};
use blosc_oxide::{Codec, Filter};
use blosc2::chunk::{Decoder, Encoder};
use blosc2::{CParams, CompressAlgo, DParams};
use std::mem::MaybeUninit;

pub(crate) const NAME: &str = "blosc2 0.2.3";

pub(crate) struct Peer {
    encoder: Encoder,
    decoder: Decoder,
    room: Vec<MaybeUninit<u8>>,
}

impl Peer {
    pub(crate) fn new(case: Case) -> Self {
        let mut params = CParams::default();
        params.compressor(match case.codec {
            Codec::BloscLz => CompressAlgo::Blosclz,
            Codec::Lz4 => CompressAlgo::Lz4,
            Codec::Lz4Hc => CompressAlgo::Lz4hc,
            Codec::Zlib => CompressAlgo::Zlib,
            _ => CompressAlgo::Zstd,
        });
        let filters: &[blosc2::Filter] = match case.filter {
            Some(Filter::Shuffle) => &[blosc2::Filter::ByteShuffle],
            Some(_) => &[blosc2::Filter::BitShuffle],
            None => &[],
        };
        params.clevel(LEVEL.into()).nthreads(1).filters(filters).expect("few filters");
        params.typesize(case.typesize).expect("a small type");
        Self {
            encoder: Encoder::new(params).expect("good parameters"),
            decoder: Decoder::new(DParams::default()).expect("good parameters"),
            room: vec![MaybeUninit::uninit(); 4 << 20],
        }
    }

    pub(crate) fn compress(&mut self, src: &[u8], _: &mut [u8]) -> usize {
        self.encoder.compress_into(src, &mut self.room).expect("room enough")
    }

    pub(crate) fn decompress(&mut self, chunk: &[u8], out: &mut [u8]) -> bool {
        let (start, len) = (out.as_mut_ptr().cast(), out.len());
        // SAFETY: it is the memory of `out`, and what is written there is initialised.
        let room = unsafe { std::slice::from_raw_parts_mut(start, len) };
        self.decoder.decompress_into(chunk, room).is_ok_and(|written| written == len)
    }
}
