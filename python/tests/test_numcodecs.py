"""`blosc_oxide.numcodecs` beside `numcodecs.blosc`: the same names, results and errors."""

import pickle

import numpy as np
import pytest

numcodecs = pytest.importorskip("numcodecs")

from blosc_oxide import numcodecs as ours  # noqa: E402
from numcodecs import blosc as theirs  # noqa: E402

ARRAYS = [
    np.arange(5000, dtype="i4"),
    np.linspace(0, 1, 3000).reshape(30, 100),
    np.asfortranarray(np.arange(600, dtype="i2").reshape(20, 30)),
    np.arange(100).view("M8[ns]"),
    np.zeros(70_000),
    np.random.default_rng(0).bytes(1000),
]


def outcome(call):
    """What a call returns, or which error it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001
        return type(error).__mro__


def same(ours, theirs):
    """Our errors may be of more than one type."""
    if isinstance(theirs, tuple) and theirs and isinstance(theirs[0], type):
        return isinstance(ours, tuple) and theirs[0] in ours
    return ours == theirs


def test_the_same_names_are_there():
    names = [name for name in vars(theirs) if not name.startswith("__")]
    modules = {"os", "threading", "multiprocessing", "ensure_contiguous_ndarray", "Codec"}
    internal = {"_MUTEX", "_MUTEX_IS_INIT", "_importer_pid"}
    assert not [name for name in names if name not in modules | internal and not hasattr(ours, name)]
    for name in names:
        if name.isupper() and not name.startswith("_"):
            assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("array", ARRAYS, ids=range(len(ARRAYS)))
@pytest.mark.parametrize("cname", ["blosclz", "lz4", "lz4hc", "zlib", "zstd"])
@pytest.mark.parametrize("shuffle", [-1, 0, 1, 2])
def test_each_reads_what_the_other_writes(array, cname, shuffle):
    arguments = {"cname": cname, "clevel": 3, "shuffle": shuffle}
    mine, other = ours.Blosc(**arguments), theirs.Blosc(**arguments)
    encoded, expected = mine.encode(array), other.encode(array)
    assert encoded[:12] == expected[:12], "the headers say the same of the data"
    assert bytes(other.decode(encoded)) == bytes(mine.decode(expected)) == bytes(other.decode(expected))
    out = np.empty_like(np.frombuffer(other.decode(expected), "u1"))
    assert mine.decode(expected, out) is out
    assert bytes(out) == bytes(other.decode(expected))


CALLS = [
    lambda blosc: blosc.compress(ARRAYS[0], b"lz4", 10),
    lambda blosc: blosc.compress(ARRAYS[0], b"lz4", -1),
    lambda blosc: blosc.compress(ARRAYS[0], b"lz4", 5, 7),
    lambda blosc: blosc.compress(ARRAYS[0], "lz4", 5),
    lambda blosc: blosc.compress(ARRAYS[0], b"foo", 5),
    lambda blosc: blosc.compress(ARRAYS[0][::2], b"lz4", 5),
    lambda blosc: blosc.compress(3, b"lz4", 5),
    lambda blosc: blosc.compress(ARRAYS[0], b"lz4", 5, 1, 0, 0),
    lambda blosc: blosc.decompress(blosc.compress(ARRAYS[0], b"lz4", 5), np.zeros(3)),
    lambda blosc: blosc.decompress(b""),
    lambda blosc: blosc.decompress(None),
    lambda blosc: blosc.decompress(blosc.compress(ARRAYS[0], b"lz4", 5)[:1000]) == b"",
    lambda blosc: blosc.Blosc(cname="foo").encode(ARRAYS[0]),
    lambda blosc: blosc.Blosc(clevel=10).encode(ARRAYS[0]),
    lambda blosc: repr(blosc.Blosc(shuffle=9)),
    lambda blosc: repr(blosc.Blosc(shuffle=-1, typesize=3)),
    lambda blosc: blosc.Blosc(typesize=-1),
    lambda blosc: blosc.Blosc(typesize=1000).encode(ARRAYS[0])[3],
    lambda blosc: blosc.Blosc().decode("abc"),
    lambda blosc: blosc.Blosc().encode(np.array([None])),
    lambda blosc: blosc._cbuffer_sizes(b""),
    lambda blosc: blosc._cbuffer_sizes(theirs.compress(ARRAYS[0], b"lz4", 5)),
    lambda blosc: blosc._cbuffer_metainfo(theirs.compress(ARRAYS[0], b"lz4", 5, 2)),
    lambda blosc: blosc._cbuffer_metainfo(theirs.compress(ARRAYS[5], b"lz4", 5, 0)),
    lambda blosc: blosc.cbuffer_complib(theirs.compress(ARRAYS[0], b"zstd", 5)),
    lambda blosc: blosc.list_compressors(),
    lambda blosc: (blosc.set_nthreads(3) > 0, blosc.set_nthreads(2), blosc.get_nthreads()),
    lambda blosc: blosc.Blosc().get_config(),
    lambda blosc: vars(blosc.Blosc(typesize=3)),
    lambda blosc: type(blosc.get_mutex()).__name__,
]


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_each_call_has_the_same_outcome(call):
    expected, actual = outcome(lambda: call(theirs)), outcome(lambda: call(ours))
    assert same(actual, expected), f"{actual} instead of {expected}"


def test_a_codec_can_be_pickled():
    codec = ours.Blosc(cname="zstd", clevel=2, typesize=4)
    copy = pickle.loads(pickle.dumps(codec))
    assert copy == codec and copy._typesize == 4


def test_register_is_what_numcodecs_takes():
    try:
        ours.register()
        assert type(numcodecs.get_codec({"id": "blosc", "cname": "lz4"})) is ours.Blosc
    finally:
        numcodecs.register_codec(theirs.Blosc)
