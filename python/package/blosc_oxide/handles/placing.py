"""Where something new is made, and how it takes the place of what is there."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EEXIST, EISDIR
from typing import TypeVar, cast

from blosc_oxide import _native

Path = str | os.PathLike[str]
Native = TypeVar("Native", bound=_native.Handle)


def made(urlpath: Path | None, mode: str, make: Callable[[str | None], Native]) -> Native:
    """What `make` makes at a path, or in memory; with mode "w" it takes the place of what is there."""
    if urlpath is None:
        check_mode(mode)
        return make(None)
    with appearing(urlpath, mode) as beside:
        make(beside).close()
    return cast(Native, _native.open(os.fspath(urlpath), True, None))


@contextmanager
def appearing(urlpath: Path, mode: str) -> Iterator[str]:
    """A path beside another, for what is to appear there at the end, as a whole; after an exception it does not."""
    check_mode(mode)
    path = os.fspath(urlpath)
    _check_free(path, mode)
    beside = f"{path}.{secrets.token_hex(4)}.part"
    try:
        yield beside
        _move(beside, path, mode)
        _sync_directory(os.path.dirname(path) or ".")
    except BaseException as error:
        _remove(beside)
        if isinstance(error, OSError) and error.filename == beside:
            error.filename = path
        raise


def check_mode(mode: str) -> None:
    """Refuse what is no mode of making something."""
    if mode not in ("x", "w"):
        raise ValueError(f"mode is {mode!r}, it can be \"x\" and \"w\"")


def _check_free(path: str, mode: str) -> None:
    if mode == "w" and os.path.isdir(path):
        raise IsADirectoryError(EISDIR, "a directory is not replaced", path)
    if mode == "x" and os.path.lexists(path):
        raise FileExistsError(EEXIST, "there is something already", path)


def _move(beside: str, path: str, mode: str) -> None:
    """Give what was made its name; with mode "x" only if nobody else has taken it meanwhile."""
    if mode == "x" and not os.path.isdir(beside):
        try:
            os.link(beside, path)
        except FileExistsError:
            raise
        except OSError:
            # A file system without links.
            pass
        else:
            os.remove(beside)
            return
    _check_free(path, mode)
    os.replace(beside, path)


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.remove(path)


def _sync_directory(path: str) -> None:
    """Make a new name survive a loss of power, where directories can be synced."""
    if os.name != "posix":
        return
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
