//! What belongs to the process that has made it.

/// A value with locks and files, which a fork copies but does not divide: what the child gives back
/// is lost to the parent, too. So a value that is dropped in another process is forgotten there.
pub(crate) struct OfProcess<T> {
    value: Option<T>,
    process: u32,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() }
    }

    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.value.as_mut()
    }

    pub(crate) fn into_inner(mut self) -> Option<T> {
        self.value.take()
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if !self.is_of_this_process() {
            std::mem::forget(self.value.take());
        }
    }
}
