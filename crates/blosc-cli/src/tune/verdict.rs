//! Which of the choices are best for what.

use super::candidate::Candidate;
use super::measure::Measurement;

/// How fast the way is that compressed data takes, in megabytes a second: a network or a disk of
/// the usual kind.
pub(crate) const LINK: f64 = 100.0;
/// What hardly becomes smaller is not compressed, however fast.
const LEAST_RATIO: f64 = 1.05;

/// The places of the best measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The smallest result.
    pub(crate) size: usize,
    /// The least time to compress and decompress.
    pub(crate) speed: usize,
    /// The least time to compress, move and decompress.
    pub(crate) balance: usize,
}

impl Verdict {
    /// The best of what was found, if there is anything.
    pub(crate) fn of(found: &[Measurement]) -> Option<Self> {
        let shrinks = |measurement: &&(usize, &Measurement)| measurement.1.ratio() >= LEAST_RATIO;
        let all: Vec<(usize, &Measurement)> = found.iter().enumerate().collect();
        let useful: Vec<(usize, &Measurement)> = all.iter().filter(shrinks).copied().collect();
        let from = if useful.is_empty() { &all } else { &useful };
        let best = |score: fn(&Measurement) -> f64| {
            from.iter().max_by(|a, b| score(a.1).total_cmp(&score(b.1))).map(|(place, _)| *place)
        };
        Some(Self {
            size: best(Measurement::ratio)?,
            speed: best(Measurement::both_speeds)?,
            balance: best(|measurement| -moving_time(measurement))?,
        })
    }

    /// The choices behind it, each once.
    pub(super) fn candidates(&self, found: &[Measurement]) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for place in [self.size, self.speed, self.balance] {
            let candidate = &found[place].candidate;
            if !candidates.contains(candidate) {
                candidates.push(candidate.clone());
            }
        }
        candidates
    }

    /// What a measurement is best for, in words.
    pub(crate) fn marks(&self, place: usize) -> Vec<&'static str> {
        let marks = [(self.size, "size"), (self.speed, "speed"), (self.balance, "balance")];
        marks.into_iter().filter(|(best, _)| *best == place).map(|(_, mark)| mark).collect()
    }
}

/// Seconds to compress the sample, move what it becomes, and decompress it.
#[expect(clippy::cast_precision_loss, reason = "times are compared, not counted")]
fn moving_time(measurement: &Measurement) -> f64 {
    let moved = measurement.cbytes as f64 / 1e6 / LINK;
    (measurement.compress + measurement.decompress).as_secs_f64() + moved
}

/// Whether nothing else is better in size and no worse in both speeds.
pub(crate) fn is_on_front(place: usize, found: &[Measurement]) -> bool {
    let this = &found[place];
    !found.iter().any(|other| {
        let is_no_worse =
            other.cbytes <= this.cbytes && other.compress <= this.compress && other.decompress <= this.decompress;
        let is_better =
            other.cbytes < this.cbytes || other.compress < this.compress || other.decompress < this.decompress;
        is_no_worse && is_better
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_oxide::Codec;
    use std::time::Duration;

    fn measurement(cbytes: usize, compress: u64, decompress: u64) -> Measurement {
        Measurement {
            candidate: Candidate::new(Codec::Lz4, 1, &[]),
            nbytes: 100_000_000,
            cbytes,
            compress: Duration::from_millis(compress),
            decompress: Duration::from_millis(decompress),
        }
    }

    #[test]
    fn the_best_are_found() {
        let found = [
            measurement(99_000_000, 10, 10),
            measurement(50_000_000, 50, 30),
            measurement(30_000_000, 200, 60),
            measurement(25_000_000, 9000, 60),
            measurement(50_000_000, 60, 40),
        ];
        let verdict = Verdict::of(&found).unwrap();
        assert_eq!(verdict, Verdict { size: 3, speed: 1, balance: 2 });
        assert_eq!(verdict.marks(3), ["size"]);
        let front: Vec<usize> = (0..5).filter(|&place| is_on_front(place, &found)).collect();
        assert_eq!(front, [0, 1, 2, 3]);
        assert_eq!(Verdict::of(&[]), None);
    }
}
