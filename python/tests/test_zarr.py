"""Arrays of Zarr through our codec and through its own: each reads what the other has written."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

from blosc_oxide.zarr import BloscCodec  # noqa: E402

LAYOUTS = {
    "v2": {"zarr_format": 2},
    "v3": {"zarr_format": 3},
    "sharded": {"zarr_format": 3, "shards": (50, 60)},
}
DATA = np.random.default_rng(2).normal(size=(100, 60)).cumsum(axis=0).astype("f4")

# In a process of its own, where nothing of ours is imported but what the arguments ask for.
WRITE = """
import sys, zarr, numcodecs, numpy as np
from zarr.codecs import BloscCodec
side, target, layout = sys.argv[1:]
if side == "ours":
    import blosc_oxide.zarr
    blosc_oxide.zarr.use_in_zarr()
    BloscCodec = blosc_oxide.zarr.BloscCodec
options = {"v2": {"zarr_format": 2}, "v3": {"zarr_format": 3}, "sharded": {"zarr_format": 3, "shards": (50, 60)}}[layout]
data = np.load(target + ".npy")
if layout == "v2":
    codec = numcodecs.get_codec({"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2})
else:
    codec = BloscCodec(cname="zstd", clevel=3, shuffle="bitshuffle")
array = zarr.create_array(target, shape=data.shape, chunks=(25, 30), dtype=data.dtype, compressors=codec, **options)
array[:] = data
"""
READ = """
import sys, zarr, numpy as np
side, target, layout = sys.argv[1:]
if side == "ours":
    import blosc_oxide.zarr
    blosc_oxide.zarr.use_in_zarr()
array = zarr.open_array(target, mode="r")
codec = array.compressors[0]
module = type(codec).__module__
if layout == "sharded":
    module = type(array.metadata.codecs[0].codecs[1]).__module__
assert module.startswith("blosc_oxide") == (side == "ours"), module
np.testing.assert_array_equal(array[:], np.load(target + ".npy"))
np.testing.assert_array_equal(array[7:60:3, 11], np.load(target + ".npy")[7:60:3, 11])
"""


def run(program, *arguments):
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("writer, reader", [("ours", "theirs"), ("theirs", "ours"), ("ours", "ours")])
def test_each_reads_what_the_other_writes(tmp_path, writer, reader, layout):
    target = str(tmp_path / "array.zarr")
    np.save(target + ".npy", DATA)
    run(WRITE, writer, target, layout)
    run(READ, reader, target, layout)


def test_the_metadata_are_those_of_zarr(tmp_path):
    for name, codec in (("ours", BloscCodec(cname="lz4")), ("theirs", zarr.codecs.BloscCodec(cname="lz4"))):
        zarr.create_array(tmp_path / name, shape=(4, 4), chunks=(2, 2), dtype="i4", compressors=codec)
    ours, theirs = (json.loads((tmp_path / name / "zarr.json").read_text()) for name in ("ours", "theirs"))
    assert ours == theirs


WRITE_DATASET = """
import sys, zarr, xarray, numcodecs, numpy as np
from zarr.codecs import BloscCodec
side, target, layout = sys.argv[1:]
if side == "ours":
    import blosc_oxide.zarr
    blosc_oxide.zarr.use_in_zarr()
    BloscCodec = blosc_oxide.zarr.BloscCodec
data = np.load(target + ".npy")
dataset = xarray.Dataset({"t": (("x", "y"), data)}, {"x": np.arange(100), "y": np.arange(60)})
codec = numcodecs.get_codec({"id": "blosc", "cname": "zstd"}) if layout == "v2" else BloscCodec(cname="zstd")
encoding = {"compressors": [codec], "chunks": (25, 30)}
if layout == "sharded":
    encoding["shards"] = (50, 60)
dataset.to_zarr(target, zarr_format=2 if layout == "v2" else 3, encoding={"t": encoding}, consolidated=False)
"""
READ_DATASET = """
import sys, xarray, zarr, numpy as np
side, target, layout = sys.argv[1:]
if side == "ours":
    import blosc_oxide.zarr
    blosc_oxide.zarr.use_in_zarr()
array = zarr.open_array(target + "/t", mode="r")
codec = array.metadata.codecs[0].codecs[1] if layout == "sharded" else array.compressors[0]
assert type(codec).__module__.startswith("blosc_oxide") == (side == "ours"), codec
assert layout != "sharded" or array.shards == (50, 60)
dataset = xarray.open_zarr(target, consolidated=False).load()
np.testing.assert_array_equal(dataset["t"].values, np.load(target + ".npy"))
np.testing.assert_array_equal(dataset["x"].values, np.arange(100))
"""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("writer, reader", [("ours", "theirs"), ("theirs", "ours")])
def test_each_reads_what_the_other_writes_through_xarray(tmp_path, writer, reader, layout):
    pytest.importorskip("xarray")
    target = str(tmp_path / "dataset.zarr")
    np.save(target + ".npy", DATA)
    run(WRITE_DATASET, writer, target, layout)
    run(READ_DATASET, reader, target, layout)


def test_the_choice_can_come_from_the_environment(tmp_path):
    program = """
import zarr
from zarr.registry import get_codec_class
print(get_codec_class("blosc").__module__)
"""
    choice = {"ZARR_CODECS__BLOSC": "blosc_oxide.zarr.BloscCodec"}
    for variables, module in (({}, "zarr.codecs.blosc"), (choice, "blosc_oxide.zarr")):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], env=os.environ | variables, capture_output=True, text=True
        )
        assert done.stdout.strip() == module, done.stderr


def test_calls_from_the_threads_of_zarr_work_alone(monkeypatch):
    from blosc_oxide import _native, numcodecs

    threads = []
    compress = _native.compress_blosc1
    monkeypatch.setattr(
        numcodecs._native, "compress_blosc1", lambda *arguments: (threads.append(arguments[-1]), compress(*arguments))[1]
    )
    array = zarr.create_array({}, shape=(1 << 20,), chunks=(1 << 18,), dtype="f8", compressors=BloscCodec(cname="lz4"))
    array[:] = np.arange(1 << 20)
    assert threads and set(threads) == {1}
    numcodecs.compress(np.arange(1 << 20), b"lz4", 5)
    assert threads[-1] == numcodecs.get_nthreads()


def test_use_in_zarr_switches_both_versions():
    run("""
import numcodecs, zarr, blosc_oxide.zarr
blosc_oxide.zarr.use_in_zarr()
assert zarr.registry.get_codec_class("blosc") is blosc_oxide.zarr.BloscCodec
assert numcodecs.get_codec({"id": "blosc"}).__class__ is blosc_oxide.numcodecs.Blosc
""")
