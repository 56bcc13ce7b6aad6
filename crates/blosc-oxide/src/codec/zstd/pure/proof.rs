//! Streams that are decoded before they are returned.
//!
//! The library is hardly ever run on big-endian hosts, and one of its searches was wrong there
//! without anybody's noticing ([`super::encode`] does not use it). Lost data are worse than the
//! cost of decoding, so such hosts keep no stream that has not been decoded to its source.

use super::decode::{DecodeDict, Decoder};

/// Whether this host needs the proof.
pub(super) const IS_NEEDED: bool = cfg!(target_endian = "big");

/// A decoder, and memory for its output.
pub(super) struct Proof {
    decoder: Decoder,
    decoded: Vec<u8>,
}

impl Proof {
    pub(super) fn new() -> Self {
        Self { decoder: Decoder::new(), decoded: Vec::new() }
    }

    /// Whether `frame` decodes to `src`.
    pub(super) fn holds(&mut self, frame: &[u8], dict: Option<&DecodeDict>, src: &[u8]) -> bool {
        self.decoded.clear();
        self.decoded.resize(src.len(), 0);
        let len = self.decoder.decompress(frame, dict, &mut self.decoded);
        len.is_ok_and(|len| len == src.len()) && self.decoded == src
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::Encoder;
    use super::*;

    #[test]
    fn only_the_stream_of_the_very_bytes_is_a_proof() {
        let src: Vec<u8> = (0..5000_u32).map(|i| ((i * i) >> 7).to_le_bytes()[0]).collect();
        let mut frame = vec![0; 6000];
        let len = Encoder::new().compress(&src, None, &mut frame, 4).unwrap();
        frame.truncate(len);
        let mut proof = Proof::new();
        assert!(proof.holds(&frame, None, &src));
        assert!(!proof.holds(&frame[..len - 1], None, &src));
        assert!(!proof.holds(&frame, None, &src[..4999]));
        for at in [0, 1, 2500, 4999] {
            let mut other = src.clone();
            other[at] ^= 1;
            assert!(!proof.holds(&frame, None, &other), "byte {at}");
        }
        assert!(proof.holds(&frame, None, &src));
    }
}
