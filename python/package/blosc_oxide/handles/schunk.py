"""Super-chunks: data of any length in chunks, on disk or in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from blosc_oxide._native import SuperChunk

from .base import Handle
from .placing import Path, made

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import ReadableBuffer

    from blosc_oxide._native import _Filters, _Split

_CHUNKSIZE = 8 << 20


class SChunk(Handle):
    """Data in chunks, each of which can be read, replaced, inserted and deleted.

    Parameters
    ----------
    chunksize : int, optional
        The bytes of a chunk; 8 MiB if not given. It has to be a multiple of `typesize`.
    data : bytes-like, optional
        What it starts with.
    typesize : int, optional
        The size of an item in bytes; that of the items of `data` if not given.
    urlpath : path, optional
        Where it is made; in memory if not given.
    mode : str
        "x": there must be nothing yet; "w": what is there is replaced.
    contiguous : bool
        Whether it is one file, or a directory with a file for each chunk.
    codec, level, filters, blocksize, splitmode, use_dict
        As for `compress`.

    Examples
    --------
    >>> import blosc_oxide
    >>> chunks = blosc_oxide.SChunk(chunksize=400, data=bytes(1000), typesize=4)
    >>> chunks.append_data(b"abcd" * 100)
    4
    >>> chunks[249:251], len(chunks)
    (b'\\x00\\x00\\x00\\x00abcd', 350)
    """

    _native: SuperChunk

    def __init__(
        self,
        chunksize: int | None = None,
        data: ReadableBuffer | None = None,
        *,
        typesize: int | None = None,
        urlpath: Path | None = None,
        mode: Literal["x", "w"] = "x",
        contiguous: bool = True,
        codec: str | int = "zstd",
        level: int = 5,
        filters: _Filters = "shuffle",
        blocksize: int | None = None,
        splitmode: _Split = "forward_compat",
        use_dict: bool = False,
    ) -> None:
        itemsize = typesize or (1 if data is None else memoryview(data).itemsize)
        arguments = (itemsize, (codec, level, filters, splitmode), blocksize, use_dict)
        if chunksize is None:
            chunksize = max(_CHUNKSIZE // itemsize, 1) * itemsize
        if chunksize < 1 or chunksize % itemsize:
            raise ValueError(f"chunksize is {chunksize}, it has to be a multiple of the typesize, {itemsize}")
        size = chunksize
        self._native = made(urlpath, mode, lambda path: SuperChunk.of_data(path, contiguous, arguments, size, data))
        self._chunksize = chunksize

    @classmethod
    def _of(cls, native: SuperChunk) -> SChunk:
        self = cls.__new__(cls)
        self._native = native
        facts = native.facts()
        self._chunksize = facts["chunksize"] or max(_CHUNKSIZE // facts["typesize"], 1) * facts["typesize"]
        return self

    @property
    def typesize(self) -> int:
        """The size of an item in bytes."""
        return int(self._native.facts()["typesize"])

    @property
    def chunksize(self) -> int:
        """The bytes of a chunk, unless one is given as it is."""
        return self._chunksize

    def _layout(self, facts: dict[str, Any]) -> dict[str, Any]:
        return {"typesize": facts["typesize"], "chunksize": self._chunksize, "nchunks": facts["nchunks"]}

    def __len__(self) -> int:
        return int(self._native.facts()["nitems"])

    def __repr__(self) -> str:
        place = "" if self.urlpath is None else f", urlpath={self.urlpath!r}"
        return f"SChunk(nchunks={self.nchunks}, nbytes={self.nbytes}, typesize={self.typesize}{place})"

    def __getitem__(self, key: int | slice) -> bytes:
        first, count = self._span(key)
        return self._native.items(first, count * self.typesize)

    def __setitem__(self, key: int | slice, data: ReadableBuffer) -> None:
        first, count = self._span(key)
        nbytes = memoryview(data).nbytes
        if nbytes != count * self.typesize:
            raise ValueError(f"{count} items of {self.typesize} bytes cannot be {nbytes} bytes")
        self._native.write(first, data)

    def _span(self, key: int | slice) -> tuple[int, int]:
        """The first item of an index or slice, and how many it takes."""
        length = len(self)
        if isinstance(key, slice):
            start, stop, step = key.indices(length)
            if step != 1:
                raise IndexError(f"a slice of a super-chunk has the step 1, not {step}")
            return start, max(stop - start, 0)
        if not -length <= key < length:
            raise IndexError(f"item {key} is out of bounds for {length} items")
        return key % length, 1

    def append_data(self, data: ReadableBuffer) -> int:
        """Append data: a chunk, or several if it is longer than one. Returns how many chunks there are."""
        self._native.extend(data, self._chunksize)
        return self.nchunks

    def insert_data(self, nchunk: int, data: ReadableBuffer) -> int:
        """Compress data and put it in front of a chunk. Returns how many chunks there are."""
        self._native.insert(self._place(nchunk, self.nchunks), data, False)
        return self.nchunks

    def insert_chunk(self, nchunk: int, chunk: ReadableBuffer) -> int:
        """Put a chunk that `compress` has made in front of another. Returns how many chunks there are."""
        self._native.insert(self._place(nchunk, self.nchunks), chunk, True)
        return self.nchunks

    def update_data(self, nchunk: int, data: ReadableBuffer) -> int:
        """Compress data and put it in the place of a chunk. Returns how many chunks there are."""
        self._native.update(self._place(nchunk, self.nchunks - 1), data, False)
        return self.nchunks

    def update_chunk(self, nchunk: int, chunk: ReadableBuffer) -> int:
        """Put a chunk that `compress` has made in the place of another. Returns how many chunks there are."""
        self._native.update(self._place(nchunk, self.nchunks - 1), chunk, True)
        return self.nchunks

    def delete_chunk(self, nchunk: int) -> int:
        """Take a chunk away. Returns how many chunks there are."""
        self._native.delete(self._place(nchunk, self.nchunks - 1))
        return self.nchunks

    def fill_special(self, nitems: int, special_value: Literal["zero", "nan", "uninit"]) -> int:
        """Append items of one value, which take no space. Returns how many chunks there are."""
        self._native.fill_special(nitems, special_value, self._chunksize)
        return self.nchunks

    def get_chunk(self, nchunk: int) -> bytes:
        """A chunk as it is stored."""
        return self._native.chunk(self._place(nchunk, self.nchunks - 1))

    def decompress_chunk(self, nchunk: int) -> bytes:
        """The data of a chunk."""
        return self._native.decompress(self._place(nchunk, self.nchunks - 1))

    def iterchunks(self) -> Iterator[bytes]:
        """The data of all chunks, one after the other."""
        return (self.decompress_chunk(number) for number in range(self.nchunks))

    def _place(self, nchunk: int, last: int) -> int:
        if not 0 <= nchunk <= last:
            raise IndexError(f"chunk {nchunk} is out of bounds, it can be 0 to {last}")
        return nchunk
