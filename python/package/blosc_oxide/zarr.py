"""The Blosc codec of Zarr v3 on blosc-oxide; its configuration in `zarr.json` is that of Zarr's own.

`use_in_zarr` makes it the one that Zarr takes for the name "blosc". Without code, the variable of the environment
`ZARR_CODECS__BLOSC=blosc_oxide.zarr.BloscCodec` does the same.

>>> from blosc_oxide.zarr import BloscCodec
>>> BloscCodec(cname="lz4", typesize=4, shuffle="shuffle").to_dict()["name"]
'blosc'
"""

from functools import cached_property
from typing import Any

import zarr
import zarr.codecs
from zarr.registry import register_codec

from .numcodecs import Blosc, register

__all__ = ["BloscCodec", "use_in_zarr"]

_SHUFFLES = {"noshuffle": Blosc.NOSHUFFLE, "shuffle": Blosc.SHUFFLE, "bitshuffle": Blosc.BITSHUFFLE}


class BloscCodec(zarr.codecs.BloscCodec):
    """`zarr.codecs.BloscCodec` that encodes and decodes with blosc-oxide."""

    @cached_property
    def _blosc_codec(self) -> Any:
        # Zarr calls it from threads of its own, so that one chunk is worked on by one thread.
        return Blosc(
            cname=self.cname.value,
            clevel=self.clevel,
            shuffle=_SHUFFLES[self.shuffle.value],
            blocksize=self.blocksize,
            typesize=self.typesize,
        )


def use_in_zarr() -> None:
    """Let Zarr read and write Blosc with blosc-oxide: arrays of version 3 and of version 2.

    Arrays that are opened from now on use it, those that are open keep what they have.

    >>> import zarr
    >>> use_in_zarr()
    >>> zarr.registry.get_codec_class("blosc") is BloscCodec
    True
    """
    register_codec("blosc", BloscCodec)
    zarr.config.set({"codecs.blosc": f"{BloscCodec.__module__}.{BloscCodec.__qualname__}"})
    register()
