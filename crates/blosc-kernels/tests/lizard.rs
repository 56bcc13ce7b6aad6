//! Lizard streams that the reference made at every level, and forged ones, end as their manifest
//! says.

use blosc_kernels::lizard::Decoder;
use std::fs;
use std::path::PathBuf;
use testkit::golden::Golden;
use testkit::serde_json::{self, Value};
use testkit::sha256_hex;

/// What the sets hold; fewer streams mean that this test has lost its eyes.
const SHARED_STREAMS: usize = 360;
const REPOSITORY_STREAMS: usize = 42;

/// More than any stream of the set makes.
const ROOM: usize = 200_000;

struct Stream {
    name: String,
    bytes: Vec<u8>,
    verdict: String,
    /// Length and hash of the data.
    data: Option<(usize, String)>,
}

fn streams(golden: &Golden) -> Vec<Stream> {
    let directory = golden.root().join("lizard-streams");
    let read = |path: PathBuf| fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let manifest: Vec<Value> = serde_json::from_slice(&read(directory.join("manifest.json"))).expect("a list");
    let stream = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().map(str::to_owned);
        let name = text("file").expect("an entry has a file");
        let nbytes = entry["nbytes"].as_u64().map(|nbytes| usize::try_from(nbytes).expect("streams are short"));
        Stream {
            bytes: read(directory.join(&name)),
            verdict: text("verdict").expect("an entry has a verdict"),
            data: nbytes.zip(text("sha256_content")),
            name,
        }
    };
    manifest.iter().map(stream).collect()
}

fn repository() -> Vec<Stream> {
    streams(&Golden::repository())
}

fn check(decoder: &mut Decoder, stream: &Stream) {
    let name = &stream.name;
    let mut dst = vec![0; ROOM];
    let result = decoder.decompress(&stream.bytes, &mut dst);
    match stream.verdict.split(' ').next() {
        Some("right") => {
            let written = result.unwrap_or_else(|error| panic!("{name}: {error}"));
            let (nbytes, hash) = stream.data.as_ref().expect("the data are known");
            assert_eq!((written, &sha256_hex(&dst[..written])), (*nbytes, hash), "{name}");
            let exact = decoder.decompress(&stream.bytes, &mut dst[..*nbytes]);
            assert_eq!((exact, &sha256_hex(&dst[..written])), (Ok(*nbytes), hash), "{name}, without room to spare");
            assert!(decoder.decompress(&stream.bytes, &mut dst[..*nbytes - 1]).is_err(), "{name}, a byte too little");
        }
        Some("refuse") => assert!(result.is_err(), "{name} gives {result:?}"),
        Some("either") => {}
        _ => panic!("{name}: the verdict {:?} is not known", stream.verdict),
    }
}

#[test]
fn streams_of_all_levels_end_as_their_verdict_says() {
    let shared = Golden::shared().map(|golden| (streams(&golden), SHARED_STREAMS));
    for (streams, expected) in [(repository(), REPOSITORY_STREAMS)].into_iter().chain(shared) {
        assert_eq!(streams.len(), expected);
        let mut decoder = Decoder::new();
        streams.iter().for_each(|stream| check(&mut decoder, stream));
    }
}

#[test]
fn no_prefix_of_a_stream_gives_all_of_its_data() {
    let mut decoder = Decoder::new();
    let mut dst = vec![0; ROOM];
    for Stream { name, bytes, data, .. } in repository() {
        let Some((nbytes, _)) = data else { continue };
        // Every prefix of short streams, and some of long ones.
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 4000) {
            let made = decoder.decompress(&bytes[..end], &mut dst[..nbytes]).unwrap_or(0);
            assert!(made < nbytes, "{name}: {end} of {} bytes give all of its data", bytes.len());
        }
    }
}

#[test]
fn a_stream_with_any_byte_changed_gives_data_or_an_error() {
    let mut decoder = Decoder::new();
    for Stream { bytes, data, .. } in repository() {
        let Some((nbytes, _)) = data else { continue };
        let mut dst = vec![0; nbytes];
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 2000) {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                if let Ok(made) = decoder.decompress(&changed, &mut dst) {
                    assert!(made <= nbytes);
                }
            }
        }
    }
}

/// What one thread decodes in a second, at least.
const MIN_BYTES_PER_SECOND: f64 = 200e6;
/// Shorter streams are over before the clock has moved.
const MIN_TIMED_LEN: usize = 10_000;

/// Run with `cargo test --release -p blosc-kernels --test lizard -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, for a release build"]
fn every_long_stream_is_decoded_at_200_megabytes_a_second() {
    let golden = Golden::shared().unwrap_or_else(Golden::repository);
    let mut decoder = Decoder::new();
    let mut dst = vec![0; ROOM];
    let mut slowest = (f64::INFINITY, String::new());
    for Stream { name, bytes, data, .. } in streams(&golden) {
        let Some((nbytes, _)) = data.filter(|(nbytes, _)| *nbytes >= MIN_TIMED_LEN) else { continue };
        let speed = nbytes as f64 / fastest_of(20, || assert_eq!(decoder.decompress(&bytes, &mut dst), Ok(nbytes)));
        if speed < slowest.0 {
            slowest = (speed, name);
        }
    }
    println!("the slowest stream is {}, {:.0} MB/s", slowest.1, slowest.0 / 1e6);
    assert!(slowest.0.is_finite() && slowest.0 >= MIN_BYTES_PER_SECOND, "{slowest:?}");
}

/// The seconds that the fastest of some runs takes.
fn fastest_of(runs: usize, mut run: impl FnMut()) -> f64 {
    let timed = (0..runs).map(|_| {
        let start = std::time::Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    timed.fold(f64::INFINITY, f64::min)
}
