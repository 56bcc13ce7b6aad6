//! A frame that is stored, and the edit of it that is under way.

use super::place::Place;
use crate::code::{self, Outcome};
use blosc_oxide::{Frame, FrameEdit, FrameLayout, FrameOptions, Options, SuperChunk};

/// A stored frame, as one super-chunk of a program uses it.
pub(crate) struct Disk {
    /// The newest state that is known.
    frame: Frame,
    /// The edit that a call has begun, or that a lock keeps open.
    edit: Option<FrameEdit>,
    /// Whether a call changes it, which publishes all of its changes together.
    is_in_call: bool,
    /// How often the program has locked it.
    locks: usize,
    place: Place,
    /// The process that has opened it: one that is forked must not share its locks.
    process: u32,
}

impl Disk {
    fn new(frame: Frame, place: Place) -> Self {
        Self { frame, edit: None, is_in_call: false, locks: 0, place, process: std::process::id() }
    }

    /// Opens a frame.
    pub(crate) fn open(place: Place) -> Outcome<Self> {
        let frame = place.open()?;
        Ok(Self::new(frame, place))
    }

    /// Makes an empty frame, where there must be nothing.
    pub(crate) fn create(place: Place, layout: FrameLayout, chunks: Options) -> Outcome<Self> {
        place.prepare(layout)?;
        let options = place.new_options(FrameOptions::new(chunks).with_layout(layout));
        let made = Frame::create(place.location(layout)?, options).and_then(FrameEdit::commit);
        drop(made.map_err(|error| code::of(&error))?);
        // Opened, it knows nothing of codecs and filters of the program, which contexts call.
        Self::open(place)
    }

    /// The state that is read: that of the edit, if one is under way.
    pub(crate) fn state(&self) -> &SuperChunk {
        match &self.edit {
            Some(edit) => edit,
            None => &self.frame,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Goes on to what others have committed; whether they have.
    pub(crate) fn catch_up(&mut self) -> Outcome<bool> {
        if self.process != std::process::id() {
            let frame = self.place.open()?;
            // The edit is that of the process that was forked.
            std::mem::forget(self.edit.take());
            (self.is_in_call, self.locks) = (false, 0);
            (self.frame, self.process) = (frame, std::process::id());
            return Ok(true);
        }
        if self.edit.is_some() {
            return Ok(false);
        }
        self.frame.refresh().map_err(|error| code::of(&error))
    }

    /// Begins to change it; `false` if a call that goes on does so already.
    pub(crate) fn begin(&mut self) -> Outcome<bool> {
        if self.is_in_call {
            return Ok(false);
        }
        self.begin_edit()?;
        self.is_in_call = true;
        Ok(true)
    }

    /// Publishes what has been changed since [`begin`](Self::begin), or takes it back.
    pub(crate) fn end(&mut self, is_good: bool) -> Outcome<()> {
        self.is_in_call = false;
        let Some(mut edit) = self.edit.take() else { return Ok(()) };
        if !is_good {
            drop(edit);
        } else if self.locks > 0 {
            self.frame = edit.checkpoint().map_err(|error| code::of(&error))?;
            self.edit = Some(edit);
        } else {
            self.frame = edit.commit().map_err(|error| code::of(&error))?;
        }
        if self.locks > 0 { self.begin_edit() } else { Ok(()) }
    }

    fn begin_edit(&mut self) -> Outcome<()> {
        if self.edit.is_none() {
            self.edit = Some(self.frame.edit().map_err(|error| code::of(&error))?);
        }
        Ok(())
    }

    /// What changes it, between [`begin`](Self::begin) and [`end`](Self::end).
    pub(crate) fn edit(&mut self) -> Option<&mut FrameEdit> {
        self.edit.as_mut().filter(|_| self.is_in_call)
    }

    /// Keeps all others from changing it, until it is unlocked as often.
    pub(crate) fn lock(&mut self) -> Outcome<()> {
        if self.place.is_locking() {
            self.begin_edit()?;
            self.locks += 1;
        }
        Ok(())
    }

    /// Lets others change it.
    pub(crate) fn unlock(&mut self) {
        self.locks = self.locks.saturating_sub(1);
        if self.locks == 0 && !self.is_in_call {
            self.edit = None;
        }
    }
}
