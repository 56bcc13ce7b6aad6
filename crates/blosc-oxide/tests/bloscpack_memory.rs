//! Streams of any length in a bounded amount of memory. Alone in its program, because it looks at
//! the whole process.
#![cfg(all(feature = "bloscpack", target_os = "linux"))]

use blosc_oxide::bloscpack::{self, BloscpackOptions, ReadOptions};
use blosc_oxide::{Codec, Options};
use std::io::{self, Read, Write};
use std::thread;

const LIMIT: u64 = 64 << 20;

/// Numbers that go up and down a little, as many bytes as wanted.
struct Wave {
    left: u64,
    next: u64,
}

impl Read for Wave {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len()) / 8 * 8;
        for word in buffer[..len].chunks_exact_mut(8) {
            self.next = self.next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            word.copy_from_slice(&(1_000_000 + (self.next >> 52)).to_le_bytes());
        }
        self.left -= len as u64;
        Ok(len)
    }
}

/// Compares what comes with what was sent.
struct Compare(Wave);

impl Write for Compare {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let len = data.len().min(64 << 10) / 8 * 8;
        let mut expected = vec![0; len];
        self.0.read_exact(&mut expected)?;
        assert!(expected == data[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn wave(nbytes: u64) -> Wave {
    Wave { left: nbytes, next: 1 }
}

/// The most memory that this process has had.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Data goes through a pipe into the packer, through a pipe into the unpacker, and is compared with
/// what was sent.
#[expect(clippy::print_stderr, reason = "the figure is what a reader of the log wants to see")]
fn through_pipes(nbytes: u64, codec: Codec) {
    let (plain_out, mut plain_in) = io::pipe().unwrap();
    let (packed_out, packed_in) = io::pipe().unwrap();
    let options = BloscpackOptions::new(Options::new(8).with_codec(codec).with_level(1));
    let (packed, unpacked) = thread::scope(|scope| {
        scope.spawn(move || io::copy(&mut wave(nbytes), &mut plain_in).unwrap());
        let packer = scope.spawn(|| bloscpack::pack(plain_out, packed_in, &options).unwrap());
        let unpacked = bloscpack::unpack(packed_out, Compare(wave(nbytes)), &ReadOptions::new()).unwrap();
        (packer.join().unwrap(), unpacked)
    });
    assert_eq!((packed.nbytes, unpacked.nbytes), (nbytes, nbytes));
    assert_eq!(unpacked.header.nchunks(), None);
    let peak = peak();
    eprintln!("{nbytes} bytes with {codec}: {} packed, {} KiB at the most", packed.len, peak >> 10);
    assert!(peak < LIMIT, "{} KiB", peak >> 10);
}

#[test]
fn a_stream_of_256_mib_needs_less_than_64_mib() {
    through_pipes(256 << 20, Codec::BloscLz);
}

/// Takes some minutes:
/// `cargo test --release -p blosc-oxide --test bloscpack_memory -- --ignored --nocapture`.
#[test]
#[ignore = "4 GiB take their time"]
fn a_stream_of_4_gib_needs_less_than_64_mib() {
    through_pipes(4 << 30, Codec::Lz4);
}
