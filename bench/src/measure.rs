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
    sample: Duration,
    /// How many samples of each are taken.
    samples: usize,
    /// After how long fewer will do.
    budget: Duration,
    /// How long nothing is done before a sample.
    rest: Duration,
    /// Whether both have the same number of runs in a sample, where every run is of other data.
    is_in_step: bool,
}

/// The fewest samples that have a median.
const MIN_SAMPLES: usize = 3;

impl Effort {
    pub(crate) const QUICK: Self = Self {
        sample: Duration::from_micros(200),
        samples: 7,
        budget: Duration::from_millis(30),
        rest: Duration::ZERO,
        is_in_step: false,
    };
    pub(crate) const FULL: Self = Self {
        sample: Duration::from_millis(1),
        samples: 15,
        budget: Duration::from_millis(300),
        rest: Duration::ZERO,
        is_in_step: false,
    };

    /// How long a sample takes beside busy loops: many turns of all that share a processor.
    pub(crate) fn of_busy(self) -> Duration {
        12 * self.sample
    }

    /// With a rest before each sample, in which the threads that the other side has used go to
    /// sleep. Else the system may find all processors busy, and let both threads of a side run on
    /// the same one.
    pub(crate) fn with_rest(self) -> Self {
        Self { rest: Duration::from_micros(300), ..self }
    }

    /// With a budget so many times as large.
    pub(crate) fn with_budget(self, times: u32) -> Self {
        Self { budget: times * self.budget, ..self }
    }

    /// With so many times as many samples.
    pub(crate) fn with_more(self, times: u32) -> Self {
        Self { samples: self.samples * times as usize, ..self.with_budget(times) }
    }

    /// With the same runs for both.
    pub(crate) fn in_step(self) -> Self {
        Self { is_in_step: true, ..self }
    }

    fn have_rest(self) {
        if !self.rest.is_zero() {
            std::thread::sleep(self.rest);
        }
    }
}

/// Times `ours` and `theirs` in turns.
pub(crate) fn compare(effort: Effort, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> Pair {
    effort.have_rest();
    let first = time(1, &mut ours);
    effort.have_rest();
    let once = [first, time(1, &mut theirs)];
    if once.iter().min() > Some(&effort.budget) {
        // Each of the two has been disturbed by everything there is to be disturbed by.
        let [ours, theirs] = once.map(|elapsed| elapsed.as_secs_f64() * 1e9);
        return Pair { ours, theirs, ratio: theirs / ours };
    }
    let mut runs = once.map(|elapsed| runs(effort, elapsed));
    if once.iter().min() < Some(&effort.sample) {
        // The first run may have had to fill a cache.
        let again = [time(1, &mut ours), time(1, &mut theirs)];
        runs = [0, 1].map(|side| self::runs(effort, once[side].min(again[side])));
    }
    if effort.is_in_step {
        runs = [runs[0].max(runs[1]); 2];
    }
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
            effort.have_rest();
            let elapsed = if side == 0 { time(runs[0], &mut ours) } else { time(runs[1], &mut theirs) };
            samples[side].push(elapsed.as_secs_f64() * 1e9 / runs[side] as f64);
        }
    }
    let ratios = samples[0].iter().zip(&samples[1]).map(|(ours, theirs)| theirs / ours).collect();
    let [ours, theirs] = samples.map(median);
    Pair { ours, theirs, ratio: median(ratios) }
}

/// Several programs timed turn by turn, where others disturb them all the time: each by the median
/// of its own samples, since neighbours are not disturbed alike.
pub(crate) struct Samples<const N: usize> {
    /// How many runs a sample has.
    runs: u32,
    /// Nanoseconds for one run.
    of_sides: [Vec<f64>; N],
}

impl<const N: usize> Samples<N> {
    /// None yet. The slowest side takes about `sample` for one when nobody disturbs it; all have
    /// the same number of runs.
    pub(crate) fn new(sample: Duration, sides: &mut [&mut dyn FnMut(); N]) -> Self {
        const TRIES: usize = 3;
        let fastest = |side: &mut &mut dyn FnMut()| (0..TRIES).map(|_| time(1, side)).min().unwrap_or_default();
        let slowest = sides.iter_mut().map(fastest).max().unwrap_or_default().max(Duration::from_nanos(20));
        let runs = sample.as_nanos().div_ceil(slowest.as_nanos());
        Self { runs: u32::try_from(runs).unwrap_or(u32::MAX), of_sides: [const { Vec::new() }; N] }
    }

    /// Takes so many, those included that there are. Who goes first changes with every turn, and
    /// each starts after a rest, in which the threads of the others go to sleep.
    pub(crate) fn take(&mut self, count: usize, sides: &mut [&mut dyn FnMut(); N]) {
        for turn in self.of_sides[0].len()..count {
            for step in 0..N {
                let side = (turn + step) % N;
                Effort::FULL.with_rest().have_rest();
                let elapsed = time(self.runs, &mut sides[side]);
                self.of_sides[side].push(elapsed.as_secs_f64() * 1e9 / f64::from(self.runs));
            }
        }
    }

    /// How two of them compare.
    pub(crate) fn pair(&self, ours: usize, theirs: usize) -> Pair {
        let [ours, theirs] = [ours, theirs].map(|side| median(self.of_sides[side].clone()));
        Pair { ours, theirs, ratio: theirs / ours }
    }
}

/// How many runs make a sample, if one takes `once`.
fn runs(effort: Effort, once: Duration) -> u32 {
    let once = once.max(Duration::from_nanos(20));
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
    let runs = runs(effort, time(1, &mut copy).min(time(1, &mut copy)));
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
