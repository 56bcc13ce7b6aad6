//! Two programs timed turn by turn, so that what disturbs the machine disturbs both.

use std::time::{Duration, Instant};

/// What a comparison measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// Nanoseconds for one run of ours, the median.
    pub(crate) ours: f64,
    /// Nanoseconds for one run of theirs, the median.
    pub(crate) theirs: f64,
    /// How many times as fast ours is: the median of the ratios of neighbours.
    pub(crate) ratio: f64,
}

/// How long and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// How long one sample takes at least.
    pub(crate) sample: Duration,
    /// How many samples of each are taken.
    pub(crate) samples: usize,
    /// After how long fewer will do.
    pub(crate) budget: Duration,
    /// How long nothing is done before a sample.
    pub(crate) rest: Duration,
}

/// The fewest samples that have a median.
const MIN_SAMPLES: usize = 3;

impl Effort {
    pub(crate) const QUICK: Self = Self {
        sample: Duration::from_micros(200),
        samples: 7,
        budget: Duration::from_millis(30),
        rest: Duration::ZERO,
    };
    pub(crate) const FULL: Self = Self {
        sample: Duration::from_millis(1),
        samples: 15,
        budget: Duration::from_millis(300),
        rest: Duration::ZERO,
    };

    /// With a rest before each sample, in which the threads that the other side has used go to sleep. Else the system may find
    /// all processors busy, and let both threads of a side run on the same one.
    pub(crate) fn with_rest(self) -> Self {
        Self { rest: Duration::from_micros(300), ..self }
    }
}

/// Times `ours` and `theirs` in turns.
pub(crate) fn compare(effort: Effort, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> Pair {
    let once = [time(1, &mut ours), time(1, &mut theirs)];
    if once.iter().min() > Some(&effort.budget) {
        // Each of the two has been disturbed by everything there is to be disturbed by.
        let [ours, theirs] = once.map(|elapsed| elapsed.as_secs_f64() * 1e9);
        return Pair { ours, theirs, ratio: theirs / ours };
    }
    let runs = [runs(effort, once[0], &mut ours), runs(effort, once[1], &mut theirs)];
    let mut samples = [Vec::new(), Vec::new()];
    if runs == [1, 1] {
        samples = once.map(|elapsed| vec![elapsed.as_secs_f64() * 1e9]);
    }
    let start = Instant::now();
    for turn in samples[0].len()..effort.samples {
        if turn >= MIN_SAMPLES && start.elapsed() > effort.budget {
            break;
        }
        // Who goes first changes with every turn.
        for side in [turn % 2, 1 - turn % 2] {
            if !effort.rest.is_zero() {
                std::thread::sleep(effort.rest);
            }
            let elapsed = if side == 0 { time(runs[0], &mut ours) } else { time(runs[1], &mut theirs) };
            samples[side].push(elapsed.as_secs_f64() * 1e9 / runs[side] as f64);
        }
    }
    let ratios = samples[0].iter().zip(&samples[1]).map(|(ours, theirs)| theirs / ours).collect();
    let [ours, theirs] = samples.map(median);
    Pair { ours, theirs, ratio: median(ratios) }
}

/// How many runs make a sample, after the first has taken `first`.
fn runs(effort: Effort, first: Duration, action: &mut impl FnMut()) -> u32 {
    let second = if first < effort.sample { time(1, action) } else { first };
    let once = first.min(second).max(Duration::from_nanos(20));
    u32::try_from(effort.sample.as_nanos().div_ceil(once.as_nanos())).unwrap_or(u32::MAX).max(1)
}

fn time(runs: u32, action: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..runs {
        action();
    }
    start.elapsed()
}

/// How fast `len` bytes are copied, in gigabytes a second.
pub(crate) fn memcpy(effort: Effort, len: usize) -> f64 {
    let (src, mut dst) = (vec![1_u8; len], vec![0_u8; len]);
    let mut copy = || std::hint::black_box(&mut dst[..]).copy_from_slice(std::hint::black_box(&src));
    let first = time(1, &mut copy);
    let runs = runs(effort, first, &mut copy);
    let samples = (0..effort.samples).map(|_| time(runs, &mut copy).as_secs_f64() / f64::from(runs)).collect();
    len as f64 / median(samples) / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The geometric mean.
pub(crate) fn geomean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count)).exp()
}
