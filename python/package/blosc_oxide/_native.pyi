from collections.abc import Sequence
from typing import Any, Literal, overload

from _typeshed import ReadableBuffer, WriteableBuffer

_Filter = str | int | tuple[str | int, int]
_Filters = str | Sequence[_Filter | None] | None
_Split = Literal["always", "never", "auto", "forward_compat"]

def compress(
    buffer: ReadableBuffer,
    *,
    typesize: int | None = None,
    codec: str | int = "zstd",
    level: int = 5,
    filters: _Filters = "shuffle",
    blocksize: int | None = None,
    splitmode: _Split = "forward_compat",
    use_dict: bool = False,
    nthreads: int | None = None,
    format: Literal["blosc1", "blosc2"] = "blosc2",
) -> bytes: ...
@overload
def decompress(buffer: ReadableBuffer, out: None = None, *, nthreads: int | None = None) -> bytes: ...
@overload
def decompress(buffer: ReadableBuffer, out: WriteableBuffer, *, nthreads: int | None = None) -> int: ...
def chunk_info(buffer: ReadableBuffer) -> dict[str, Any]: ...
def compress_blosc1(
    buffer: ReadableBuffer,
    codec: str | int,
    clevel: int,
    filters: _Filters,
    blocksize: int,
    typesize: int | None,
    nthreads: int,
) -> bytes: ...
def pack(
    buffer: ReadableBuffer,
    dtype: str,
    itemsize: int,
    shape: Sequence[int],
    shapes: tuple[Sequence[int] | None, Sequence[int] | None],
    codec: str | int,
    clevel: int,
    filters: _Filters,
    splitmode: _Split,
    nthreads: int | None,
) -> bytes: ...
def unpack(buffer: ReadableBuffer) -> tuple[str, list[int], bytearray]: ...
