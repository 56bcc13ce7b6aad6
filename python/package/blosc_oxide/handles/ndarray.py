"""Arrays of NumPy's types on disk or in memory, compressed chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from blosc_oxide._native import Array
from blosc_oxide.dtypes import dtype_of
from blosc_oxide.packed import bytes_of

from .base import Handle
from .indexing import Plan, coordinates, is_sparse, planned
from .placing import Path


class OrthogonalIndex:
    """`array.oindex[...]`: lists of indices each along an axis of its own, as `numpy.ix_` makes them."""

    def __init__(self, array: NDArray) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array._read(key, is_orthogonal=True)

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        self._array._write(key, value, is_orthogonal=True)


class NDArray(Handle):
    """An array that is read and written piece by piece: from `open`, `asarray`, `zeros`, `full` or `save`.

    What is read is the state of one commit: that at which the array was opened, or of the last change through this object;
    `refresh` goes on to the newest. Each statement that changes something has committed when it returns, but for those inside
    of `with array.edit():`. An array may be read by any number of threads. It is pickled as its path.
    """

    _native: Array

    def __init__(self, native: Array) -> None:
        self._native = native

    @property
    def shape(self) -> tuple[int, ...]:
        """How many items there are along each axis."""
        return tuple(self._native.shape())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the items."""
        return dtype_of(self._native.layout()[0])

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk."""
        return tuple(self._native.layout()[2])

    @property
    def blocks(self) -> tuple[int, ...]:
        """The shape of a block."""
        return tuple(self._native.layout()[3])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of items."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def oindex(self) -> OrthogonalIndex:
        """Orthogonal indices."""
        return OrthogonalIndex(self)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all items."""
        return self.size * self.dtype.itemsize

    def _layout(self, facts: dict[str, Any]) -> dict[str, Any]:
        return {"shape": self.shape, "dtype": self.dtype, "chunks": self.chunks, "blocks": self.blocks}

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        return self._read(key)

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        self._write(key, value)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("an array that is compressed cannot be given without a copy")
        return np.asarray(self[...], dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        place = "" if self.urlpath is None else f", urlpath={self.urlpath!r}"
        return f"NDArray(shape={self.shape}, dtype={str(self.dtype)!r}, chunks={self.chunks}{place})"

    def _box(self, plan: Plan, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        count = int(np.prod(plan.counts, dtype=object))
        items = self._native.slice(plan.selections, count * dtype.itemsize)
        return np.ndarray(plan.box, dtype, items)

    def _read(self, key: Any, *, is_orthogonal: bool = False) -> Any:
        text, shape, _, _ = self._native.layout()
        dtype = dtype_of(text)
        plan, news = planned(key, tuple(shape), is_orthogonal=is_orthogonal)
        if is_sparse(plan):
            points, result = coordinates(plan, tuple(shape))
            return np.frombuffer(bytearray(self._native.gather(points)), dtype).reshape(result)
        box = self._box(plan, dtype)
        if plan.index is not None:
            return box[plan.index]
        kept = [count for count, part in zip(plan.counts, plan.selections, strict=True) if not isinstance(part, int)]
        box = box.reshape(kept)
        for place in news:
            box = np.expand_dims(box, place)
        return box[()] if not box.ndim and key is not Ellipsis and not _has_ellipsis(key) else box

    def _write(self, key: Any, value: ArrayLike, *, is_orthogonal: bool = False) -> None:
        text, shape, _, _ = self._native.layout()
        dtype = dtype_of(text)
        plan, news = planned(key, tuple(shape), is_orthogonal=is_orthogonal)
        items = np.asarray(value, dtype=dtype) if dtype.names is None else np.array(value, dtype=dtype)
        if plan.index is not None:
            points, result = coordinates(plan, tuple(shape))
            self._native.scatter(points, bytes_of(_spread(items, result)))
            return
        kept = [count for count, part in zip(plan.counts, plan.selections, strict=True) if not isinstance(part, int)]
        wanted = list(kept)
        for place in news:
            wanted.insert(place, 1)
        self._native.write(plan.selections, bytes_of(_spread(items, tuple(wanted))))

    def append(self, values: ArrayLike, axis: int = 0) -> int:
        """Append items along an axis, and return how many there are in all.

        >>> import numpy as np
        >>> import blosc_oxide
        >>> array = blosc_oxide.asarray(np.arange(6).reshape(2, 3))
        >>> array.append([[6, 7, 8]])
        9
        """
        axis = _checked_axis(axis, self.ndim)
        items = np.asarray(values, dtype=self.dtype)
        rest = list(self.shape)
        if items.ndim != len(rest) or any(a != b for at, (a, b) in enumerate(zip(items.shape, rest)) if at != axis):
            raise ValueError(f"items of shape {items.shape} cannot be appended to an array of shape {self.shape}")
        self._native.append(axis, bytes_of(np.ascontiguousarray(items)))
        return self.size

    def resize(self, shape: int | Sequence[int]) -> None:
        """Give the array another shape: items that are not there yet are zeros, those that are outside are gone."""
        self._native.resize(lengths_of(shape))

    def iterchunks(self) -> Iterator[tuple[tuple[slice, ...], np.ndarray[Any, Any]]]:
        """Each chunk: which part of the array it is, and its items."""
        shape, chunks = self.shape, self.chunks
        grid = [-(-length // chunk) if chunk else 0 for length, chunk in zip(shape, chunks, strict=True)]
        for place in np.ndindex(*grid):
            part = tuple(
                slice(at * chunk, min((at + 1) * chunk, length))
                for at, chunk, length in zip(place, chunks, shape, strict=True)
            )
            yield part, np.asarray(self[part])

    def save(self, urlpath: Path, *, mode: Literal["x", "w"] = "x") -> None:
        """Write a copy to a path, with chunks and blocks of the same shapes; as `blosc_oxide.save`."""
        from .making import save

        save(self[...], urlpath, chunks=self.chunks, blocks=self.blocks, mode=mode)


def _has_ellipsis(key: Any) -> bool:
    return isinstance(key, tuple) and any(part is Ellipsis for part in key)


def _spread(items: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Items for each place of a shape, as an assignment of NumPy spreads them."""
    while items.ndim > len(shape) and items.shape[0] == 1:
        items = items[0]
    try:
        return np.ascontiguousarray(np.broadcast_to(items, shape)).reshape(shape)
    except ValueError:
        message = f"could not broadcast input array from shape {items.shape} into shape {shape}"
        raise ValueError(message) from None


def _checked_axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def lengths_of(shape: int | Sequence[int]) -> list[int]:
    """A shape as a list of lengths, none of them negative."""
    lengths = [shape] if isinstance(shape, int) else [int(length) for length in shape]
    for length in lengths:
        if length < 0:
            raise ValueError(f"negative dimensions are not allowed: {length}")
    return lengths
