//! What was done, in a line: for each file where a terminal watches, and for all of them.

use crate::arguments::size;
use crate::failure::tell;
use crate::show::info_text::ratio_in_words;
use std::fmt::Display;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// What has been done so far.
#[derive(Debug)]
pub(crate) struct Totals {
    since: Instant,
    sums: Mutex<Sums>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    files: u64,
    nbytes: u64,
    stored: u64,
    is_decompressed: bool,
}

/// A file that is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    /// The data, and the file that it is stored in.
    pub(crate) nbytes: u64,
    pub(crate) stored: u64,
    /// Which of them has come out.
    pub(crate) is_decompressed: bool,
    pub(crate) time: Duration,
}

impl Default for Totals {
    fn default() -> Self {
        Self { since: Instant::now(), sums: Mutex::default() }
    }
}

impl Totals {
    /// Counts a file.
    pub(crate) fn add(&self, done: &Done) {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.files += 1;
        sums.nbytes += done.nbytes;
        sums.stored += done.stored;
        sums.is_decompressed = done.is_decompressed;
    }

    /// Tells the sums, if there were several files.
    pub(crate) fn tell(&self) {
        let sums = *self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        if sums.files > 1 {
            let Sums { nbytes, stored, is_decompressed, .. } = sums;
            let done = Done { nbytes, stored, is_decompressed, time: self.since.elapsed() };
            done.tell(format_args!("{} files", sums.files));
        }
    }
}

impl Done {
    /// Tells what has become of a file: `data.bin: 391 KiB to 4.50 KiB, ratio 86.8, 1.20 GiB/s`.
    pub(crate) fn tell(&self, what: impl Display) {
        let (nbytes, stored) = (size::display(self.nbytes), size::display(self.stored));
        let (from, to) = if self.is_decompressed { (stored, nbytes) } else { (nbytes, stored) };
        let ratio = ratio_in_words(self.nbytes, self.stored);
        tell(format_args!("{what}: {from} to {to}, {ratio}{}", self.speed()));
    }

    /// Nothing is said about speed where there is too little to measure it.
    fn speed(&self) -> String {
        if self.time < Duration::from_millis(1) || self.nbytes < 1 << 16 {
            return String::new();
        }
        let per_second = u128::from(self.nbytes) * 1000 / self.time.as_millis().max(1);
        format!(", {}/s", size::display(u64::try_from(per_second).unwrap_or(u64::MAX)))
    }
}
