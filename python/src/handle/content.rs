//! What a handle holds: an array or a super-chunk, as a snapshot and as an edit.

use blosc_oxide::{
    ArrayEdit, ArrayReader, Error, ErrorKind, Frame, FrameEdit, Metalayers, NdArray, Result, SuperChunk, VlMetalayers,
};

/// One committed state.
#[derive(Clone)]
pub(crate) enum Snapshot {
    Array(NdArray),
    Chunks(Frame),
}

/// An edit that is under way.
pub(crate) enum Edit {
    Array(Box<ArrayEdit>),
    Chunks(Box<FrameEdit>),
}

/// What either of them is to somebody who reads.
pub(crate) enum Reader<'a> {
    Array(&'a ArrayReader),
    Chunks(&'a SuperChunk),
}

impl Snapshot {
    /// The array that a frame holds, or else its chunks.
    pub(crate) fn of(frame: Frame) -> Result<Self> {
        match NdArray::from_frame(frame.clone()) {
            Ok(array) => Ok(Self::Array(array)),
            Err(error) if error.kind() == ErrorKind::InvalidArgument => Ok(Self::Chunks(frame)),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn edit(&self) -> Result<Edit> {
        Ok(match self {
            Self::Array(array) => Edit::Array(Box::new(array.edit()?)),
            Self::Chunks(frame) => Edit::Chunks(Box::new(frame.edit()?)),
        })
    }

    pub(crate) fn refresh(&mut self) -> Result<bool> {
        match self {
            Self::Array(array) => array.refresh(),
            Self::Chunks(frame) => frame.refresh(),
        }
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        match self {
            Self::Array(array) => Reader::Array(array),
            Self::Chunks(frame) => Reader::Chunks(frame),
        }
    }
}

impl Edit {
    pub(crate) fn commit(self) -> Result<Snapshot> {
        Ok(match self {
            Self::Array(edit) => Snapshot::Array(edit.commit()?),
            Self::Chunks(edit) => Snapshot::Chunks(edit.commit()?),
        })
    }

    pub(crate) fn compact(&mut self) -> Result<Snapshot> {
        Ok(match self {
            Self::Array(edit) => Snapshot::Array(edit.compact()?),
            Self::Chunks(edit) => Snapshot::Chunks(edit.compact()?),
        })
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        match self {
            Self::Array(edit) => Reader::Array(edit),
            Self::Chunks(edit) => Reader::Chunks(edit),
        }
    }

    pub(crate) fn array(&mut self) -> Result<&mut ArrayEdit> {
        match self {
            Self::Array(edit) => Ok(edit),
            Self::Chunks(_) => Err(other("an array")),
        }
    }

    pub(crate) fn chunks(&mut self) -> Result<&mut SuperChunk> {
        match self {
            Self::Chunks(edit) => Ok(edit),
            Self::Array(_) => Err(other("a super-chunk")),
        }
    }

    pub(crate) fn metalayers(&mut self) -> &mut Metalayers {
        match self {
            Self::Array(edit) => edit.metalayers_mut(),
            Self::Chunks(edit) => edit.metalayers_mut(),
        }
    }

    pub(crate) fn vlmetalayers(&mut self) -> &mut VlMetalayers {
        match self {
            Self::Array(edit) => edit.vlmetalayers_mut(),
            Self::Chunks(edit) => edit.vlmetalayers_mut(),
        }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn array(&self) -> Result<&'a ArrayReader> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Chunks(_) => Err(other("an array")),
        }
    }

    pub(crate) fn chunks(&self) -> &'a SuperChunk {
        match self {
            Self::Array(array) => array.super_chunk(),
            Self::Chunks(chunks) => chunks,
        }
    }
}

fn other(wanted: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("it is no longer {wanted}"))
}
