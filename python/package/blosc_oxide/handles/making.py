"""Arrays that are made: of a value, of the items of another, at a path or in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from blosc_oxide import _native
from blosc_oxide.dtypes import text_of
from blosc_oxide.packed import bytes_of

from .ndarray import NDArray, lengths_of
from .placing import Path, made

if TYPE_CHECKING:
    from blosc_oxide._native import _Filters, _Split


def full(
    shape: int | Sequence[int],
    fill_value: Any,
    dtype: DTypeLike | None = None,
    *,
    urlpath: Path | None = None,
    mode: Literal["x", "w"] = "x",
    chunks: Sequence[int] | None = None,
    blocks: Sequence[int] | None = None,
    codec: str | int = "zstd",
    level: int = 5,
    filters: _Filters = "shuffle",
    splitmode: _Split = "forward_compat",
) -> NDArray:
    """Make an array of one value over and over.

    >>> import blosc_oxide
    >>> blosc_oxide.full((2, 3), 7, "i2")[1]
    array([7, 7, 7], dtype=int16)
    """
    item = np.array(fill_value, dtype=dtype)
    if item.ndim and item.dtype.names is None:
        raise ValueError("fill_value has to be one value")
    text = text_of(item.dtype)
    value = None if not any(item.tobytes()) else item.tobytes()

    def make(path: str | None) -> _native.Array:
        return _native.Array.fill(
            path,
            (text, item.dtype.itemsize),
            lengths_of(shape),
            (chunks, blocks),
            (codec, level, filters, splitmode),
            value,
        )

    return NDArray(made(urlpath, mode, make))


def zeros(shape: int | Sequence[int], dtype: DTypeLike = float, **options: Any) -> NDArray:
    """Make an array of zeros; the options are those of `full`.

    >>> import blosc_oxide
    >>> blosc_oxide.zeros((1000, 1000), "f8").cbytes < 100
    True
    """
    return full(shape, np.zeros((), dtype), dtype, **options)


def asarray(
    array: ArrayLike,
    *,
    urlpath: Path | None = None,
    mode: Literal["x", "w"] = "x",
    chunks: Sequence[int] | None = None,
    blocks: Sequence[int] | None = None,
    codec: str | int = "zstd",
    level: int = 5,
    filters: _Filters = "shuffle",
    splitmode: _Split = "forward_compat",
) -> NDArray:
    """Make an array of the items of another, in memory or at a path.

    >>> import numpy as np
    >>> import blosc_oxide
    >>> blosc_oxide.asarray(np.eye(4))[1]
    array([0., 1., 0., 0.])
    """
    items = np.asarray(array, order="C")
    text = text_of(items.dtype)

    def make(path: str | None) -> _native.Array:
        return _native.Array.of_items(
            path,
            (text, items.dtype.itemsize),
            list(items.shape),
            (chunks, blocks),
            (codec, level, filters, splitmode),
            bytes_of(items),
        )

    return NDArray(made(urlpath, mode, make))


def save(array: ArrayLike, urlpath: Path, **options: Any) -> None:
    """Write an array to a path, all of it or nothing; the options are those of `asarray`."""
    asarray(array, urlpath=urlpath, **options).close()


def load(urlpath: Path) -> np.ndarray[Any, Any]:
    """Read the whole array at a path.

    >>> import numpy as np
    >>> import blosc_oxide
    >>> blosc_oxide.save(np.eye(2), "eye.b2nd", mode="w")
    >>> blosc_oxide.load("eye.b2nd")
    array([[1., 0.],
           [0., 1.]])
    """
    native = _native.open(os.fspath(urlpath), False, None)
    if not isinstance(native, _native.Array):
        raise ValueError(f"{os.fspath(urlpath)} holds a super-chunk, not an array: open it")
    with NDArray(native) as array:
        return np.asarray(array[...])
