//! Frames of one chunk, in memory.

use blosc_oxide::{
    ArrayOptions, AxisSelection, Frame, FrameOptions, Location, NdArray, Options, Result, storage::MemoryStorage,
};
use hdf5_filter::Buffer;

/// The metalayers that make an array of a frame.
const ARRAY_LAYERS: [&str; 2] = ["b2nd", "caterva"];

/// A frame with `data` as its only chunk.
pub(crate) fn of_chunk(options: Options, data: &[u8]) -> Result<Vec<u8>> {
    let options = FrameOptions::new(options).with_checksums(false);
    let mut edit = Frame::create(MemoryStorage::default(), options)?;
    edit.append(data)?;
    edit.commit()?.to_bytes()
}

/// A frame that is an array of one chunk.
pub(crate) fn of_array(shape: &[u64], typesize: usize, options: Options, data: &[u8]) -> Result<Vec<u8>> {
    let options = ArrayOptions::new(shape, options.clone())
        .with_chunks(shape)
        .with_dtype(format!("|V{typesize}"))
        .with_frame(FrameOptions::new(options).with_checksums(false));
    NdArray::create_with_data(Location::storage(MemoryStorage::default()), &options, data)?.to_bytes()
}

/// The data of a frame.
pub(crate) fn data(frame: &[u8]) -> hdf5_filter::Result<Buffer> {
    let frame = Frame::open(frame.to_vec()).map_err(|error| error.to_string())?;
    let is_array = ARRAY_LAYERS.iter().any(|layer| frame.metalayers().get(layer).is_some());
    let nchunks = frame.nchunks();
    if is_array {
        return array_data(&NdArray::from_frame(frame).map_err(|error| error.to_string())?);
    }
    if nchunks != 1 {
        return Err(format!("the frame has {nchunks} chunks, a chunk of HDF5 is a frame with one"));
    }
    let mut data = Buffer::zeros(frame.chunk_nbytes(0).map_err(|error| error.to_string())?)?;
    frame.decompress_into(0, &mut data).map_err(|error| error.to_string())?;
    Ok(data)
}

fn array_data(array: &NdArray) -> hdf5_filter::Result<Buffer> {
    let geometry = array.geometry();
    let nbytes = usize::try_from(geometry.nitems()).ok().and_then(|nitems| nitems.checked_mul(geometry.typesize()));
    let mut data = Buffer::zeros(nbytes.ok_or("the array is larger than memory")?)?;
    array.slice_into(&vec![AxisSelection::All; geometry.ndim()], &mut data).map_err(|error| error.to_string())?;
    Ok(data)
}
