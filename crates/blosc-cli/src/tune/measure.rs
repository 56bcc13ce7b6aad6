//! Trying out one choice.

use super::candidate::Candidate;
use crate::failure::{Failure, Outcome};
use blosc_oxide::{Compressor, Decompressor, Threads};
use std::fmt;
use std::time::{Duration, Instant};

/// Each way is repeated until this much time has gone by, and the best time counts.
const ENOUGH: Duration = Duration::from_millis(60);
const MAX_REPEATS: usize = 5;

/// What a choice makes of the sample.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub(crate) candidate: Candidate,
    pub(crate) nbytes: usize,
    pub(crate) cbytes: usize,
    pub(crate) compress: Duration,
    pub(crate) decompress: Duration,
}

impl Measurement {
    /// How many times smaller the sample becomes.
    #[expect(clippy::cast_precision_loss, reason = "a ratio is read with a few digits")]
    pub(crate) fn ratio(&self) -> f64 {
        self.nbytes as f64 / self.cbytes.max(1) as f64
    }

    /// Megabytes a second.
    #[expect(clippy::cast_precision_loss, reason = "a speed is read with a few digits")]
    pub(crate) fn speed(&self, time: Duration) -> f64 {
        self.nbytes as f64 / 1e6 / time.as_secs_f64().max(1e-9)
    }

    /// Megabytes a second of compressing and decompressing once.
    pub(crate) fn both_speeds(&self) -> f64 {
        self.speed(self.compress + self.decompress)
    }
}

impl fmt::Display for Measurement {
    /// The options that stand for the setting, and what they come to.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Candidate { codec, level, filters, .. } = &self.candidate;
        write!(f, "--codec {codec} --level {level}")?;
        match filters.is_empty() {
            true => write!(f, " --filter none")?,
            false => filters.iter().try_for_each(|filter| write!(f, " --filter {filter}"))?,
        }
        write!(f, ", ratio {:.2}, {:.0} MB/s", self.ratio(), self.speed(self.compress))
    }
}

/// The sample, and the memory that trying takes.
pub(crate) struct Trial<'a> {
    sample: &'a [u8],
    typesize: usize,
    threads: Threads,
    compressed: Vec<u8>,
    decompressed: Vec<u8>,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(sample: &'a [u8], typesize: usize, threads: Threads) -> Self {
        Self { sample, typesize, threads, compressed: Vec::new(), decompressed: vec![0; sample.len()] }
    }

    pub(crate) fn typesize(&self) -> usize {
        self.typesize
    }

    pub(crate) fn len(&self) -> usize {
        self.sample.len()
    }

    /// Compresses and decompresses the sample with `candidate`, and checks that it comes back.
    pub(crate) fn measure(&mut self, candidate: &Candidate) -> Outcome<Measurement> {
        let mut compressor = Compressor::new(candidate.options(self.typesize, &self.threads))?;
        self.compressed.resize(compressor.max_compressed_len(self.sample.len()), 0);
        let mut cbytes = 0;
        let compress = best_time(|| {
            cbytes = compressor.compress_into(self.sample, &mut self.compressed)?;
            Ok(())
        })?;
        let chunk = &self.compressed[..cbytes];
        let mut decompressor = Decompressor::new().with_threads(self.threads.clone());
        let decompress = best_time(|| decompressor.decompress_into(chunk, &mut self.decompressed).map(|_| ()))?;
        if self.decompressed != self.sample {
            return Err(Failure::data(format!("{candidate:?} did not give the sample back; please report this")));
        }
        Ok(Measurement { candidate: candidate.clone(), nbytes: self.sample.len(), cbytes, compress, decompress })
    }
}

fn best_time(mut action: impl FnMut() -> blosc_oxide::Result<()>) -> Outcome<Duration> {
    let mut best = Duration::MAX;
    let mut total = Duration::ZERO;
    for _ in 0..MAX_REPEATS {
        let start = Instant::now();
        action()?;
        let time = start.elapsed();
        best = best.min(time);
        total += time;
        if total >= ENOUGH {
            break;
        }
    }
    Ok(best)
}
