//! One edit of a frame from its begin to its end: it happens as a whole, or not at all.

use super::creation::Creation;
use crate::error::{ErrorKind, Result, bail};
use crate::frame::lock::{Hold, LockFile};
use crate::frame::options::FrameOptions;
use crate::frame::snapshot::connection::{Connection, Leftover};
use crate::frame::snapshot::frame::Frame;
use crate::schunk::SuperChunk;
use crate::storage::Location;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the right to edit is asked for again.
const PAUSE: Duration = Duration::from_millis(2);

/// An edit that is under way. It must be [ended](Self::end) with the super-chunk that it has begun
/// with.
pub(crate) struct Transaction {
    connection: Arc<Connection>,
    /// What remains to be done before a new frame is there.
    creation: Option<Creation>,
    /// The file that processes lock, held.
    lock: Option<LockFile>,
    /// What the super-chunk of this edit is known by: its owner may have put another one in its
    /// place.
    token: Arc<()>,
}

impl Transaction {
    /// Begins with the newest state. Waits until nobody else edits the frame.
    pub(crate) fn begin(connection: &Arc<Connection>) -> Result<(Self, SuperChunk)> {
        connection.named(Self::begin_unnamed(connection))
    }

    /// The same with errors that do not name the frame.
    fn begin_unnamed(connection: &Arc<Connection>) -> Result<(Self, SuperChunk)> {
        let deadline = connection.options().lock_timeout().map(|timeout| Instant::now() + timeout);
        let mut left = connection.take_turn(deadline)?;
        match begin(connection, &mut left, deadline) {
            Ok(mut sc) => {
                let token = Arc::new(());
                sc.set_token(Some(Arc::clone(&token)));
                Ok((Self { connection: Arc::clone(connection), creation: None, lock: left.lock, token }, sc))
            }
            Err(error) => {
                left.lock.iter_mut().for_each(LockFile::release);
                connection.give_turn(left);
                Err(error)
            }
        }
    }

    /// Begins something new.
    pub(crate) fn create(location: Location, options: FrameOptions) -> Result<(Self, SuperChunk)> {
        let opening = options.opening();
        let connection = Connection::new(location, opening);
        let (creation, lock, mut sc) = Creation::begin(&connection, options)?;
        connection.take_first_turn();
        let token = Arc::new(());
        sc.set_token(Some(Arc::clone(&token)));
        Ok((Self { connection, creation: Some(creation), lock, token }, sc))
    }

    /// Publishes all changes, and goes on.
    pub(crate) fn publish(&mut self, sc: &mut SuperChunk) -> Result<Frame> {
        self.check(sc)?;
        if let Some(creation) = &mut self.creation {
            sc.mark_changed();
            self.connection.named(creation.finish(sc))?;
            self.creation = None;
            if let (Some(lock), Some(path)) = (&mut self.lock, self.connection.path()) {
                lock.moved_with(path);
            }
            // Whoever has opened it meanwhile may be changing it: the next commit tells.
            let _ = sc.begin();
        } else {
            self.connection.named(sc.publish())?;
        }
        self.snapshot(sc)
    }

    /// Publishes all changes, reclaims unused space, and goes on.
    pub(crate) fn compact(&mut self, sc: &mut SuperChunk) -> Result<Frame> {
        self.publish(sc)?;
        self.connection.named(sc.compact())?;
        self.snapshot(sc)
    }

    fn snapshot(&self, sc: &SuperChunk) -> Result<Frame> {
        let snapshot = Arc::new(sc.snapshot()?);
        self.connection.set_newest(Arc::clone(&snapshot));
        Ok(Frame::new(snapshot, Arc::clone(&self.connection)))
    }

    /// Ends the edit. What has not been published is taken back.
    pub(crate) fn end(&mut self, sc: SuperChunk) {
        let mut sc = sc;
        let is_own = self.check(&sc).is_ok();
        let is_clean = is_own && self.creation.is_none() && sc.is_as_published();
        if !is_clean && is_own && !std::thread::panicking() {
            sc.abandon();
        }
        sc.release();
        sc.set_token(None);
        self.creation = None;
        self.lock.iter_mut().for_each(LockFile::release);
        let editor = Some(sc).filter(|_| is_clean && !std::thread::panicking());
        self.connection.give_turn(Leftover { editor, lock: self.lock.take() });
    }

    fn check(&self, sc: &SuperChunk) -> Result<()> {
        if !sc.has_token(&self.token) {
            bail!(InvalidArgument, "another super-chunk has been put in the place of the one that is edited");
        }
        Ok(())
    }
}

/// Acquires all locks, and loads the newest state.
fn begin(connection: &Connection, left: &mut Leftover, deadline: Option<Instant>) -> Result<SuperChunk> {
    if connection.options().locking() {
        let lock = match (&mut left.lock, connection.path()) {
            (Some(lock), _) => lock,
            (none, Some(path)) => none.insert(LockFile::open(path, connection.options().lock_timeout())?),
            (None, None) => {
                bail!(InvalidArgument, "a frame is locked by a file beside it, for which it must have a path")
            }
        };
        if lock.acquire(Hold::Exclusive)? {
            left.editor = None;
        }
        lock.catch_up();
    }
    if let Some(mut editor) = left.editor.take() {
        match wait_for(&mut editor, deadline) {
            Ok(()) => return Ok(editor),
            Err(error) if error.kind() == ErrorKind::Locked => {
                left.editor = Some(editor);
                return Err(error);
            }
            // Whatever it is, it may be no more when the frame is opened again.
            Err(_) => {}
        }
    }
    let mut editor = connection.open_editor()?;
    wait_for(&mut editor, deadline)?;
    Ok(editor)
}

/// Acquires the right to edit, and loads the newest state.
fn wait_for(sc: &mut SuperChunk, deadline: Option<Instant>) -> Result<()> {
    loop {
        match sc.begin() {
            Err(error) if error.kind() == ErrorKind::Locked && deadline.is_none_or(|end| Instant::now() < end) => {
                std::thread::sleep(PAUSE);
            }
            begun => return begun,
        }
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("is_new", &self.creation.is_some()).finish_non_exhaustive()
    }
}
