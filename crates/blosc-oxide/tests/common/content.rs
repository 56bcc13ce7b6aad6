//! Everything that a user sees of a frame, as a value.

use blosc_oxide::{Result, SuperChunk};
use testkit::Rng;

/// All data and metadata of a frame.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    pub typesize: usize,
    pub nbytes: u64,
    pub chunks: Vec<Vec<u8>>,
    pub metalayers: Vec<(String, Vec<u8>)>,
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
}

impl Content {
    pub fn of(frame: &SuperChunk) -> Result<Self> {
        let mut vlmetalayers = Vec::new();
        for name in frame.vlmetalayers().names() {
            vlmetalayers.push((name.to_owned(), frame.vlmetalayers().get(name)?.unwrap_or_default()));
        }
        Ok(Self {
            typesize: frame.typesize(),
            nbytes: frame.nbytes(),
            chunks: (0..frame.nchunks()).map(|index| frame.decompress(index)).collect::<Result<_>>()?,
            metalayers: frame.metalayers().iter().map(|(name, content)| (name.to_owned(), content.to_vec())).collect(),
            vlmetalayers,
        })
    }

    /// All of it in one hash, which `interop/crash.py` computes in the same way.
    pub fn digest(&self) -> String {
        let mut bytes = Vec::new();
        let mut add = |name: &str, content: &[u8]| {
            bytes.extend_from_slice(format!("{name}:{}:", content.len()).as_bytes());
            bytes.extend_from_slice(content);
        };
        self.chunks.iter().for_each(|chunk| add("", chunk));
        self.metalayers.iter().for_each(|(name, content)| add(name, content));
        self.vlmetalayers.iter().for_each(|(name, content)| add(name, content));
        testkit::sha256_hex(&bytes)
    }

    /// What it is with one more chunk.
    pub fn with_chunk(&self, data: &[u8]) -> Self {
        let mut content = self.clone();
        content.nbytes += data.len() as u64;
        content.chunks.push(data.to_vec());
        content
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let starts: Vec<_> = self.chunks.iter().map(|chunk| (chunk.len(), chunk.first())).collect();
        let sizes = |layers: &[(String, Vec<u8>)]| {
            layers.iter().map(|(name, content)| (name.clone(), content.len())).collect::<Vec<_>>()
        };
        write!(f, "chunks {starts:?}, metalayers {:?}, {:?}", sizes(&self.metalayers), sizes(&self.vlmetalayers))
    }
}

/// Bytes that do not compress, the same for the same seed.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.byte()).collect()
}
