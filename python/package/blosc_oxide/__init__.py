"""The Blosc family of compressed containers: chunks, arrays on disk, codecs for numcodecs and Zarr.

The modules `bloscpack`, `numcodecs`, `zarr` and `dask` are imported by themselves; the last three need the packages that they
are for.

>>> import numpy as np
>>> import blosc_oxide
>>> packed = blosc_oxide.compress_array(np.arange(1_000_000))
>>> len(packed) < 100_000
True
>>> blosc_oxide.decompress_array(packed)[-3:]
array([999997, 999998, 999999])
"""

from importlib.metadata import version as _version

from ._native import chunk_info, compress, decompress
from .errors import DataError
from .handles import NDArray, SChunk, asarray, full, load, open, repair, save, zeros
from .packed import compress_array, decompress_array

__all__ = [
    "DataError",
    "NDArray",
    "SChunk",
    "asarray",
    "chunk_info",
    "compress",
    "compress_array",
    "decompress",
    "decompress_array",
    "full",
    "load",
    "open",
    "repair",
    "save",
    "zeros",
]
__version__ = _version("blosc-oxide")
