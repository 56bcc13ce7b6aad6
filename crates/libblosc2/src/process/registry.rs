//! Codecs, filters, tuners and kinds of input and output that C programs have registered, by id.
//! Entries are never taken away, and found without a lock: so none can be held in a process that is
//! forked.

use crate::code::{CODEC_PARAM, FAILURE, Outcome};
use crate::structs::{IoCallbacks, MAX_FILTERS, Tuner, UserCodec, UserFilter};
use std::ffi::{CStr, CString};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The first id that belongs to users, of codecs, filters and tuners alike.
pub(crate) const FIRST_USER: u8 = 160;

const NUMBER_OF_IDS: usize = 256;

/// A place for each id.
struct Table<T: 'static>([AtomicPtr<T>; NUMBER_OF_IDS]);

impl<T: 'static> Table<T> {
    const fn new() -> Self {
        Self([const { AtomicPtr::new(null_mut()) }; NUMBER_OF_IDS])
    }

    fn get(&self, id: u8) -> Option<&'static T> {
        let entry = self.0[usize::from(id)].load(Ordering::Acquire);
        // SAFETY: it is NULL, or was made of a box in `put` and is never freed or changed.
        unsafe { entry.as_ref() }
    }

    /// Registers an entry, unless there is one already; returns that.
    fn put(&self, id: u8, entry: T) -> Option<&'static T> {
        let entry = Box::into_raw(Box::new(entry));
        let place = &self.0[usize::from(id)];
        match place.compare_exchange(null_mut(), entry, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                CHANGES.fetch_add(1, Ordering::AcqRel);
                None
            }
            Err(_) => {
                // SAFETY: it was made of a box above, and nobody has seen it.
                drop(unsafe { Box::from_raw(entry) });
                self.get(id)
            }
        }
    }
}

/// A codec of the user's.
pub(crate) struct Codec {
    pub(crate) name: CString,
    pub(crate) functions: UserCodec,
}

/// A filter of the user's.
pub(crate) struct Filter {
    name: CString,
    pub(crate) functions: UserFilter,
}

/// A tuner of the user's.
pub(crate) struct UserTuner {
    name: CString,
    pub(crate) functions: Tuner,
}

/// How a kind of input and output works.
pub(crate) struct InputOutput(pub(crate) IoCallbacks);

// SAFETY: the pointers in it are functions, which any thread may call, and a name that is not used
// after it was registered.
unsafe impl Sync for Codec {}
// SAFETY: as above.
unsafe impl Sync for Filter {}
// SAFETY: as above.
unsafe impl Sync for UserTuner {}
// SAFETY: as above.
unsafe impl Sync for InputOutput {}

static CODECS: Table<Codec> = Table::new();
static FILTERS: Table<Filter> = Table::new();
static TUNERS: Table<UserTuner> = Table::new();
static INPUT_OUTPUT: Table<InputOutput> = Table::new();
/// How many entries there are in all.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// The first id of kinds of input and output that a program may register.
const FIRST_USER_IO: u8 = 160;

pub(crate) fn changes() -> usize {
    CHANGES.load(Ordering::Acquire)
}

pub(crate) fn codec(id: u8) -> Option<&'static Codec> {
    CODECS.get(id)
}

pub(crate) fn filter(id: u8) -> Option<&'static Filter> {
    FILTERS.get(id)
}

pub(crate) fn tuner(id: u8) -> Option<&'static UserTuner> {
    TUNERS.get(id)
}

pub(crate) fn input_output(id: u8) -> Option<&'static InputOutput> {
    INPUT_OUTPUT.get(id)
}

/// Registers a codec. The same once more is no error, another one under its id is.
pub(crate) fn add_codec(functions: UserCodec, name: &CStr) -> Outcome<()> {
    if functions.compcode < FIRST_USER {
        return Err(CODEC_PARAM);
    }
    let there = CODECS.put(functions.compcode, Codec { name: name.to_owned(), functions });
    if there.is_none_or(|there| *there.name == *name) { Ok(()) } else { Err(CODEC_PARAM) }
}

/// As [`add_codec`], for a filter.
pub(crate) fn add_filter(functions: UserFilter, name: &CStr) -> Outcome<()> {
    if functions.id < FIRST_USER {
        return Err(FAILURE);
    }
    let there = FILTERS.put(functions.id, Filter { name: name.to_owned(), functions });
    if there.is_none_or(|there| *there.name == *name) { Ok(()) } else { Err(FAILURE) }
}

/// As [`add_codec`], for a tuner.
pub(crate) fn add_tuner(functions: Tuner, name: &CStr) -> Outcome<()> {
    let id = u8::try_from(functions.id).ok().filter(|&id| id >= FIRST_USER).ok_or(FAILURE)?;
    let there = TUNERS.put(id, UserTuner { name: name.to_owned(), functions });
    if there.is_none_or(|there| *there.name == *name) { Ok(()) } else { Err(FAILURE) }
}

/// Registers a kind of input and output; once more under the same id is an error.
pub(crate) fn add_input_output(callbacks: IoCallbacks) -> Outcome<()> {
    if callbacks.id < FIRST_USER_IO {
        return Err(crate::code::PLUGIN_IO);
    }
    match INPUT_OUTPUT.put(callbacks.id, InputOutput(callbacks)) {
        None => Ok(()),
        Some(_) => Err(crate::code::PLUGIN_IO),
    }
}

/// The ids of a pipeline that are filters of the user's.
pub(crate) fn user_filters(ids: [u8; MAX_FILTERS]) -> impl Iterator<Item = u8> {
    ids.into_iter().filter(|&id| id >= FIRST_USER)
}
