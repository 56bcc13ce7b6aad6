//! What an edit does to bytes that snapshots of older states still read.
//!
//! The header is at the start of the file and the chunks follow it, so that a longer header takes
//! the place of the first ones. All that come from one opening share what has been there, so that
//! their snapshots go on reading it; those of other openings cannot. A compaction moves all chunks:
//! nobody reads older states after that.

use crate::error::{Result, bail};
use crate::exec::lock;
use crate::frame::store::committed::COMPACTED_MEANWHILE;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};

/// Shared by the stores on one storage.
#[derive(Debug, Default)]
pub(in crate::frame) struct Overwrites(Mutex<History>);

#[derive(Debug, Default)]
struct History {
    /// How often the chunks have been moved together.
    compactions: u64,
    /// What was overwritten, oldest first, as far as a snapshot is older.
    kept: VecDeque<Kept>,
    /// How many have been kept and dropped before those.
    dropped: usize,
    /// How many had been kept when each snapshot was made.
    snapshots: Vec<Weak<usize>>,
}

/// Bytes that were overwritten, and where they were in the frame.
#[derive(Debug)]
struct Kept {
    position: u64,
    bytes: Vec<u8>,
}

impl History {
    fn count(&self) -> usize {
        self.dropped + self.kept.len()
    }

    /// Drops what no snapshot needs any more; whether there are snapshots.
    fn prune(&mut self) -> bool {
        self.snapshots.retain(|snapshot| snapshot.strong_count() > 0);
        let oldest = self.snapshots.iter().filter_map(Weak::upgrade).map(|count| *count).min();
        let unused = oldest.map_or(self.kept.len(), |oldest| oldest.saturating_sub(self.dropped));
        self.kept.drain(..unused.min(self.kept.len()));
        self.dropped += unused;
        oldest.is_some()
    }
}

/// What one store sees of them.
#[derive(Debug)]
pub(super) struct View {
    shared: Arc<Overwrites>,
    /// How many compactions there had been.
    compactions: u64,
    /// How many overwrites there had been; `None` if it reads the newest state.
    since: Option<Arc<usize>>,
}

impl View {
    /// That of an editor, which reads the newest state.
    pub(super) fn newest(shared: Arc<Overwrites>) -> Self {
        let compactions = lock(&shared.0).compactions;
        Self { shared, compactions, since: None }
    }

    /// That of a snapshot of what is stored now.
    pub(super) fn snapshot(shared: &Arc<Overwrites>) -> Self {
        let mut history = lock(&shared.0);
        if history.snapshots.len() == history.snapshots.capacity() {
            history.prune();
            // As many again before the next time, so that this costs little for each.
            let live = history.snapshots.len();
            history.snapshots.reserve(live);
        }
        let since = Arc::new(history.count());
        history.snapshots.push(Arc::downgrade(&since));
        let compactions = history.compactions;
        drop(history);
        Self { shared: Arc::clone(shared), compactions, since: Some(since) }
    }

    pub(super) fn shared(&self) -> &Arc<Overwrites> {
        &self.shared
    }

    /// Notes that a compaction begins.
    pub(super) fn begin_compaction(&mut self) {
        let mut history = lock(&self.shared.0);
        history.compactions += 1;
        self.compactions = history.compactions;
    }

    /// Whether chunks are where they were.
    pub(super) fn check(&self) -> Result<()> {
        if lock(&self.shared.0).compactions != self.compactions {
            bail!(Conflict, "{COMPACTED_MEANWHILE}");
        }
        Ok(())
    }

    /// Keeps bytes for the snapshots that there are, before they are overwritten.
    pub(super) fn keep(&self, position: u64, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
        if lock(&self.shared.0).prune() {
            let bytes = read()?;
            lock(&self.shared.0).kept.push_back(Kept { position, bytes });
        }
        Ok(())
    }

    /// Puts into `out`, which has been read from a position, what was there when this was made.
    pub(super) fn restore(&self, position: u64, out: &mut [u8]) {
        let Some(since) = &self.since else { return };
        let history = lock(&self.shared.0);
        let newer = history.kept.iter().skip(since.saturating_sub(history.dropped));
        // What was overwritten first is what this one wants.
        for Kept { position: start, bytes } in newer.rev() {
            let from = position.max(*start);
            let end = (position + out.len() as u64).min(start + bytes.len() as u64);
            if from < end {
                let within = |origin: u64| index(from - origin)..index(end - origin);
                out[within(position)].copy_from_slice(&bytes[within(*start)]);
            }
        }
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(view: &View, position: u64, stored: &[u8]) -> Vec<u8> {
        let mut out = stored.to_vec();
        view.restore(position, &mut out);
        out
    }

    #[test]
    fn each_snapshot_reads_what_was_there_when_it_was_made() {
        let shared = Arc::default();
        let editor = View::newest(Arc::clone(&shared));
        let first = View::snapshot(&shared);
        editor.keep(10, || Ok(b"abcd".to_vec())).unwrap();
        let second = View::snapshot(&shared);
        editor.keep(10, || Ok(b"ABCDEF".to_vec())).unwrap();
        assert_eq!(read(&first, 8, b"01234567890"), b"01abcdEF890");
        assert_eq!(read(&second, 8, b"01234567890"), b"01ABCDEF890");
        assert_eq!(read(&first, 12, b"01"), b"cd");
        assert_eq!(read(&View::snapshot(&shared), 8, b"01234567890"), b"01234567890");
        assert_eq!(read(&editor, 8, b"01234567890"), b"01234567890");
    }

    #[test]
    fn nothing_is_kept_that_no_snapshot_needs() {
        let shared: Arc<Overwrites> = Arc::default();
        let editor = View::newest(Arc::clone(&shared));
        editor.keep(0, || unreachable!("there is no snapshot")).unwrap();
        let first = View::snapshot(&shared);
        editor.keep(0, || Ok(vec![1])).unwrap();
        let second = View::snapshot(&shared);
        editor.keep(0, || Ok(vec![2])).unwrap();
        drop(first);
        editor.keep(0, || Ok(vec![3])).unwrap();
        assert_eq!(lock(&shared.0).kept.len(), 2);
        assert_eq!(read(&second, 0, &[9]), [2]);
    }

    #[test]
    fn snapshots_that_are_gone_are_forgotten() {
        let shared: Arc<Overwrites> = Arc::default();
        let editor = View::newest(Arc::clone(&shared));
        let live: Vec<View> = (0..10).map(|_| View::snapshot(&shared)).collect();
        editor.keep(0, || Ok(vec![1])).unwrap();
        for _ in 0..10_000 {
            View::snapshot(&shared);
        }
        assert!(lock(&shared.0).snapshots.len() < 100);
        assert_eq!(read(&live[0], 0, &[9]), [1]);
    }

    #[test]
    fn a_compaction_ends_all_but_the_one_that_makes_it() {
        let shared = Arc::default();
        let mut editor = View::newest(Arc::clone(&shared));
        let snapshot = View::snapshot(&shared);
        editor.begin_compaction();
        assert!(editor.check().is_ok() && snapshot.check().is_err() && View::snapshot(&shared).check().is_ok());
    }
}
