//! Data made by formula, the same on every machine: for what no real data can show, and for checks
//! that must not depend on downloads.

use super::DataSet;

/// Numbers that no codec can compress.
pub(crate) fn random(len: usize) -> DataSet {
    let mut rng = Rng(4);
    DataSet { name: "random", typesize: 4, bytes: collect(len, |_| rng.next().to_le_bytes()) }
}

/// Nothing but zeros, which become a special chunk.
pub(crate) fn zeros(len: usize) -> DataSet {
    DataSet { name: "zeros", typesize: 4, bytes: vec![0; len] }
}

/// A random walk of f32.
pub(crate) fn walk(len: usize) -> DataSet {
    let mut rng = Rng(2);
    let mut at = 1000.0;
    let bytes = collect(len, |_| {
        at += rng.unit() - 0.5;
        (at as f32).to_le_bytes()
    });
    DataSet { name: "f32_walk", typesize: 4, bytes }
}

/// A smooth field of f32 in three dimensions.
pub(crate) fn field(len: usize) -> DataSet {
    const SIDE: usize = 128;
    let bytes = collect(len, |i| {
        let (x, y, z) = (i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE));
        let wave = |v: usize, period: f64| (v as f64 * std::f64::consts::TAU / period).sin();
        let value = wave(x, 128.0) * wave(y, 96.0) + 0.5 * wave(z, 40.0) + 0.25 * wave(x + y, 57.0);
        // Rounded as measured data is.
        (((value * 1e4).round() / 1e4) as f32).to_le_bytes()
    });
    DataSet { name: "field3d_f32", typesize: 4, bytes }
}

/// splitmix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn collect<const N: usize>(len: usize, item: impl FnMut(usize) -> [u8; N]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len.div_ceil(N)).flat_map(item).collect();
    bytes.truncate(len);
    bytes
}
