//! What python-blosc and python-blosc2 put around data: descriptions of arrays, pickles, and
//! objects without data.

pub(crate) mod msgpack;
mod object;
mod pickle;
mod tensor;

pub(crate) use object::check_has_data;
pub(crate) use pickle::{PICKLE_END, PICKLE_START, pickled_array};
pub(crate) use tensor::{TENSOR_LAYER, described_tensor};
