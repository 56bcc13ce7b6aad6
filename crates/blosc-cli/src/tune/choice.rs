//! The setting that is taken without asking: the best for a goal, within bounds.

use super::candidate::Candidate;
use super::measure::Measurement;
use clap::{Args, ValueEnum};

/// What hardly becomes smaller is not compressed for speed.
const LEAST_RATIO: f64 = 1.05;
/// By how much a setting has to be better on the sample, to be no worse on all of the data.
const SIZE_MARGIN: f64 = 0.99;
const TIME_MARGIN: f64 = 0.95;

/// What a setting is to be best for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// The smallest result
    Size,
    /// The least time to compress and decompress
    Speed,
    /// Smaller and faster than the default settings, or one of them and the other no worse
    Balance,
}

/// What the user wants of a setting that is found by measuring.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Tuning")]
pub(crate) struct Wishes {
    /// Measure settings on a sample of the data, and take the best
    #[arg(long, value_enum, value_name = "GOAL")]
    #[arg(conflicts_with_all = ["codec", "level", "filter"])]
    tune: Option<Goal>,
    /// Take a setting with at least this ratio, the fastest unless --tune says otherwise
    #[arg(long, value_name = "RATIO", value_parser = parse_ratio, conflicts_with_all = ["codec", "level", "filter"])]
    target_ratio: Option<f64>,
    /// Take a setting that compresses at least so much a second, such as 200M, the smallest unless
    /// --tune says otherwise
    #[arg(long, value_name = "SIZE", value_parser = crate::arguments::size::parse)]
    #[arg(conflicts_with_all = ["codec", "level", "filter"])]
    min_speed: Option<u64>,
    /// What will be read of an array, such as "0,:,:": shapes of chunks and blocks are measured by
    /// it
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, conflicts_with_all = ["chunks", "blocks"])]
    pub(crate) access: Option<String>,
}

fn parse_ratio(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|ratio: &f64| ratio.is_finite() && *ratio >= 1.0)
        .ok_or_else(|| "a number from 1 on is needed, such as 4.5".to_owned())
}

impl Wishes {
    /// Whether anything is to be measured.
    pub(crate) fn are_any(&self) -> bool {
        self.tune.is_some() || self.target_ratio.is_some() || self.min_speed.is_some() || self.access.is_some()
    }

    /// Whether there are bounds.
    pub(super) fn have_bounds(&self) -> bool {
        self.target_ratio.is_some() || self.min_speed.is_some()
    }

    /// What the setting is to be best for.
    pub(super) fn goal(&self) -> Goal {
        self.tune.unwrap_or(match (self.target_ratio, self.min_speed) {
            (Some(_), None) => Goal::Speed,
            (None, Some(_)) => Goal::Size,
            _ => Goal::Balance,
        })
    }

    /// The place of the best of what was found, and what to say if it is not what was wanted.
    pub(crate) fn best(&self, found: &[Measurement]) -> Option<(usize, Option<String>)> {
        let within: Vec<usize> = (0..found.len()).filter(|&place| self.reach(&found[place]) >= 1.0).collect();
        if within.is_empty() {
            let nearest = (0..found.len())
                .max_by(|&one, &other| self.reach(&found[one]).total_cmp(&self.reach(&found[other])))?;
            return Some((nearest, Some("no setting reaches what is wanted, this is the nearest".to_owned())));
        }
        Some((best_for(self.goal(), found, &within), None))
    }

    /// How much of what is wanted a setting reaches; 1 is all of it.
    #[expect(clippy::cast_precision_loss, reason = "speeds are compared, not counted")]
    fn reach(&self, measurement: &Measurement) -> f64 {
        let ratio = self.target_ratio.map_or(1.0, |wanted| measurement.ratio() / wanted);
        let speed = self
            .min_speed
            .map_or(1.0, |wanted| 1e6 * measurement.speed(measurement.compress) / (wanted as f64).max(1.0));
        ratio.min(speed).min(1.0)
    }
}

/// The best of some places.
fn best_for(goal: Goal, found: &[Measurement], places: &[usize]) -> usize {
    let least = |places: &mut dyn Iterator<Item = usize>, score: &dyn Fn(&Measurement) -> f64| {
        places.min_by(|&one, &other| score(&found[one]).total_cmp(&score(&found[other])))
    };
    #[expect(clippy::cast_precision_loss, reason = "sizes are compared, not counted")]
    let size = |measurement: &Measurement| measurement.cbytes as f64;
    let time = |measurement: &Measurement| (measurement.compress + measurement.decompress).as_secs_f64();
    let all = || places.iter().copied();
    let usual = found.iter().find(|measurement| measurement.candidate.is_usual());
    let best = match (goal, usual) {
        (Goal::Size, _) => least(&mut all(), &size),
        (Goal::Speed, _) => {
            let shrinks = |place: &usize| found[*place].ratio() >= LEAST_RATIO;
            least(&mut all().filter(shrinks), &time).or_else(|| least(&mut all(), &time))
        }
        (Goal::Balance, Some(usual)) => {
            let is_no_worse = |place: &usize| {
                let this = &found[*place];
                size(this) <= SIZE_MARGIN * size(usual)
                    && this.compress.as_secs_f64() <= TIME_MARGIN * usual.compress.as_secs_f64()
                    && this.decompress.as_secs_f64() <= TIME_MARGIN * usual.decompress.as_secs_f64()
            };
            let score = |this: &Measurement| size(this) / size(usual) * (time(this) / time(usual).max(1e-9)).sqrt();
            let place =
                found.iter().position(|other| std::ptr::eq(other, usual)).filter(|place| places.contains(place));
            least(&mut all().filter(is_no_worse), &score).or(place).or_else(|| least(&mut all(), &score))
        }
        (Goal::Balance, None) => least(&mut all(), &|this| size(this) * time(this).sqrt()),
    };
    best.unwrap_or_default()
}

impl Candidate {
    /// Whether these are the settings that are used if nothing is said.
    fn is_usual(&self) -> bool {
        *self == Self::usual()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_oxide::{Codec, Filter};
    use std::time::Duration;

    fn measurement(level: u8, cbytes: usize, compress: u64, decompress: u64) -> Measurement {
        Measurement {
            candidate: Candidate::new(Codec::Zstd, level, &[Filter::Shuffle]),
            nbytes: 100_000_000,
            cbytes,
            compress: Duration::from_millis(compress),
            decompress: Duration::from_millis(decompress),
        }
    }

    #[test]
    fn the_goal_and_the_bounds_decide() {
        let found = [
            measurement(3, 50_000_000, 500, 100),
            measurement(1, 49_000_000, 300, 90),
            measurement(5, 40_000_000, 2000, 100),
            measurement(0, 80_000_000, 20, 10),
        ];
        let best = |wishes: &Wishes| wishes.best(&found).unwrap();
        let of = |tune| Wishes { tune: Some(tune), ..Wishes::default() };
        assert_eq!(best(&of(Goal::Size)), (2, None));
        assert_eq!(best(&of(Goal::Speed)), (3, None));
        assert_eq!(best(&of(Goal::Balance)), (1, None), "no larger and no slower than the default");
        assert_eq!(
            best(&Wishes { target_ratio: Some(2.0), ..Wishes::default() }),
            (1, None),
            "the fastest with the ratio"
        );
        assert_eq!(
            best(&Wishes { min_speed: Some(100_000_000), ..Wishes::default() }),
            (1, None),
            "the smallest that is fast enough"
        );
        let (place, note) = best(&Wishes { target_ratio: Some(10.0), ..Wishes::default() });
        assert!(place == 2 && note.is_some());
        let alone = [measurement(3, 50, 500, 100), measurement(1, 60, 300, 90)];
        assert_eq!(of(Goal::Balance).best(&alone).unwrap().0, 0, "the default stays if nothing is better in all");
    }
}
