"""Arrays of Dask to `.b2nd` files: compressed by all workers, written by one process, there after one commit.

The other way needs nothing from here: `dask.array.from_array` takes what `blosc_oxide.open` returns, and workers in other
processes open it by its path.

>>> import blosc_oxide, dask.array
>>> from blosc_oxide.dask import to_b2nd
>>> to_b2nd(dask.array.ones((1000, 1000), chunks=(500, 500)), "ones.b2nd")
NDArray(shape=(1000, 1000), dtype='float64', chunks=(500, 500), urlpath='ones.b2nd')
>>> dask.array.from_array(blosc_oxide.open("ones.b2nd")).sum().compute()
np.float64(1000000.0)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import dask.array
import dask.config
import dask.system
import numpy as np
from dask.base import compute, get_scheduler
from dask.delayed import delayed

from . import _native, handles
from .dtypes import dtype_of, text_of
from .handles import NDArray
from .handles.placing import Path, appearing
from .packed import bytes_of

if TYPE_CHECKING:
    from ._native import _Compression, _Filters, _Shapes, _Split

__all__ = ["to_b2nd"]

_CHUNK_NBYTES = 8 << 20
# Shapes are divided by no larger factors: of a prime length, chunks would be thin.
_LARGEST_FACTOR = 7

_Chunk = tuple[tuple[int, ...], bytes]
"""The place of a chunk in the grid of its block, and what it is compressed to."""


def to_b2nd(
    array: Any,
    urlpath: Path,
    *,
    mode: Literal["x", "w"] = "x",
    chunks: Sequence[int] | None = None,
    blocks: Sequence[int] | None = None,
    codec: str | int = "zstd",
    level: int = 5,
    filters: _Filters = "shuffle",
    splitmode: _Split = "forward_compat",
    max_pending: int | None = None,
) -> NDArray:
    """Write an array of Dask to a path.

    Workers compute and compress the blocks of the array, wherever they run: this process gets compressed chunks only, writes
    them, and commits once at the end. Before that there is nothing at the path, or what was there before: also if a worker
    fails, or this process is killed.

    Parameters
    ----------
    array : dask.array.Array
        Its blocks are merged or cut where their borders are no borders of chunks. What several blocks need is computed for
        each of them; `array.persist()` keeps it.
    urlpath : path
        Where it is written.
    mode : str
        "x": there must be nothing yet; "w": what is there is replaced.
    chunks, blocks : sequence of int, optional
        The shapes of chunks and blocks of the result; if not given, chunks are those of the array, or equal parts of
        them of 8 MiB at the most.
    codec, level, filters, splitmode
        As for `compress`.
    max_pending : int, optional
        How many blocks are computed or waiting to be written at the same time: twice the threads of all workers if not
        given. The memory that is needed is that of as many blocks.

    Returns
    -------
    NDArray
        What was written, opened for reading.
    """
    array = dask.array.asarray(array)
    if any(math.isnan(length) for length in array.shape):
        raise ValueError(f"the shape {array.shape} is not known: call compute_chunk_sizes() first")
    itemsize = array.dtype.itemsize
    shape = tuple(int(length) for length in array.shape)
    chunks = tuple(chunks) if chunks is not None else _chunks_for(array.chunksize, itemsize)
    if len(chunks) != len(shape) or any(length < 1 for length in chunks):
        raise ValueError(f"chunks is {chunks}, it has to be a positive length for each of {len(shape)} axes")
    array = _aligned(array, chunks)
    dtype = (text_of(array.dtype), itemsize)
    compression: _Compression = (codec, level, filters, splitmode)
    with appearing(urlpath, mode) as beside:
        writer = _native.ArrayWriter(beside, dtype, shape, (chunks, blocks), compression)
        try:
            _write(writer, array, chunks, _Compress(dtype, (chunks, blocks), compression), max_pending)
            writer.commit()
        finally:
            writer.abort()
    opened = handles.open(urlpath)
    assert isinstance(opened, NDArray)
    return opened


class _Compress:
    """What workers do: a block to chunks, one for each place in its part of the grid."""

    def __init__(self, dtype: tuple[str, int], shapes: _Shapes, compression: _Compression) -> None:
        self._dtype = dtype
        self._shapes = shapes
        self._compression = compression

    def __call__(self, block: Any) -> list[_Chunk]:
        # An item by itself, as NumPy gives it, has the byte order of the machine: it is kept from becoming one.
        block = np.asarray(block, dtype_of(self._dtype[0]))
        chunks = self._shapes[0]
        assert chunks is not None
        found = []
        for place in np.ndindex(*(-(-length // chunk) for length, chunk in zip(block.shape, chunks, strict=True))):
            part = tuple(slice(at * chunk, (at + 1) * chunk) for at, chunk in zip(place, chunks, strict=True))
            items = np.asarray(block[(*part, ...)], order="C")
            encoded = _native.encode_chunk(self._dtype, items.shape, self._shapes, self._compression, bytes_of(items))
            found.append((place, encoded))
        return found


def _write(
    writer: _native.ArrayWriter,
    array: Any,
    chunks: tuple[int, ...],
    compress: _Compress,
    max_pending: int | None,
) -> None:
    grid = [-(-length // chunk) for length, chunk in zip(array.shape, chunks, strict=True)]
    borders = [[0, *itertools.accumulate(lengths)] for lengths in array.chunks]
    for place, found in _compressed(array, compress, max_pending):
        first = [at[index] // chunk for at, index, chunk in zip(borders, place, chunks, strict=True)]
        for inner, chunk in found:
            number = 0
            for start, index, length in zip(first, inner, grid, strict=True):
                number = number * length + start + index
            writer.put(number, chunk)


def _compressed(array: Any, compress: _Compress, max_pending: int | None) -> Iterator[tuple[tuple[int, ...], list[_Chunk]]]:
    """The chunks of each block, by the place of the block, in any order; no more blocks at once than `max_pending`."""
    parts = array.to_delayed()
    work = delayed(compress, pure=False)
    blocks = ((place, work(parts[place])) for place in np.ndindex(*parts.shape))
    client = _client(array)
    if client is not None:
        threads = sum(client.nthreads().values())
        return _through_client(client, blocks, max_pending or max(2 * threads, 2))
    return _in_batches(blocks, max_pending or 2 * (dask.config.get("num_workers", None) or dask.system.CPU_COUNT))


def _client(array: Any) -> Any:
    """The client of a cluster, if computing the array would go through one."""
    owner = getattr(get_scheduler(collections=[array]), "__self__", None)
    return owner if owner is not None and hasattr(owner, "nthreads") else None


def _through_client(client: Any, blocks: Iterator[tuple[Any, Any]], most: int) -> Iterator[tuple[Any, list[_Chunk]]]:
    from distributed import as_completed

    places = {}

    def submit(several: Iterable[tuple[Any, Any]]) -> list[Any]:
        futures = []
        for place, block in several:
            future = client.compute(block)
            places[future.key] = place
            futures.append(future)
        return futures

    pending = as_completed(submit(itertools.islice(blocks, most)))
    for future in pending:
        yield places.pop(future.key), future.result()
        del future
        pending.update(submit(itertools.islice(blocks, 1)))


def _in_batches(blocks: Iterator[tuple[Any, Any]], most: int) -> Iterator[tuple[Any, list[_Chunk]]]:
    while batch := list(itertools.islice(blocks, most)):
        places, parts = zip(*batch, strict=True)
        yield from zip(places, compute(*parts), strict=True)


def _chunks_for(block: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """The shape of a block divided until it has 8 MiB, so that each block holds whole chunks."""
    shape = [max(int(length), 1) for length in block]
    while math.prod(shape) * itemsize > _CHUNK_NBYTES:
        factors = {axis: factor for axis, length in enumerate(shape) if (factor := _least_factor(length))}
        if not factors:
            break
        axis = max(factors, key=lambda axis: shape[axis])
        shape[axis] //= factors[axis]
    return tuple(shape)


def _least_factor(length: int) -> int | None:
    return next((factor for factor in range(2, _LARGEST_FACTOR + 1) if length % factor == 0), None)


def _aligned(array: Any, chunks: tuple[int, ...]) -> Any:
    """The array with blocks whose borders are borders of chunks."""
    lengths = []
    for chunk, given in zip(chunks, array.chunks, strict=True):
        if all(length % chunk == 0 for length in given[:-1]):
            lengths.append(given)
        else:
            lengths.append(max(round(max(given) / chunk), 1) * chunk)
    return array.rechunk(tuple(lengths))
