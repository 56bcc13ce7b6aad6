//! How far long work has come: a line on the terminal, rewritten some times a second.

use crate::arguments::cli::Global;
use crate::arguments::size;
use crate::failure::{At, Outcome};
use crate::inputs::format;
use crate::inputs::input::{self, Bytes, Data};
use crate::inputs::source::{Opening, Source};
use crate::outputs::output;
use crate::process::terminal;
use crate::store;
use blosc_oxide::storage::{Directory, DirectoryReader, FileDirectory, ReadAt, Storage, WriteRight};
use std::fs::Metadata;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Short work shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);
const INTERVAL: Duration = Duration::from_millis(100);
const BAR: usize = 24;

/// What is shown.
pub(crate) struct Task {
    /// What is done, such as "compressing".
    pub(crate) verb: &'static str,
    /// How many plain bytes there are, if it is known.
    pub(crate) total: Option<u64>,
    /// The file that is written, whose length tells the ratio.
    pub(crate) compressed: Option<PathBuf>,
}

/// Opens the file at `path`, or the sparse frame, and shows how much of it has been read.
pub(crate) fn open_shown(path: &Path, verb: &'static str, global: &Global) -> Outcome<(Source, Progress)> {
    let opening = Opening::new(global);
    let start = |total| Progress::start(Task { verb, total: Some(total), compressed: None }, global.shows_progress());
    if let Some((store, member)) = store::split(path) {
        let source = opening.open_member(store, &member)?;
        return Ok((source, start(0)));
    }
    if !input::is_stream(path) && format::is_directory(path)? {
        let progress = start(size::of_path(path));
        let source = opening.open_directory(path, progress.reading(FileDirectory::new(path)))?;
        return Ok((source, progress));
    }
    let place = input::shown(path);
    let bytes = input::random(path)?;
    let progress = start(bytes.len().at(&place)?);
    let source = opening.open_bytes(progress.reading_bytes(bytes), &place)?;
    Ok((source, progress))
}

/// Counts bytes and shows how many there were.
pub(crate) struct Progress {
    done: Arc<AtomicU64>,
    shower: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to show `task`, if it may be and standard error is a terminal.
    pub(crate) fn start(task: Task, may_show: bool) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        let shower = (may_show && terminal::stderr_is_terminal()).then(|| {
            // The line goes away when the program is interrupted.
            output::catch_interrupts();
            let (stop, stopped) = mpsc::channel();
            let done = Arc::clone(&done);
            (stop, std::thread::spawn(move || show(&task, &done, &stopped)))
        });
        Self { done, shower }
    }

    /// `inner`, whose bytes count when they are read.
    pub(crate) fn reading<R>(&self, inner: R) -> Counted<R> {
        Counted { inner, done: Arc::clone(&self.done) }
    }

    /// `data`, whose bytes count in either way of reading them.
    pub(crate) fn reading_data(&self, data: Data) -> Data {
        let file = data.file.map(|file| self.reading_bytes(file));
        Data { reader: Box::new(self.reading(data.reader)), file }
    }

    /// `bytes`, which count when they are read.
    fn reading_bytes(&self, bytes: Bytes) -> Bytes {
        Box::new(self.reading(bytes))
    }

    /// `inner`, whose bytes count when they are written.
    pub(crate) fn writing<W>(&self, inner: W) -> Counted<W> {
        Counted { inner, done: Arc::clone(&self.done) }
    }

    /// `storage`, in which bytes are moved: they count when they are written, and not when they are
    /// read.
    pub(crate) fn moving<S>(&self, storage: S) -> Moved<S> {
        Moved(self.writing(storage))
    }

    /// Counts bytes that are counted nowhere else.
    pub(crate) fn add(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// How many bytes there were.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.shower.take() {
            drop(stop);
            // It only prints; a panic in it is none of ours.
            let _ = thread.join();
        }
    }
}

/// Whether there is a line on the terminal. Whoever writes to it holds this.
static SHOWN: Mutex<bool> = Mutex::new(false);

/// Takes the line away, and keeps it from coming back as long as the result lives.
pub(crate) fn clear() -> MutexGuard<'static, bool> {
    let mut is_shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_shown {
        // A terminal that cannot be written to shows nothing.
        let _ = write!(io::stderr().lock(), "\r\x1b[K");
        *is_shown = false;
    }
    is_shown
}

fn show(task: &Task, done: &AtomicU64, stopped: &mpsc::Receiver<()>) {
    let start = Instant::now();
    while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if start.elapsed() >= PATIENCE {
            let text = line(task, done.load(Ordering::Relaxed), start.elapsed());
            // A line that is too long would leave parts of itself behind.
            let text: String = text.chars().take(terminal::width().saturating_sub(1)).collect();
            let mut is_shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = write!(io::stderr().lock(), "\r\x1b[K{text}");
            *is_shown = true;
        }
    }
    drop(clear());
}

/// One line: verb, percent, bar, amount, speed, ratio and the time that is left.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn line(task: &Task, done: u64, elapsed: Duration) -> String {
    let speed = per_second(done, elapsed);
    let amount = match task.total.filter(|&total| total > 0) {
        Some(total) => {
            let percent = u128::from(done.min(total)) * 100 / u128::from(total);
            format!("{percent:>3} % {} {} of {}", bar(done, total), size::display(done), size::display(total))
        }
        None => size::display(done),
    };
    // The size of a directory says nothing, and those of all its files would take longer each time.
    let written = task.compressed.as_ref().and_then(|path| path.metadata().ok()).filter(Metadata::is_file);
    let written = written.map_or(0, |meta| meta.len());
    let ratio = if written > 0 { format!(", ratio {:.2}", done as f64 / written as f64) } else { String::new() };
    let left = task.total.and_then(|total| total.checked_sub(done)).filter(|&left| left > 0 && speed > 0);
    let left = left.map_or_else(String::new, |left| format!(", {} left", duration(left / speed)));
    format!("{} {amount}, {}/s{ratio}{left}", task.verb, size::display(speed))
}

fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

fn per_second(done: u64, elapsed: Duration) -> u64 {
    u64::try_from(u128::from(done) * 1000 / elapsed.as_millis().max(1)).unwrap_or(u64::MAX)
}

fn bar(done: u64, total: u64) -> String {
    let share = u128::from(done.min(total)) * BAR as u128 / u128::from(total.max(1));
    let full = usize::try_from(share).unwrap_or(BAR);
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
}

/// Bytes that are counted on their way.
pub(crate) struct Counted<I> {
    inner: I,
    done: Arc<AtomicU64>,
}

impl<I> Counted<I> {
    fn add(&self, count: usize) -> usize {
        self.done.fetch_add(count as u64, Ordering::Relaxed);
        count
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map(|count| self.add(count))
    }
}

impl<R: ReadAt> ReadAt for Counted<R> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(position, buffer)?;
        self.add(buffer.len());
        Ok(())
    }
}

impl<D: Directory> Directory for Counted<D> {
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(Counted { inner: self.inner.open(name)?, done: Arc::clone(&self.done) }))
    }

    fn open_writable(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        self.inner.open_writable(name)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        self.inner.create(name)
    }

    fn create_new(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        self.inner.create_new(name)
    }

    fn own(&self, name: &str) -> io::Result<Option<WriteRight>> {
        self.inner.own(name)
    }

    fn reader(&self) -> io::Result<Box<dyn DirectoryReader>> {
        self.inner.reader()
    }

    fn keep_permissions_of(&self, name: &str) -> io::Result<()> {
        self.inner.keep_permissions_of(name)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        self.inner.exchange(one, other)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.inner.names()
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

/// A storage whose bytes are counted when they are written.
pub(crate) struct Moved<S>(Counted<S>);

impl<S: Storage> ReadAt for Moved<S> {
    fn len(&self) -> io::Result<u64> {
        self.0.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.inner.read_at(position, buffer)
    }
}

impl<S: Storage> Storage for Moved<S> {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.inner.write_at(position, bytes)?;
        self.0.add(bytes.len());
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.inner.sync()
    }

    fn own(&self) -> io::Result<Option<WriteRight>> {
        self.0.inner.own()
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.inner.write(buffer).map(|count| self.add(count))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_oxide::{
        Frame, FrameEdit, FrameOptions, Location, Options, Threads,
        storage::{MemoryDirectory, MemoryStorage},
    };

    const NBYTES: u64 = 400_000;

    /// Ten chunks that do not compress.
    fn fill(frame: &mut FrameEdit) {
        let noise = (0..NBYTES).scan(1_u64, |seed, _| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Some(seed.to_be_bytes()[0])
        });
        frame.extend(&noise.collect::<Vec<u8>>(), 40_000).unwrap();
        frame.checkpoint().unwrap();
    }

    fn options() -> FrameOptions {
        FrameOptions::new(Options::new(1).with_threads(Threads::serial()))
    }

    fn counting() -> Progress {
        Progress::start(Task { verb: "testing", total: None, compressed: None }, false)
    }

    /// Whether it is this much, but for headers and the like.
    fn assert_about(done: u64, expected: u64) {
        assert!(done.abs_diff(expected) < expected / 10, "{done} of {expected}");
    }

    #[test]
    fn the_files_of_a_sparse_frame_count_when_they_are_read() {
        let directory = MemoryDirectory::new();
        fill(&mut Frame::create(directory.clone(), options()).unwrap());
        let progress = counting();
        let frame = Frame::open_with(Location::directory(progress.reading(directory)), &options().opening()).unwrap();
        assert!(progress.done() < NBYTES / 10);
        assert!(frame.verify().unwrap().is_good());
        assert_about(progress.done(), NBYTES);
    }

    #[test]
    fn compacting_moves_every_chunk_twice() {
        let mut frame = Frame::create(MemoryStorage::default(), options()).unwrap();
        fill(&mut frame);
        for index in 0..10 {
            let data = frame.decompress(index).unwrap();
            frame.update(index, &data).unwrap();
            frame.checkpoint().unwrap();
        }
        let storage = MemoryStorage::new(frame.checkpoint().unwrap().to_bytes().unwrap());
        let live = frame.cbytes() - frame.dead_bytes().unwrap();
        let progress = counting();
        let mut frame = Frame::open_with(progress.moving(storage), &options().opening()).unwrap().edit().unwrap();
        assert!(progress.done() < NBYTES / 10);
        frame.compact().unwrap();
        assert_about(live, NBYTES);
        assert_about(progress.done(), 2 * live);
    }

    #[test]
    fn a_directory_that_is_written_has_no_ratio() {
        let task = Task { verb: "compressing", total: None, compressed: Some(std::env::temp_dir()) };
        assert!(!line(&task, 1 << 20, Duration::from_secs(1)).contains("ratio"));
    }

    #[test]
    fn a_line_tells_amount_speed_and_ratio() {
        let task = Task { verb: "compressing", total: Some(4 << 20), compressed: None };
        let text = line(&task, 1 << 20, Duration::from_secs(2));
        assert_eq!(text, "compressing  25 % [######------------------] 1.00 MiB of 4.00 MiB, 512 KiB/s, 6 s left");
        assert!(
            line(&Task { total: None, ..task }, 1 << 20, Duration::from_secs(1)).starts_with("compressing 1.00 MiB,")
        );
    }
}
