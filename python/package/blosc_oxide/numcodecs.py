"""`numcodecs.blosc` on blosc-oxide: the same names, arguments, configurations and errors.

Data written by either are read by the other. `register` makes `Blosc` the codec that numcodecs, and with it Zarr of version 2,
takes for the id "blosc".

>>> from blosc_oxide.numcodecs import Blosc
>>> codec = Blosc(cname="zstd", clevel=3, shuffle=Blosc.SHUFFLE)
>>> codec
Blosc(cname='zstd', clevel=3, shuffle=SHUFFLE, blocksize=0)
>>> bytes(codec.decode(codec.encode(b"abc" * 1000))) == b"abc" * 1000
True
"""

from __future__ import annotations

import multiprocessing
import threading
from typing import TYPE_CHECKING, Any, NoReturn

import numcodecs.registry
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray

from . import _native
from .errors import DataError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = [
    "AUTOBLOCKS",
    "AUTOSHUFFLE",
    "BITSHUFFLE",
    "MAX_BUFFERSIZE",
    "MAX_OVERHEAD",
    "MAX_THREADS",
    "MAX_TYPESIZE",
    "NOSHUFFLE",
    "SHUFFLE",
    "Blosc",
    "cbuffer_complib",
    "compress",
    "decompress",
    "get_nthreads",
    "list_compressors",
    "register",
    "set_nthreads",
]

MAX_OVERHEAD = 16
MAX_BUFFERSIZE = 2**31 - 1 - MAX_OVERHEAD
MAX_THREADS = 256
MAX_TYPESIZE = 255
VERSION_STRING = "1.21.7.dev"
VERSION_DATE = "$Date:: 2024-06-24 #$"

NOSHUFFLE = 0
SHUFFLE = 1
BITSHUFFLE = 2
AUTOSHUFFLE = -1
AUTOBLOCKS = 0

use_threads: bool | None = None
"""Whether a call may take several threads; None for: calls from the main thread of the main process."""

_COMPRESSORS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
_LIBRARIES = ("BloscLZ", "LZ4", "Snappy", "Zlib", "Zstd")
_FILTERS = {NOSHUFFLE: None, SHUFFLE: "shuffle", BITSHUFFLE: "bitshuffle"}
_shuffle_repr = ["AUTOSHUFFLE", "NOSHUFFLE", "SHUFFLE", "BITSHUFFLE"]
_nthreads = min(8, multiprocessing.cpu_count())
_mutex: Any = None


def list_compressors() -> list[str]:
    """The names of the codecs that `compress` can take."""
    return list(_COMPRESSORS)


def get_nthreads() -> int:
    """How many threads a call may take where it may take several."""
    return _nthreads


def set_nthreads(nthreads: int) -> int:
    """Set how many threads a call may take, and return how many that was before.

    >>> before = set_nthreads(1)
    >>> set_nthreads(before)
    1
    """
    global _nthreads
    if not isinstance(nthreads, int):
        raise TypeError("an integer is required")
    before = _nthreads
    if 1 <= nthreads <= MAX_THREADS:
        _nthreads = nthreads
    return before


def get_mutex() -> Any:
    """A lock, made when it is first asked for. Nothing here needs it: calls are independent of each other."""
    global _mutex
    if _mutex is None:
        _mutex = multiprocessing.Lock()
    return _mutex


def _init() -> None:
    """Do nothing: there is no library to set up."""


def _destroy() -> None:
    """Do nothing: there is no library to tear down."""


def _get_use_threads() -> bool:
    """Whether a call may take several threads."""
    if use_threads in (True, False):
        return use_threads
    if multiprocessing.current_process().name != "MainProcess":
        return False
    return threading.current_thread() is threading.main_thread()


def _threads_for(nbytes: int) -> int:
    """How many threads a call over so many bytes takes; few bytes are not worth asking whose call it is."""
    return _nthreads if nbytes >= 65536 and _get_use_threads() else 1


def _err_bad_cname(cname: str) -> NoReturn:
    raise ValueError(f"bad compressor or compressor not supported: {cname!r}; expected one of {_COMPRESSORS}")


def _header(source: ReadableBuffer) -> bytes:
    view = memoryview(source).cast("B")
    return bytes(view[:MAX_OVERHEAD])


def _cbuffer_sizes(source: ReadableBuffer) -> tuple[int, int, int]:
    """The number of bytes of the data, of the chunk and of a block; zeros if it is no chunk."""
    try:
        info = _native.chunk_info(source)
    except (DataError, NotImplementedError):
        return 0, 0, 0
    return info["nbytes"], info["cbytes"], info["blocksize"]


def _cbuffer_metainfo(source: ReadableBuffer) -> tuple[int, int, int]:
    """The size of an item, the filter, and 2 if the data are stored as they are, or else 0."""
    header = _header(source)
    if len(header) < MAX_OVERHEAD:
        return 0, 0, 0
    flags, typesize = header[2], header[3]
    shuffle = SHUFFLE if flags & 1 else BITSHUFFLE if flags & 4 else NOSHUFFLE
    return typesize, shuffle, flags & 2


def cbuffer_complib(source: ReadableBuffer) -> str:
    """The name of the library whose format the streams of a chunk have."""
    header = _header(source)
    code = header[2] >> 5 if len(header) == MAX_OVERHEAD else len(_LIBRARIES)
    if code >= len(_LIBRARIES):
        raise DataError("the buffer is no chunk")
    return _LIBRARIES[code]


def compress(
    source: ReadableBuffer,
    cname: bytes,
    clevel: int,
    shuffle: int = SHUFFLE,
    blocksize: int = AUTOBLOCKS,
    typesize: int | None = None,
) -> bytes:
    """Compress a buffer into a Blosc1 chunk.

    Parameters
    ----------
    source : bytes-like
        The data.
    cname : bytes
        The name of the codec.
    clevel : int
        0 to 9.
    shuffle : int
        NOSHUFFLE, SHUFFLE, BITSHUFFLE, or AUTOSHUFFLE for BITSHUFFLE with items of one byte and SHUFFLE with others.
    blocksize : int
        The size of blocks in bytes, or AUTOBLOCKS.
    typesize : int, optional
        The size of an item; that of the items of `source` if not given.

    Returns
    -------
    bytes
    """
    if not isinstance(cname, bytes):
        raise TypeError(f"expected bytes, {type(cname).__name__} found")
    name = cname.decode()
    if name not in _COMPRESSORS:
        _err_bad_cname(name)
    if typesize is not None and typesize < 1:
        raise ValueError(f"Cannot use typesize {typesize} less than 1.")
    return _compress(source, name, clevel, shuffle, blocksize, typesize)


def _compress(
    source: ReadableBuffer, name: str, clevel: int, shuffle: int, blocksize: int, typesize: int | None
) -> bytes:
    view = memoryview(source)
    if shuffle == AUTOSHUFFLE:
        shuffle = BITSHUFFLE if (typesize or view.itemsize) == 1 else SHUFFLE
    elif shuffle not in _FILTERS:
        raise ValueError(f"invalid shuffle argument; expected -1, 0, 1 or 2, found {shuffle!r}")
    if clevel not in range(10):
        raise RuntimeError(f"error during blosc compression: level {clevel} is not 0 to 9")
    threads = _threads_for(view.nbytes)
    return _native.compress_blosc1(source, name, clevel, _FILTERS[shuffle], max(blocksize, 0), typesize, threads)


def decompress(source: ReadableBuffer, dest: Any = None) -> Any:
    """Decompress a chunk.

    Parameters
    ----------
    source : bytes-like
        The chunk.
    dest : array-like, optional
        Where the data go.

    Returns
    -------
    `dest`, or bytes if it is not given
    """
    if dest is None:
        return _native.decompress(source, nthreads=_threads_for(_nbytes(source)))
    target = ensure_contiguous_ndarray(dest)
    _native.decompress(source, target, nthreads=_threads_for(target.nbytes))
    return dest


def _nbytes(source: ReadableBuffer) -> int:
    """How many bytes the data of a chunk have, by its header."""
    return int.from_bytes(_header(source)[4:8], "little")


class Blosc(Codec):
    """Codec for Blosc1 chunks.

    Parameters
    ----------
    cname : str, optional
        "zstd", "blosclz", "lz4", "lz4hc" or "zlib".
    clevel : int, optional
        0 to 9.
    shuffle : int, optional
        NOSHUFFLE (0), SHUFFLE (1), BITSHUFFLE (2), or AUTOSHUFFLE (-1) for BITSHUFFLE with items of one byte and SHUFFLE with
        others.
    blocksize : int
        The size of blocks in bytes, or 0.
    typesize : int, optional
        The size of an item; that of the items of what is encoded if not given.
    """

    codec_id = "blosc"
    NOSHUFFLE = NOSHUFFLE
    SHUFFLE = SHUFFLE
    BITSHUFFLE = BITSHUFFLE
    AUTOSHUFFLE = AUTOSHUFFLE
    max_buffer_size = 2**31 - 1

    def __init__(
        self,
        cname: str = "lz4",
        clevel: int = 5,
        shuffle: int = SHUFFLE,
        blocksize: int = AUTOBLOCKS,
        typesize: int | None = None,
    ) -> None:
        if typesize is not None and typesize < 1:
            raise ValueError(f"Cannot use typesize {typesize} less than 1.")
        self.cname = cname
        self._cname_bytes = cname.encode("ascii")
        self.clevel = clevel
        self.shuffle = shuffle
        self.blocksize = blocksize
        self._typesize = typesize

    def encode(self, buf: Any) -> bytes:
        """The chunk of what is in a buffer."""
        buf = ensure_contiguous_ndarray(buf, self.max_buffer_size)
        return compress(buf, self._cname_bytes, self.clevel, self.shuffle, self.blocksize, self._typesize)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """What is in a chunk."""
        # A `bytes` object is already what a view of it would be, and the view takes as long as a small chunk.
        if type(buf) is not bytes or len(buf) > self.max_buffer_size:
            buf = ensure_contiguous_ndarray(buf, self.max_buffer_size)
        return decompress(buf, out)

    def __repr__(self) -> str:
        shuffle = _shuffle_repr[self.shuffle + 1]
        name = type(self).__name__
        return f"{name}(cname={self.cname!r}, clevel={self.clevel!r}, shuffle={shuffle}, blocksize={self.blocksize})"


def register() -> None:
    """Make `Blosc` the codec that numcodecs takes for the id "blosc", which Zarr of version 2 asks for.

    >>> import numcodecs
    >>> register()
    >>> type(numcodecs.get_codec({"id": "blosc"})) is Blosc
    True
    """
    numcodecs.registry.register_codec(Blosc)
