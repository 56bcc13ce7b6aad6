//! Tuners of C programs. They get a context, of which the functions of blosc2.h tell them what it
//! is; where the fields of a context are is known to nobody else, and so they cannot be changed.

use crate::code::{INVALID_PARAM, Outcome, TUNER};
use crate::context::Context;
use crate::process::registry;
use crate::structs::Tuner;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::time::Duration;

/// A context where C programs can find it, with its tuner at work.
pub(crate) fn placed(mut context: Context) -> Outcome<*mut Context> {
    let (id, params) = (context.cparams.tuner_id, context.cparams.tuner_params);
    let tuner = if id > 0 { Some(find(id).ok_or(INVALID_PARAM)?) } else { None };
    context.tuner = tuner;
    let place = Box::into_raw(Box::new(context));
    if let Some(init) = tuner.and_then(|tuner| tuner.init) {
        // SAFETY: the program has given the function for this.
        if unsafe { init(params, place, null_mut()) } < 0 {
            // SAFETY: it was made above, and the tuner has not begun.
            drop(unsafe { Box::from_raw(place) });
            return Err(TUNER);
        }
    }
    Ok(place)
}

/// Frees a context, after its tuner.
///
/// # Safety
/// `context` was made of a box, and is not used any more.
pub(crate) unsafe fn release(context: *mut Context) {
    // SAFETY: the caller promises it.
    let mut own = unsafe { Box::from_raw(context) };
    // The tuner has freed what it has to free; whether that went well changes nothing here.
    let _ = own.call_tuner(true, |tuner| tuner.free);
}

fn find(id: c_int) -> Option<&'static Tuner> {
    registry::tuner(u8::try_from(id).ok()?).map(|tuner| &tuner.functions)
}

type Function = unsafe extern "C" fn(*mut Context) -> c_int;

impl Context {
    /// Another chunk is to be compressed.
    pub(crate) fn ask_tuner(&mut self) -> Outcome<()> {
        if self.cparams.tuner_params.is_null() {
            self.call_tuner(false, |tuner| tuner.next_blocksize)
        } else {
            self.call_tuner(true, |tuner| tuner.next_cparams)
        }
    }

    /// A chunk was compressed in so much time.
    pub(crate) fn tell_tuner(&mut self, time: Duration) -> Outcome<()> {
        let update = self.tuner.filter(|_| !self.cparams.tuner_params.is_null()).and_then(|tuner| tuner.update);
        // SAFETY: the program has given the function for this.
        let code = update.map_or(0, |update| unsafe { update(&raw mut *self, time.as_secs_f64()) });
        if code < 0 { Err(TUNER) } else { Ok(()) }
    }

    fn call_tuner(&mut self, needs_params: bool, which: impl FnOnce(&Tuner) -> Option<Function>) -> Outcome<()> {
        let is_meant = !needs_params || !self.cparams.tuner_params.is_null();
        let Some(function) = self.tuner.filter(|_| is_meant).and_then(which) else { return Ok(()) };
        // SAFETY: the program has given the function for this.
        if unsafe { function(&raw mut *self) } < 0 { Err(TUNER) } else { Ok(()) }
    }
}
