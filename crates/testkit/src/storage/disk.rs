//! The disk: calls as a file system takes them, recorded, and failing on demand.

use super::crash::Log;
use super::image::{Change, FileId, Image};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A call that is more than a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Something is different now, at least until the next crash.
    Change(Change),
    /// The content of a file survives from now on.
    SyncFile(FileId),
    /// The names of all files survive from now on.
    SyncNames,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It does nothing and reports an error; the next ones succeed.
    Error,
    /// Half of what it should write is there, and it reports an error; the next calls succeed.
    Short,
    /// From this call on there is no room: whatever needs some fails, all else succeeds.
    Full,
}

/// A call that is going to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// How many calls come before, questions included.
    pub after: usize,
    /// How it fails.
    pub kind: FaultKind,
}

/// A disk in memory; clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    image: Image,
    start: Image,
    calls: Vec<Call>,
    /// How many calls there were, questions included.
    count: usize,
    fault: Option<Fault>,
    /// Whether a call that changes something has failed.
    has_failed_change: bool,
}

/// What a call needs, which decides whether a full disk fails it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It only asks.
    Answer,
    /// It changes something, but needs no room.
    Change,
    /// It needs room.
    Room,
}

impl Disk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk with this on it, all of which survives.
    #[must_use]
    pub fn with_image(image: Image) -> Self {
        Self(Arc::new(Mutex::new(Inner { start: image.clone(), image, ..Inner::default() })))
    }

    /// A disk after the calls of a log, as the next process finds it: all is there, but only what
    /// was synced survives. Its own log goes on from there.
    #[must_use]
    pub fn after(log: Log) -> Self {
        let mut image = log.start.clone();
        log.calls.iter().for_each(|call| {
            if let Call::Change(change) = call {
                image.apply(change);
            }
        });
        Self(Arc::new(Mutex::new(Inner { start: log.start, calls: log.calls, image, ..Inner::default() })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is on it now.
    #[must_use]
    pub fn image(&self) -> Image {
        self.lock().image.clone()
    }

    /// Forgets what it has recorded: all that is there survives.
    pub fn forget(&self) {
        let mut inner = self.lock();
        inner.start = inner.image.clone();
        inner.calls.clear();
    }

    /// How many calls it has recorded.
    #[must_use]
    pub fn recorded(&self) -> usize {
        self.lock().calls.len()
    }

    /// How many calls there were, questions included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().count
    }

    /// What has been recorded.
    #[must_use]
    pub fn log(&self) -> Log {
        let inner = self.lock();
        Log { start: inner.start.clone(), calls: inner.calls.clone() }
    }

    /// Makes a call fail; calls are counted from now on.
    pub fn set_fault(&self, fault: Fault) {
        let mut inner = self.lock();
        inner.count = 0;
        inner.fault = Some(fault);
    }

    /// Whether a call that changes something has failed.
    #[must_use]
    pub fn has_failed_change(&self) -> bool {
        self.lock().has_failed_change
    }

    /// Opens the file with this name.
    ///
    /// # Errors
    /// `NotFound`, or the fault.
    pub fn open(&self, name: &str) -> io::Result<DiskFile> {
        let mut inner = self.lock();
        inner.enter(Need::Answer)?;
        let file = inner.find(name)?;
        Ok(DiskFile { disk: self.clone(), file })
    }

    /// Makes a file, or empties the one that has the name.
    ///
    /// # Errors
    /// The fault.
    pub fn create(&self, name: &str) -> io::Result<DiskFile> {
        let mut inner = self.lock();
        inner.enter(Need::Room)?;
        let file = match inner.find(name) {
            Ok(file) => {
                inner.change(Change::SetLen { file, len: 0 });
                file
            }
            Err(_) => {
                let file = inner.image.free_id();
                inner.change(Change::Create { name: name.to_owned(), file });
                file
            }
        };
        Ok(DiskFile { disk: self.clone(), file })
    }

    /// Takes a name away.
    ///
    /// # Errors
    /// `NotFound`, or the fault.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let mut inner = self.lock();
        inner.enter(Need::Change)?;
        inner.find(name)?;
        inner.change(Change::Remove { name: name.to_owned() });
        Ok(())
    }

    /// Gives a file another name.
    ///
    /// # Errors
    /// `NotFound`, or the fault.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut inner = self.lock();
        inner.enter(Need::Change)?;
        let file = inner.find(from)?;
        inner.change(Change::Rename { from: from.to_owned(), to: to.to_owned(), file });
        Ok(())
    }

    /// Lets two files change names, in one step.
    ///
    /// # Errors
    /// `NotFound`, or the fault.
    pub fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        let mut inner = self.lock();
        inner.enter(Need::Change)?;
        let (first, second) = (inner.find(one)?, inner.find(other)?);
        inner.change(Change::Exchange { one: (one.to_owned(), second), other: (other.to_owned(), first) });
        Ok(())
    }

    /// All names.
    ///
    /// # Errors
    /// The fault.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut inner = self.lock();
        inner.enter(Need::Answer)?;
        Ok(inner.image.names.keys().cloned().collect())
    }

    /// Makes all names survive.
    ///
    /// # Errors
    /// The fault.
    pub fn sync(&self) -> io::Result<()> {
        let mut inner = self.lock();
        inner.enter(Need::Change)?;
        inner.calls.push(Call::SyncNames);
        Ok(())
    }
}

impl Inner {
    /// Counts a call, and fails it if it is its turn.
    fn enter(&mut self, need: Need) -> io::Result<()> {
        let number = self.count;
        self.count += 1;
        let failure = match self.fault {
            Some(Fault { after, kind: FaultKind::Full }) if number >= after && need == Need::Room => {
                Some(io::ErrorKind::StorageFull.into())
            }
            Some(Fault { after, kind: FaultKind::Error | FaultKind::Short }) if number == after => {
                Some(io::Error::other("a fault of the test"))
            }
            _ => None,
        };
        match failure {
            Some(error) => {
                self.has_failed_change |= need != Need::Answer;
                Err(error)
            }
            None => Ok(()),
        }
    }

    fn find(&self, name: &str) -> io::Result<FileId> {
        self.image.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change(&mut self, change: Change) {
        self.image.apply(&change);
        self.calls.push(Call::Change(change));
    }
}

/// An open file.
#[derive(Debug, Clone)]
pub struct DiskFile {
    disk: Disk,
    file: FileId,
}

impl DiskFile {
    /// How long it is.
    ///
    /// # Errors
    /// The fault.
    pub fn len(&self) -> io::Result<u64> {
        let mut inner = self.disk.lock();
        inner.enter(Need::Answer)?;
        Ok(inner.image.bytes(self.file).len() as u64)
    }

    /// Whether it is empty.
    ///
    /// # Errors
    /// The fault.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `buffer` from `position` on.
    ///
    /// # Errors
    /// `UnexpectedEof`, or the fault.
    pub fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut inner = self.disk.lock();
        inner.enter(Need::Answer)?;
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        let there = inner.image.bytes(self.file).get(start..start.saturating_add(buffer.len()));
        buffer.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// Writes `bytes` from `position` on.
    ///
    /// # Errors
    /// The fault; half of the bytes may have been written.
    pub fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.disk.lock();
        let is_short = matches!(inner.fault, Some(fault) if fault.kind == FaultKind::Short);
        let entered = inner.enter(Need::Room);
        let written = match entered {
            Ok(()) => bytes,
            Err(_) if is_short => &bytes[..bytes.len() / 2],
            Err(error) => return Err(error),
        };
        inner.change(Change::Write { file: self.file, position, bytes: written.to_vec() });
        entered
    }

    /// Sets its length.
    ///
    /// # Errors
    /// The fault.
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        let mut inner = self.disk.lock();
        let grows = len > inner.image.bytes(self.file).len() as u64;
        inner.enter(if grows { Need::Room } else { Need::Change })?;
        inner.change(Change::SetLen { file: self.file, len });
        Ok(())
    }

    /// Makes its content survive.
    ///
    /// # Errors
    /// The fault.
    pub fn sync(&self) -> io::Result<()> {
        let mut inner = self.disk.lock();
        inner.enter(Need::Change)?;
        inner.calls.push(Call::SyncFile(self.file));
        Ok(())
    }
}
