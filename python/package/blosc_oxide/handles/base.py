"""What arrays and super-chunks have in common: state, edits, metalayers, facts."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Literal, Self

from blosc_oxide import _native


class Metalayers(MutableMapping[str, bytes]):
    """Named bytes that are kept with an array. Setting and deleting them commits, as every change does."""

    def __init__(self, native: _native.Handle, is_variable: bool) -> None:
        self._native = native
        self._is_variable = is_variable

    def __getitem__(self, name: str) -> bytes:
        content = _native.meta_get(self._native, name, self._is_variable)
        if content is None:
            raise KeyError(name)
        return content

    def __setitem__(self, name: str, content: bytes) -> None:
        _native.meta_set(self._native, name, self._is_variable, bytes(memoryview(content)))

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        _native.meta_set(self._native, name, self._is_variable, None)

    def __iter__(self) -> Iterator[str]:
        return iter(_native.meta_names(self._native, self._is_variable))

    def __len__(self) -> int:
        return len(_native.meta_names(self._native, self._is_variable))

    def __repr__(self) -> str:
        return repr(dict(self))


class Info(dict[str, Any]):
    """Facts, for people: as text, or as a table in a notebook."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:{width}} : {value}" for name, value in self.items())

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in self.items())
        return f"<table>{''.join(rows)}</table>"


class Handle:
    """A frame that is read and changed piece by piece.

    What is read is the state of one commit: that at which it was opened, or of the last change through this object;
    `refresh` goes on to the newest. Each statement that changes something has committed when it returns, but for those inside
    of `with handle.edit():`. Any number of threads may read it. It is pickled as its path.
    """

    _native: _native.Handle

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
    def nbytes(self) -> int:
        """The number of bytes of the data."""
        return int(self._native.facts()["nbytes"])

    @property
    def cbytes(self) -> int:
        """The number of bytes of all chunks."""
        return int(self._native.facts()["cbytes"])

    @property
    def nchunks(self) -> int:
        """The number of chunks."""
        return int(self._native.facts()["nchunks"])

    @property
    def cratio(self) -> float:
        """How many times smaller the chunks are than the data."""
        return self.nbytes / max(self.cbytes, 1)

    @property
    def info(self) -> Info:
        """Facts about it, as text or as a table."""
        facts = self._native.facts()
        return Info(
            type=type(self).__name__,
            **self._layout(facts),
            nbytes=self.nbytes,
            cbytes=facts["cbytes"],
            cratio=f"{self.cratio:.2f}",
            codec=facts["codec"],
            level=facts["level"],
            filters=", ".join(facts["filters"]),
            urlpath=self.urlpath,
        )

    def _layout(self, facts: dict[str, Any]) -> dict[str, Any]:
        """How it is cut up, for `info`."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.info._repr_html_()

    @contextmanager
    def edit(self) -> Iterator[Self]:
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

    def refresh(self) -> bool:
        """Go on to the newest state that was committed; returns whether it is another one."""
        return self._native.refresh()

    def verify(self) -> list[tuple[int | None, str]]:
        """Decode everything and compare all checksums. Returns what is damaged: numbers of chunks, with a sentence for each."""
        return self._native.verify()[1]

    def compact(self) -> None:
        """Give unused space of the file back. Objects that have it open otherwise need `refresh` afterwards."""
        self._native.compact()

    def close(self) -> None:
        """Close it; an edit that is open is taken back."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        from . import open

        if self.urlpath is None:
            raise TypeError(f"{type(self).__name__} in memory cannot be pickled: save it, or pickle its items")
        return open, (os.path.abspath(self.urlpath), self.mode)

    def __dask_tokenize__(self) -> Any:
        """What tells it, in the state that it has, from others."""
        if self.urlpath is None:
            return type(self).__name__, id(self)
        status = os.stat(self.urlpath)
        return type(self).__name__, os.path.abspath(self.urlpath), status.st_mtime_ns, status.st_size
