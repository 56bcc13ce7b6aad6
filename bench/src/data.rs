//! The data sets, made by formula: the same on every machine.

/// A data set: bytes, and the size of the items they are.
pub(crate) struct DataSet {
    pub(crate) name: &'static str,
    pub(crate) typesize: usize,
    pub(crate) bytes: Vec<u8>,
}

/// The names of all data sets.
pub(crate) const NAMES: [&str; 7] =
    ["linspace_f64", "i32_sequence", "f32_walk", "field3d_f32", "text", "random", "zeros"];

/// The data set with this name, of `len` bytes.
pub(crate) fn data_set(name: &'static str, len: usize) -> DataSet {
    let (typesize, bytes) = match name {
        "linspace_f64" => (8, linspace(len)),
        "i32_sequence" => (4, sequence(len)),
        "f32_walk" => (4, walk(len)),
        "field3d_f32" => (4, field(len)),
        "text" => (1, text(len)),
        "random" => (4, random(len)),
        _ => (4, vec![0; len]),
    };
    DataSet { name, typesize, bytes }
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

fn linspace(len: usize) -> Vec<u8> {
    let count = (len / 8).max(2) - 1;
    collect(len, |i| (i as f64 / count as f64 * 100.0).to_le_bytes())
}

fn sequence(len: usize) -> Vec<u8> {
    let mut rng = Rng(1);
    collect(len, |i| (i as u32).wrapping_add((rng.next() & 7) as u32).to_le_bytes())
}

fn walk(len: usize) -> Vec<u8> {
    let mut rng = Rng(2);
    let mut at = 1000.0;
    collect(len, |_| {
        at += rng.unit() - 0.5;
        (at as f32).to_le_bytes()
    })
}

fn field(len: usize) -> Vec<u8> {
    const SIDE: usize = 128;
    collect(len, |i| {
        let (x, y, z) = (i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE));
        let wave = |v: usize, period: f64| (v as f64 * std::f64::consts::TAU / period).sin();
        let value = wave(x, 128.0) * wave(y, 96.0) + 0.5 * wave(z, 40.0) + 0.25 * wave(x + y, 57.0);
        // Rounded as measured data is.
        (((value * 1e4).round() / 1e4) as f32).to_le_bytes()
    })
}

fn text(len: usize) -> Vec<u8> {
    let mut rng = Rng(3);
    let mut bytes = Vec::with_capacity(len + 64);
    let mut id = 0_u64;
    while bytes.len() < len {
        id += 1 + rng.next() % 3;
        let value = rng.next() % 10_000;
        let name = ["alpha", "bravo", "delta", "gamma", "omega"][(rng.next() % 5) as usize];
        let record = format!(
            "{{\"id\": {id}, \"name\": \"{name}\", \"value\": {value}, \"ok\": {}}}\n",
            value.is_multiple_of(2)
        );
        bytes.extend_from_slice(record.as_bytes());
    }
    bytes.truncate(len);
    bytes
}

fn random(len: usize) -> Vec<u8> {
    let mut rng = Rng(4);
    collect(len, |_| rng.next().to_le_bytes())
}
