"""Bloscpack files, `.blp`: arrays and bytes in Blosc1 chunks with checksums, under the names that Bloscpack has for them.

>>> import numpy as np
>>> from blosc_oxide import bloscpack
>>> bloscpack.pack_ndarray_to_file(np.arange(6).reshape(2, 3), "six.blp")
>>> bloscpack.unpack_ndarray_from_file("six.blp")
array([[0, 1, 2],
       [3, 4, 5]])
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from .dtypes import dtype_of, text_of
from .handles.placing import Path, appearing
from .packed import bytes_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from ._native import _Filters

__all__ = [
    "pack_bytes_to_bytes",
    "pack_bytes_to_file",
    "pack_ndarray_to_bytes",
    "pack_ndarray_to_file",
    "recover",
    "unpack_bytes_from_bytes",
    "unpack_bytes_from_file",
    "unpack_ndarray_from_bytes",
    "unpack_ndarray_from_file",
]


def pack_ndarray_to_file(array: ArrayLike, filename: Path, *, mode: Literal["x", "w"] = "x", **options: Any) -> None:
    """Write an array to a file, all of it or nothing. The options are those of `pack_bytes_to_bytes`, but for the metadata."""
    with appearing(filename, mode) as beside:
        _pack_array(array, beside, **options)


def pack_ndarray_to_bytes(array: ArrayLike, **options: Any) -> bytes:
    """The bytes of a file with an array. The options are those of `pack_bytes_to_bytes`, but for the metadata.

    >>> packed = pack_ndarray_to_bytes(np.eye(2), checksum="sha256")
    >>> unpack_ndarray_from_bytes(packed)
    array([[1., 0.],
           [0., 1.]])
    """
    packed = _pack_array(array, None, **options)
    assert packed is not None
    return packed


def unpack_ndarray_from_file(filename: Path) -> NDArray[Any]:
    """The array in a file."""
    return _array_of(*_native.bloscpack_unpack_file(os.fspath(filename)))


def unpack_ndarray_from_bytes(buffer: ReadableBuffer) -> NDArray[Any]:
    """The array in the bytes of a file."""
    return _array_of(*_native.bloscpack_unpack(buffer))


def pack_bytes_to_file(
    data: ReadableBuffer, filename: Path, *, mode: Literal["x", "w"] = "x", metadata: Any = None, **options: Any
) -> None:
    """Write data to a file, all of it or nothing. The options are those of `pack_bytes_to_bytes`."""
    with appearing(filename, mode) as beside:
        _pack(data, beside, None if metadata is None else json.dumps(metadata), **options)


def pack_bytes_to_bytes(data: ReadableBuffer, metadata: Any = None, **options: Any) -> bytes:
    """The bytes of a file with data.

    Parameters
    ----------
    data : bytes-like
        Any object with the buffer protocol.
    metadata : object, optional
        Anything that JSON can say.
    typesize : int, optional
        The size of an item; that of the items of `data` if not given.
    codec, level, filters : optional
        As for `compress`: "blosclz", 7 and "shuffle" if not given. A file can have shuffle, bitshuffle or none of them.
    chunk_size : int, optional
        The bytes of a chunk; 1 MiB if not given.
    checksum : str, optional
        "None", "adler32" if not given, "crc32", "md5", "sha1", "sha224", "sha256", "sha384" or "sha512".

    Examples
    --------
    >>> packed = pack_bytes_to_bytes(b"abc" * 100, {"made": "today"})
    >>> data, metadata = unpack_bytes_from_bytes(packed)
    >>> bytes(data[:6]), metadata
    (b'abcabc', {'made': 'today'})
    """
    packed = _pack(data, None, None if metadata is None else json.dumps(metadata), **options)
    assert packed is not None
    return packed


def unpack_bytes_from_file(filename: Path) -> tuple[bytearray, Any]:
    """The data and the metadata in a file."""
    data, metadata = _native.bloscpack_unpack_file(os.fspath(filename))
    return data, None if metadata is None else json.loads(metadata)


def unpack_bytes_from_bytes(buffer: ReadableBuffer) -> tuple[bytearray, Any]:
    """The data and the metadata in the bytes of a file."""
    data, metadata = _native.bloscpack_unpack(buffer)
    return data, None if metadata is None else json.loads(metadata)


def recover(filename: Path) -> Literal["not needed", "completed", "taken back"]:
    """Bring a change of a file to its end that was interrupted, or take it back where it had not come far enough.

    >>> pack_bytes_to_file(b"abc", "whole.blp")
    >>> recover("whole.blp")
    'not needed'
    """
    return _native.bloscpack_recover(os.fspath(filename))


def _pack_array(array: ArrayLike, path: str | None, **options: Any) -> bytes | None:
    items = np.asarray(array, order="C")
    metadata = _native.bloscpack_metadata(text_of(items.dtype), list(items.shape))
    return _pack(bytes_of(items), path, metadata, **{"typesize": min(items.dtype.itemsize, 255), **options})


def _pack(
    data: ReadableBuffer,
    path: str | None,
    metadata: str | None,
    *,
    typesize: int | None = None,
    codec: str | int = "blosclz",
    level: int = 7,
    filters: _Filters = "shuffle",
    chunk_size: int = 1 << 20,
    checksum: str = "adler32",
) -> bytes | None:
    itemsize = memoryview(data).itemsize if typesize is None else typesize
    return _native.bloscpack_pack(data, path, (itemsize, codec, level, filters), chunk_size, checksum, metadata)


def _array_of(data: bytearray, metadata: str | None) -> NDArray[Any]:
    described = None if metadata is None else _native.bloscpack_array(metadata)
    if described is None:
        raise ValueError("the file holds no NumPy array: its metadata does not describe one")
    text, shape, is_fortran = described
    return np.ndarray(shape, dtype_of(text), data, order="F" if is_fortran else "C")
