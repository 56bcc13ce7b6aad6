"""Arrays and super-chunks, on disk or in memory: what they are, how they are opened, made and repaired."""

from __future__ import annotations

import os
from typing import Literal

from blosc_oxide import _native

from .base import Handle, Info, Metalayers
from .making import asarray, full, load, save, zeros
from .ndarray import NDArray, OrthogonalIndex
from .placing import Path, appearing
from .schunk import SChunk

__all__ = [
    "Handle",
    "Info",
    "Metalayers",
    "NDArray",
    "OrthogonalIndex",
    "SChunk",
    "asarray",
    "full",
    "load",
    "open",
    "repair",
    "save",
    "zeros",
]


def open(urlpath: Path, mode: Literal["r", "r+", "a"] = "r", *, nthreads: int | None = None) -> NDArray | SChunk:
    """Open an array or a super-chunk for reading (`mode="r"`), or for reading and writing ("r+"; "a" is the same).

    Calls on what is opened take `nthreads` threads at the most; if that is not given, as many as there are if it is opened by
    the main thread, and one if by another.

    >>> import numpy as np
    >>> import blosc_oxide
    >>> blosc_oxide.save(np.arange(10), "ten.b2nd")
    >>> blosc_oxide.open("ten.b2nd")[2:5]
    array([2, 3, 4])
    """
    if mode not in ("r", "r+", "a"):
        raise ValueError(f"mode is {mode!r}, it can be \"r\", \"r+\" and \"a\"")
    native = _native.open(os.fspath(urlpath), mode != "r", nthreads)
    return NDArray(native) if isinstance(native, _native.Array) else SChunk._of(native)


def repair(urlpath: Path, target: Path, *, mode: Literal["x", "w"] = "x") -> Info:
    """Write what is left of a damaged array or super-chunk to another path, and return what that is.

    The damaged file itself is not changed. Chunks that are damaged are zeros in what is written; `damage` and `unknown` say what
    is lost and what cannot be known, and `is_whole` whether everything is as it was written.

    >>> import pathlib
    >>> import numpy as np
    >>> import blosc_oxide
    >>> blosc_oxide.save(np.arange(1000), "damaged.b2nd")
    >>> damaged = bytes(40) + pathlib.Path("damaged.b2nd").read_bytes()[40:]
    >>> pathlib.Path("damaged.b2nd").write_bytes(damaged) == len(damaged)
    True
    >>> report = blosc_oxide.repair("damaged.b2nd", "repaired.b2nd")
    >>> report["found_by"], report["damaged_chunks"]
    ('an index', 0)
    >>> blosc_oxide.load("repaired.b2nd")[-1]
    np.int64(999)
    """
    with appearing(target, mode) as beside:
        return Info(_native.repair(os.fspath(urlpath), beside))
