//! Chunks: `compress`, `decompress` and what a header tells.

use crate::buffer::{Source, Target, new_bytes};
use crate::errors::exception;
use crate::options::{CodecArgument, Filters, FormatArgument, SplitArgument, chunk_options, threads};
use crate::scratch::{Scratch, room};
use blosc_oxide::{Chunk, Error, Format, Header, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Compress a buffer into a chunk.
///
/// Parameters
/// ----------
/// buffer : bytes-like
///     The data: any object with the buffer protocol whose memory is contiguous in C order.
/// typesize : int, optional
///     The size of an item in bytes; that of the items of `buffer` if not given.
/// codec : str or int
///     "blosclz", "lz4", "lz4hc", "zlib", "zstd", or "snappy" in Blosc1 chunks.
/// level : int
///     0 (store) to 9 (smallest).
/// filters : str, sequence or None
///     Up to six, in their order: "shuffle", "bitshuffle", "delta", "bytedelta", or pairs of a
///     name and a parameter such as ("trunc_prec", 10) and ("int_trunc", 8). None for no filter.
/// blocksize : int, optional
///     The size of blocks in bytes; chosen by codec, level and typesize if not given.
/// splitmode : str
///     "always", "never", "auto" or "forward_compat".
/// use_dict : bool
///     Whether the chunk gets a dictionary made from its own data (lz4, lz4hc and zstd).
/// nthreads : int, optional
///     How many threads may work; if not given, as many as there are in a call from the main
///     thread, and one in others.
/// format : str
///     "blosc2", or "blosc1" for what every reader since C-Blosc 1.0 understands.
///
/// Returns
/// -------
/// bytes
///     The chunk; the same for any number of threads.
///
/// Examples
/// --------
/// >>> import blosc_oxide
/// >>> chunk = blosc_oxide.compress(bytes(1_000_000), typesize=4, codec="lz4")
/// >>> len(chunk)
/// 32
/// >>> blosc_oxide.decompress(chunk) == bytes(1_000_000)
/// True
#[pyfunction]
#[pyo3(signature = (
    buffer, *, typesize=None, codec=CodecArgument::default(), level=5, filters=Filters::default(), blocksize=None,
    splitmode=SplitArgument::default(), use_dict=false, nthreads=None, format=FormatArgument::default()
), text_signature = "(buffer, *, typesize=None, codec='zstd', level=5, filters='shuffle', blocksize=None, \
    splitmode='forward_compat', use_dict=False, nthreads=None, format='blosc2')")]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
#[expect(clippy::needless_pass_by_value, reason = "arguments are made for the call")]
pub(crate) fn compress<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    typesize: Option<i64>,
    codec: CodecArgument,
    level: i64,
    filters: Filters,
    blocksize: Option<i64>,
    splitmode: SplitArgument,
    use_dict: bool,
    nthreads: Option<i64>,
    format: FormatArgument,
) -> PyResult<Bound<'py, PyBytes>> {
    let source = Source::of(buffer)?;
    let typesize = typesize.unwrap_or_else(|| i64::try_from(source.itemsize()).unwrap_or(i64::MAX));
    let options = chunk_options((typesize, (codec, level, filters, splitmode), blocksize, use_dict))?
        .with_format(format.0)
        .with_threads(threads(py, nthreads, source.len())?);
    compressed(py, &source, options)
}

/// Compress a buffer into a Blosc1 chunk, with the arguments that `numcodecs.blosc` has for it.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of numcodecs")]
pub(crate) fn compress_blosc1<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    codec: CodecArgument,
    clevel: i64,
    filters: Filters,
    blocksize: i64,
    typesize: Option<i64>,
    nthreads: i64,
) -> PyResult<Bound<'py, PyBytes>> {
    compress(
        py,
        buffer,
        typesize,
        codec,
        clevel,
        filters,
        Some(blocksize),
        SplitArgument::default(),
        false,
        Some(nthreads),
        FormatArgument(Format::Blosc1),
    )
}

fn compressed<'py>(py: Python<'py>, source: &Source, options: Options) -> PyResult<Bound<'py, PyBytes>> {
    let mut scratch = Scratch::take();
    let (compressor, copy, result) = scratch.compressing();
    let len = py.detach(|| {
        let compressor = Scratch::compressor(compressor, options)?;
        let data = source.bytes(copy);
        compressor.compress_into(data, room(result, compressor.max_compressed_len(data.len())))
    });
    let chunk = len.map(|len| PyBytes::new(py, &scratch.result[..len]));
    scratch.keep();
    chunk.map_err(|error| exception(&error))
}

/// Decompress a chunk.
///
/// Parameters
/// ----------
/// buffer : bytes-like
///     The chunk. What comes after it is ignored.
/// out : writable bytes-like, optional
///     Where the data go; it must have as many bytes as the data, or more.
/// nthreads : int, optional
///     How many threads may work, as in `compress`.
///
/// Returns
/// -------
/// bytes or the number of bytes in `out`
///
/// Examples
/// --------
/// >>> import blosc_oxide
/// >>> chunk = blosc_oxide.compress(b"abc" * 100)
/// >>> out = bytearray(300)
/// >>> blosc_oxide.decompress(chunk, out)
/// 300
/// >>> out[:6]
/// bytearray(b'abcabc')
#[pyfunction]
#[pyo3(signature = (buffer, out=None, *, nthreads=None))]
pub(crate) fn decompress<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    nthreads: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let source = Source::of(buffer)?;
    let target = out.map(Target::of).transpose()?;
    let mut scratch = Scratch::take();
    let done = decompressed(py, &source, target.as_ref(), nthreads, &mut scratch);
    scratch.keep();
    done
}

fn decompressed<'py>(
    py: Python<'py>,
    source: &Source,
    target: Option<&Target>,
    nthreads: Option<i64>,
    scratch: &mut Scratch,
) -> PyResult<Bound<'py, PyAny>> {
    let Scratch { decompressor, source: copy, result, .. } = scratch;
    let bytes = if source.is_constant() { source.bytes(copy) } else { py.detach(|| source.bytes(copy)) };
    let chunk = Chunk::parse(bytes).map_err(|error| exception(&error))?;
    let nbytes = chunk.header().nbytes();
    decompressor.set_threads(threads(py, nthreads, nbytes)?);
    let Some(target) = target else {
        let data = new_bytes(py, nbytes, |out| decompressor.chunk_into(&chunk, out).map(drop))?;
        return Ok(data.map_err(|error| exception(&error))?.into_any());
    };
    if target.len() < nbytes {
        let message = format!("`out` has {} bytes, the data have {nbytes}", target.len());
        return Err(PyValueError::new_err(message));
    }
    py.detach(|| {
        let data = room(result, nbytes);
        decompressor.chunk_into(&chunk, data)?;
        target.store(data);
        Ok(())
    })
    .map_err(|error: Error| exception(&error))?;
    Ok(nbytes.into_pyobject(py)?.into_any())
}

/// Tell what the header of a chunk says.
///
/// Examples
/// --------
/// >>> import blosc_oxide
/// >>> info = blosc_oxide.chunk_info(blosc_oxide.compress(bytes(range(256)) * 400, typesize=4))
/// >>> info["nbytes"], info["typesize"], info["codec"], info["filters"]
/// (102400, 4, 'zstd', ['shuffle'])
#[pyfunction]
pub(crate) fn chunk_info<'py>(py: Python<'py>, buffer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let source = Source::of(buffer)?;
    let mut copy = Vec::new();
    let header = Header::parse(source.bytes(&mut copy)).map_err(|error| exception(&error))?;
    let info = PyDict::new(py);
    info.set_item("format", if header.is_extended() { "blosc2" } else { "blosc1" })?;
    info.set_item("version", header.version())?;
    info.set_item("typesize", header.typesize())?;
    info.set_item("nbytes", header.nbytes())?;
    info.set_item("cbytes", header.cbytes())?;
    info.set_item("blocksize", header.blocksize())?;
    info.set_item("codec", header.codec().name())?;
    info.set_item("codec_format", header.codec_format())?;
    info.set_item("filters", header.pipeline().to_string().split(',').collect::<Vec<_>>())?;
    info.set_item("is_stored", header.is_memcpyed())?;
    info.set_item("has_dict", header.has_dict())?;
    Ok(info)
}
