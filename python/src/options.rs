//! Options for chunks, from the arguments of Python functions.

use blosc_oxide::limits::MAX_FILTERS;
use blosc_oxide::{ArrayOptions, Codec, Filter, Format, Options, SplitMode, Threads};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// Below this many bytes one thread is always enough, and nobody asks which thread it is.
const MIN_BYTES_TO_SHARE: usize = 64 << 10;

/// How a new array is compressed: codec, level, filters and split mode.
pub(crate) type Compression = (CodecArgument, i64, Filters, SplitArgument);
/// The type of items as text, and its size.
pub(crate) type Dtype = (String, usize);
/// The shapes of chunks and blocks.
pub(crate) type Shapes = (Option<Vec<u64>>, Option<Vec<u64>>);

/// How the chunks of a new super-chunk are compressed: the size of an item, how, the size of
/// blocks, and whether there are dictionaries.
pub(crate) type ChunkArguments = (i64, Compression, Option<i64>, bool);

/// Options for new chunks.
pub(crate) fn chunk_options((typesize, compression, blocksize, use_dict): ChunkArguments) -> PyResult<Options> {
    let (codec, clevel, filters, splitmode) = compression;
    let blocksize = blocksize.filter(|&blocksize| blocksize != 0);
    Ok(Options::new(size("typesize", typesize)?)
        .with_codec(codec.0)
        .with_codec_meta(codec.1)
        .with_level(level(clevel)?)
        .with_filters(filters.0)
        .with_blocksize(blocksize.map(|blocksize| size("blocksize", blocksize)).transpose()?)
        .with_split(splitmode.0)
        .with_dict(use_dict))
}

/// Options for a new array.
pub(crate) fn array_options(
    (dtype, itemsize): Dtype,
    shape: &[u64],
    shapes: &Shapes,
    compression: Compression,
    threads: Threads,
) -> PyResult<ArrayOptions> {
    let itemsize = i64::try_from(itemsize).unwrap_or(i64::MAX);
    let compression = chunk_options((itemsize, compression, None, false))?.with_threads(threads);
    let mut options = ArrayOptions::new(shape, compression).with_dtype(dtype);
    if let Some(chunks) = &shapes.0 {
        options = options.with_chunks(chunks);
    }
    if let Some(blocks) = &shapes.1 {
        options = options.with_blocks(blocks);
    }
    Ok(options)
}

/// The level, which the library takes as a byte.
pub(crate) fn level(level: i64) -> PyResult<u8> {
    let byte = u8::try_from(level).ok().filter(|&level| level <= 9);
    byte.ok_or_else(|| PyValueError::new_err(format!("level is {level}, it can be 0 to 9")))
}

/// A size that has to be positive.
pub(crate) fn size(name: &str, value: i64) -> PyResult<usize> {
    let size = usize::try_from(value).ok().filter(|&size| size > 0);
    size.ok_or_else(|| PyValueError::new_err(format!("{name} is {value}, it has to be at least 1")))
}

/// A codec by its name or its number, and its meta byte.
pub(crate) struct CodecArgument(pub(crate) Codec, pub(crate) u8);

impl Default for CodecArgument {
    fn default() -> Self {
        Self(Codec::Zstd, 0)
    }
}

impl<'py> FromPyObject<'_, 'py> for CodecArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            let name = name.to_cow()?;
            let found = Codec::parse_with_meta(&name);
            let found = found.map_err(|error| PyValueError::new_err(error.to_string()));
            return found.map(|(codec, meta)| Self(codec, meta));
        }
        match value_of(&object)?.extract::<u8>() {
            Ok(code) => Ok(Self(Codec::from_code(code), 0)),
            Err(_) => Err(PyTypeError::new_err("codec has to be a name, such as \"lz4\", or a number")),
        }
    }
}

/// The number of a member of an enumeration, such as `blosc2.Codec.ZSTD`; anything else as it is.
fn value_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(object.getattr_opt(intern!(object.py(), "value"))?.unwrap_or_else(|| object.clone()))
}

/// Filters: one or a sequence of them.
pub(crate) struct Filters(pub(crate) Vec<Filter>);

impl Default for Filters {
    fn default() -> Self {
        Self(vec![Filter::Shuffle])
    }
}

impl<'py> FromPyObject<'_, 'py> for Filters {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(Self(Vec::new()));
        }
        if object.is_instance_of::<PyString>() {
            return Ok(Self(filter(&object)?.into_iter().collect()));
        }
        let items = object.try_iter().map_err(|_| {
            PyTypeError::new_err(
                "filters has to be a name, such as \"shuffle\", or a sequence of names and (name, number)",
            )
        })?;
        let filters: Vec<Filter> =
            items.filter_map(|item| item.and_then(|item| filter(&item)).transpose()).collect::<PyResult<_>>()?;
        if filters.len() > MAX_FILTERS {
            let count = filters.len();
            return Err(PyValueError::new_err(format!("{count} filters given, a chunk has room for {MAX_FILTERS}")));
        }
        Ok(Self(filters))
    }
}

/// One filter: a name, a number, or one of these with its parameter; `None` for no filter.
fn filter(object: &Bound<'_, PyAny>) -> PyResult<Option<Filter>> {
    let (kind, meta) = match object.extract::<(Bound<'_, PyAny>, i64)>() {
        Ok((kind, meta)) => (kind, parameter(meta)?),
        Err(_) => (object.clone(), 0),
    };
    if let Ok(name) = kind.cast::<PyString>() {
        let name = name.to_cow()?;
        let id = (0..=u8::MAX).find(|&id| Filter::name_of(id) == Some(&*name));
        let id = id.ok_or_else(|| PyValueError::new_err(format!("there is no filter {name:?}")))?;
        return Ok(Filter::from_id(id, meta));
    }
    match value_of(&kind)?.extract::<u8>() {
        Ok(id) => Ok(Filter::from_id(id, meta)),
        Err(_) => {
            Err(PyTypeError::new_err("a filter has to be a name, a number, or a pair of one of these and a number"))
        }
    }
}

/// The byte of a filter's parameter; negative numbers are those of lossy filters.
fn parameter(meta: i64) -> PyResult<u8> {
    let byte = u8::try_from(meta).ok().or_else(|| i8::try_from(meta).ok().map(i8::cast_unsigned));
    byte.ok_or_else(|| PyValueError::new_err(format!("the parameter of a filter is {meta}, it can be -128 to 255")))
}

/// A split mode by its name.
#[derive(Default)]
pub(crate) struct SplitArgument(pub(crate) SplitMode);

impl<'py> FromPyObject<'_, 'py> for SplitArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name: String = object.extract().map_err(|_| PyTypeError::new_err("splitmode has to be a name"))?;
        Ok(Self(match &*name {
            "always" => SplitMode::Always,
            "never" => SplitMode::Never,
            "auto" => SplitMode::Auto,
            "forward_compat" => SplitMode::ForwardCompat,
            _ => return Err(PyValueError::new_err(format!("there is no splitmode {name:?}"))),
        }))
    }
}

/// The format of a chunk by its name.
#[derive(Default)]
pub(crate) struct FormatArgument(pub(crate) Format);

impl<'py> FromPyObject<'_, 'py> for FormatArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name: String = object.extract().map_err(|_| PyTypeError::new_err("format has to be a name"))?;
        match &*name {
            "blosc1" => Ok(Self(Format::Blosc1)),
            "blosc2" => Ok(Self(Format::Blosc2)),
            _ => Err(PyValueError::new_err(format!("format is {name:?}, it can be \"blosc1\" and \"blosc2\""))),
        }
    }
}

/// The threads for a call over `nbytes` bytes: as many as were asked for, or as many as there are.
/// A call from another thread than the main one is taken for a part of something that is parallel
/// already, and works alone.
pub(crate) fn threads(py: Python<'_>, nthreads: Option<i64>, nbytes: usize) -> PyResult<Threads> {
    match nthreads {
        Some(count) => match size("nthreads", count)? {
            1 => Ok(Threads::serial()),
            count => Ok(Threads::at_most(count)),
        },
        None if nbytes >= MIN_BYTES_TO_SHARE && is_main_thread(py)? => Ok(Threads::at_most(0)),
        None => Ok(Threads::serial()),
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    static CURRENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static MAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let current = CURRENT.import(py, "threading", "current_thread")?.call0()?;
    Ok(current.is(MAIN.import(py, "threading", "main_thread")?.call0()?))
}
