"""NumPy arrays in one buffer, with their type and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from .dtypes import dtype_of, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import ReadableBuffer

    from ._native import _Filters, _Split


def bytes_of(array: NDArray[Any]) -> Any:
    """The memory of an array, of any type, as an object with the buffer protocol.

    NumPy has none for dates and times.
    """
    return array.reshape(-1).view(np.uint8) if array.dtype.itemsize else b""


def compress_array(
    array: ArrayLike,
    *,
    chunks: Sequence[int] | None = None,
    blocks: Sequence[int] | None = None,
    codec: str | int = "zstd",
    level: int = 5,
    filters: _Filters = "shuffle",
    splitmode: _Split = "forward_compat",
    nthreads: int | None = None,
) -> bytes:
    """Compress a NumPy array with its type and shape.

    The result is the content of a `.b2nd` file: written to one, it can be opened as an array, by python-blosc2 as well.

    Parameters
    ----------
    array : array-like
        Anything that `numpy.asarray` takes, but for arrays of Python objects.
    chunks, blocks : sequence of int, optional
        The shapes of chunks and blocks; chosen if not given.
    codec, level, filters, splitmode, nthreads
        As for `compress`.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import numpy as np
    >>> import blosc_oxide
    >>> packed = blosc_oxide.compress_array(np.eye(3, dtype="float32"), codec="lz4")
    >>> blosc_oxide.decompress_array(packed)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    array = np.asarray(array, order="C")
    return _native.pack(
        (text_of(array.dtype), array.dtype.itemsize),
        array.shape,
        (chunks, blocks),
        (codec, level, filters, splitmode),
        bytes_of(array),
        nthreads,
    )


def decompress_array(buffer: ReadableBuffer) -> NDArray[Any]:
    """Decompress what `compress_array` has made, or the content of any `.b2nd` file that is one.

    Returns
    -------
    numpy.ndarray
    """
    dtype, shape, items = _native.unpack(buffer)
    return np.ndarray(shape, dtype_of(dtype), items)
