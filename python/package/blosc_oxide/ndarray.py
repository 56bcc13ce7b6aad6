"""Arrays of NumPy's types on disk or in memory, compressed chunk by chunk."""

from __future__ import annotations

import html
import os
import secrets
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import _native
from .dtypes import dtype_of, text_of
from .indexing import Plan, coordinates, is_sparse, planned
from .packed import bytes_of

if TYPE_CHECKING:
    from ._native import _Filters, _Split

Path = str | os.PathLike[str]


class Metalayers(MutableMapping[str, bytes]):
    """Named bytes that are kept with an array. Setting and deleting them commits, as every change does."""

    def __init__(self, native: _native.Array, is_variable: bool) -> None:
        self._native = native
        self._is_variable = is_variable

    def __getitem__(self, name: str) -> bytes:
        content = self._native.meta_get(name, self._is_variable)
        if content is None:
            raise KeyError(name)
        return content

    def __setitem__(self, name: str, content: bytes) -> None:
        self._native.meta_set(name, self._is_variable, bytes(memoryview(content)))

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._native.meta_set(name, self._is_variable, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.meta_names(self._is_variable))

    def __len__(self) -> int:
        return len(self._native.meta_names(self._is_variable))

    def __repr__(self) -> str:
        return repr(dict(self))


class Info(dict[str, Any]):
    """Facts about an array, for people: as text, or as a table in a notebook."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:{width}} : {value}" for name, value in self.items())

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in self.items())
        return f"<table>{''.join(rows)}</table>"


class OrthogonalIndex:
    """`array.oindex[...]`: lists of indices each along an axis of its own, as `numpy.ix_` makes them."""

    def __init__(self, array: NDArray) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array._read(key, is_orthogonal=True)

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        self._array._write(key, value, is_orthogonal=True)


class NDArray:
    """An array that is read and written piece by piece: from `open`, `asarray`, `zeros`, `full`, `empty` or `load`.

    What is read is the state of one commit: that at which the array was opened, or of the last change through this object;
    `refresh` goes on to the newest. Each statement that changes something has committed when it returns, but for those inside
    of `with array.edit():`. An array may be read by any number of threads. It is pickled as its path.
    """

    def __init__(self, native: _native.Array) -> None:
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
    def nbytes(self) -> int:
        """The number of bytes of all items."""
        return self.size * self.dtype.itemsize

    @property
    def cbytes(self) -> int:
        """The number of bytes of all chunks."""
        return int(self._native.facts()["cbytes"])

    @property
    def cratio(self) -> float:
        """How many times smaller the chunks are than the items."""
        return self.nbytes / max(self.cbytes, 1)

    @property
    def urlpath(self) -> str | None:
        """Where it is, or None for: in memory."""
        path = self._native.path
        return None if path is None else os.fspath(path)

    @property
    def mode(self) -> Literal["r", "r+"]:
        """What it was opened for."""
        return "r+" if self._native.is_writable else "r"

    @property
    def meta(self) -> Metalayers:
        """Metalayers whose length stays what it is."""
        return Metalayers(self._native, False)

    @property
    def vlmeta(self) -> Metalayers:
        """Metalayers of any length."""
        return Metalayers(self._native, True)

    @property
    def oindex(self) -> OrthogonalIndex:
        """Orthogonal indices."""
        return OrthogonalIndex(self)

    @property
    def info(self) -> Info:
        """Facts about it, as text or as a table."""
        facts = self._native.facts()
        return Info(
            type=type(self).__name__,
            shape=self.shape,
            dtype=self.dtype,
            chunks=self.chunks,
            blocks=self.blocks,
            nbytes=self.nbytes,
            cbytes=facts["cbytes"],
            cratio=f"{self.cratio:.2f}",
            codec=facts["codec"],
            level=facts["level"],
            filters=", ".join(facts["filters"]),
            urlpath=self.urlpath,
        )

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

    def __reduce__(self) -> Any:
        if self.urlpath is None:
            raise TypeError("an array in memory cannot be pickled: save it, or pickle its items")
        return open, (self.urlpath, self.mode)

    def __enter__(self) -> NDArray:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

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
        self._native.resize(_shape(shape))

    @contextmanager
    def edit(self) -> Iterator[NDArray]:
        """Group changes: all are committed at the end of the `with` block, or, after an exception, none.

        >>> import blosc_oxide
        >>> array = blosc_oxide.zeros(3, "i4")
        >>> with array.edit():
        ...     array[0] = 1
        ...     array.append([4])
        4
        >>> array[:]
        array([1, 0, 0, 4], dtype=int32)
        """
        self._native.begin()
        try:
            yield self
        except BaseException:
            self._native.abort()
            raise
        self._native.commit()

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

    def refresh(self) -> bool:
        """Go on to the newest state that was committed; returns whether it is another one."""
        return self._native.refresh()

    def verify(self) -> list[tuple[int | None, str]]:
        """Decode everything and compare all checksums. Returns what is damaged: numbers of chunks, with a sentence for each."""
        return self._native.verify()[1]

    def compact(self) -> None:
        """Give unused space of the file back. Objects that have the array open otherwise need `refresh` afterwards."""
        self._native.compact()

    def close(self) -> None:
        """Close it; an edit that is open is taken back."""
        self._native.close()

    def save(self, urlpath: Path, *, mode: Literal["x", "w"] = "x") -> None:
        """Write a copy to a path; as `blosc_oxide.save`."""
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


def _shape(shape: int | Sequence[int]) -> list[int]:
    lengths = [shape] if isinstance(shape, int) else [int(length) for length in shape]
    for length in lengths:
        if length < 0:
            raise ValueError(f"negative dimensions are not allowed: {length}")
    return lengths


def open(urlpath: Path, mode: Literal["r", "r+", "a"] = "r") -> NDArray:
    """Open an array for reading (`mode="r"`), or for reading and writing ("r+"; "a" is the same).

    >>> import numpy as np
    >>> import blosc_oxide
    >>> blosc_oxide.save(np.arange(10), "ten.b2nd")
    >>> blosc_oxide.open("ten.b2nd")[2:5]
    array([2, 3, 4])
    """
    if mode not in ("r", "r+", "a"):
        raise ValueError(f"mode is {mode!r}, it can be \"r\", \"r+\" and \"a\"")
    return NDArray(_native.Array.open(os.fspath(urlpath), mode != "r"))


def _made(urlpath: Path | None, mode: str, make: Any) -> NDArray:
    """An array that `make` makes at a path; with mode "w" it takes the place of what is there."""
    if mode not in ("x", "w"):
        raise ValueError(f"mode is {mode!r}, it can be \"x\" and \"w\"")
    path = None if urlpath is None else os.fspath(urlpath)
    if path is not None and mode == "w" and os.path.lexists(path):
        if os.path.isdir(path):
            raise IsADirectoryError(21, "a directory is not replaced", path)
        beside = f"{path}.{secrets.token_hex(4)}"
        make(beside).close()
        os.replace(beside, path)
        return open(path, "r+")
    if path is not None and os.path.lexists(path):
        raise FileExistsError(17, "there is something already", path)
    return NDArray(make(path))


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
            _shape(shape),
            (chunks, blocks),
            (codec, level, filters, splitmode),
            value,
        )

    return _made(urlpath, mode, make)


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

    return _made(urlpath, mode, make)


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
    with open(urlpath) as array:
        return np.asarray(array[...])
