"""Bloscpack files: those of Bloscpack are read, and Bloscpack reads ours."""

import collections
import collections.abc

import blosc_oxide
import numpy as np
import pytest
from blosc_oxide import bloscpack as ours

# Names that Python 3.10 took away from where bloscpack 0.16.0 looks for them.
for alias in ("Callable", "Iterable", "Mapping", "MutableMapping", "Sequence"):
    if alias not in vars(collections):
        setattr(collections, alias, getattr(collections.abc, alias))

ARRAYS = [
    np.arange(10_000, dtype="i4").reshape(100, 100),
    np.linspace(0, 1, 300_000),
    np.arange(24, dtype=">f8").reshape(2, 3, 4),
    np.zeros((3, 4), [("a", "<i4"), ("b", "S3")]),
    np.arange("2020-01", "2021-01", dtype="M8[M]"),
    np.array(5),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
def test_arrays_come_back(tmp_path, array):
    path = tmp_path / "array.blp"
    ours.pack_ndarray_to_file(array, path, checksum="sha512", chunk_size=10_000)
    for back in (ours.unpack_ndarray_from_file(path), ours.unpack_ndarray_from_bytes(ours.pack_ndarray_to_bytes(array))):
        assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.parametrize("array", ARRAYS[:4], ids=lambda array: str(array.dtype))
def test_bloscpack_reads_and_writes_the_same(tmp_path, array):
    theirs = pytest.importorskip("bloscpack")
    path = str(tmp_path / "array.blp")
    ours.pack_ndarray_to_file(array, path, codec="lz4")
    back = theirs.unpack_ndarray_from_file(path)
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    for made in (array, np.asfortranarray(array)):
        theirs.pack_ndarray_to_file(made, path)
        back = ours.unpack_ndarray_from_file(path)
        assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
        assert back.flags.f_contiguous == made.flags.f_contiguous


def test_bytes_and_metadata_are_those_of_bloscpack(tmp_path):
    theirs = pytest.importorskip("bloscpack")
    data, metadata = bytes(range(256)) * 5000, {"name": "bytes", "numbers": [1, 2.5]}
    packed = ours.pack_bytes_to_bytes(data, metadata, typesize=8, checksum="crc32")
    assert theirs.unpack_bytes_from_bytes(packed)[:2] == (data, metadata)
    assert ours.unpack_bytes_from_bytes(theirs.pack_bytes_to_bytes(data, metadata=metadata)) == (data, metadata)
    ours.pack_bytes_to_file(data, tmp_path / "data.blp", metadata=metadata)
    assert ours.unpack_bytes_from_file(tmp_path / "data.blp") == (data, metadata)


def test_a_file_is_there_as_a_whole_or_not(tmp_path):
    path = tmp_path / "array.blp"
    ours.pack_ndarray_to_file(ARRAYS[0], path)
    with pytest.raises(FileExistsError) as caught:
        ours.pack_ndarray_to_file(ARRAYS[1], path)
    assert caught.value.filename == str(path)
    with pytest.raises(ValueError):
        ours.pack_ndarray_to_file(ARRAYS[1], path, mode="w", filters=["delta", "shuffle"])
    assert (ours.unpack_ndarray_from_file(path) == ARRAYS[0]).all()
    ours.pack_ndarray_to_file(ARRAYS[1], path, mode="w")
    assert (ours.unpack_ndarray_from_file(path) == ARRAYS[1]).all()
    assert [name.name for name in tmp_path.iterdir()] == ["array.blp"]
    assert ours.recover(path) == "not needed"


def test_damage_and_nonsense_are_errors(tmp_path):
    packed = ours.pack_ndarray_to_bytes(ARRAYS[0])
    damaged = packed[:-100] + bytes(50) + packed[-50:]
    for bad in (b"", b"blpk", packed[:100], packed[:-1], damaged):
        with pytest.raises(blosc_oxide.DataError):
            ours.unpack_ndarray_from_bytes(bad)
    with pytest.raises(ValueError, match="holds no NumPy array"):
        ours.unpack_ndarray_from_bytes(ours.pack_bytes_to_bytes(b"abc"))
    with pytest.raises(ValueError, match="there is no checksum 'md4'|there is no checksum \"md4\""):
        ours.pack_bytes_to_bytes(b"abc", checksum="md4")
    with pytest.raises(FileNotFoundError) as caught:
        ours.unpack_ndarray_from_file(tmp_path / "missing.blp")
    assert caught.value.filename == str(tmp_path / "missing.blp")
    with pytest.raises(TypeError):
        ours.pack_ndarray_to_bytes(np.array([None]))
    with pytest.raises(TypeError):
        ours.unpack_bytes_from_bytes("text")
