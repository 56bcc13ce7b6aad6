//! The crate `blosc2-pure-rs`: C-Blosc2 translated to Rust.

use crate::{Case, LEVEL};
use blosc_oxide::Filter;
use blosc2_pure_rs::compress::{CContext, CParams, DContext, DParams};

pub(crate) const NAME: &str = "blosc2-pure-rs 0.2.4";

pub(crate) struct Peer {
    compressor: CContext,
    decompressor: DContext,
}

impl Peer {
    pub(crate) fn new(case: Case) -> Self {
        let params = CParams {
            compcode: case.codec.code(),
            clevel: LEVEL,
            typesize: i32::try_from(case.typesize).expect("a small type"),
            filters: [0, 0, 0, 0, 0, case.filter.map_or(0, Filter::id)],
            nthreads: 1,
            ..CParams::default()
        };
        let decompressor = DContext::new(DParams { nthreads: 1, ..DParams::default() });
        Self { compressor: CContext::new(params), decompressor }
    }

    pub(crate) fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        self.compressor.compress_into(src, dst).expect("room enough")
    }

    pub(crate) fn decompress(&mut self, chunk: &[u8], out: &mut [u8]) -> bool {
        self.decompressor.decompress_into(chunk, out) == Ok(out.len())
    }
}
