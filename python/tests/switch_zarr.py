"""Read by pytest beside zarr-python's own tests: they run with our codec in the place of Zarr's."""

import blosc_oxide.zarr
import pytest
import zarr.codecs
import zarr.codecs.blosc

blosc_oxide.zarr.use_in_zarr()
zarr.codecs.BloscCodec = zarr.codecs.blosc.BloscCodec = blosc_oxide.zarr.BloscCodec


@pytest.fixture(autouse=True)
def ours():
    assert zarr.registry.get_codec_class("blosc") is blosc_oxide.zarr.BloscCodec
