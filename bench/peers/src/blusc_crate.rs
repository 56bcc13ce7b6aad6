//! The crate `blusc`: Blosc2 chunks for WebAssembly.

use crate::{Case, LEVEL};
use blosc_oxide::Filter;
use blusc::{BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, Blosc2Context, Blosc2Cparams};
use blusc::{blosc2_compress_ctx, blosc2_create_cctx, blosc2_create_dctx, blosc2_decompress_ctx};

pub(crate) const NAME: &str = "blusc 0.0.7";

pub(crate) struct Peer {
    compressor: Blosc2Context,
    decompressor: Blosc2Context,
}

impl Peer {
    pub(crate) fn new(case: Case) -> Self {
        let params = Blosc2Cparams {
            compcode: case.codec.code(),
            clevel: LEVEL,
            typesize: i32::try_from(case.typesize).expect("a small type"),
            filters: [0, 0, 0, 0, 0, case.filter.map_or(0, Filter::id)],
            ..BLOSC2_CPARAMS_DEFAULTS
        };
        Self { compressor: blosc2_create_cctx(params), decompressor: blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS) }
    }

    pub(crate) fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        usize::try_from(blosc2_compress_ctx(&self.compressor, src, dst)).expect("room enough")
    }

    pub(crate) fn decompress(&mut self, chunk: &[u8], out: &mut [u8]) -> bool {
        usize::try_from(blosc2_decompress_ctx(&self.decompressor, chunk, out)) == Ok(out.len())
    }
}
