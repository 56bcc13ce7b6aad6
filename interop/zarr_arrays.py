"""Arrays of zarr-python, there and back through the command: values, attributes and fill values.

    python interop/zarr_arrays.py BLOSC DIRECTORY
"""

import itertools
import json
import pathlib
import shutil
import subprocess
import sys

import numcodecs
import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, TransposeCodec, ZstdCodec

blosc, root = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
ATTRIBUTES = {"unit": "kelvin", "nested": {"a": [1, 2.5, None]}, "größe": "ß"}


def run(*arguments, code=0):
    done = subprocess.run([blosc, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: {done.returncode}, {done.stderr}"
    return done


def values(dtype, shape):
    count = int(np.prod(shape))
    numbers = np.random.default_rng(count).integers(0, 100, count)
    if np.dtype(dtype).kind in "SU":
        return np.array([f"x{number}" for number in numbers], dtype).reshape(shape)
    if np.dtype(dtype).names:
        made = np.zeros(count, dtype)
        for name in made.dtype.names:
            made[name] = numbers
        return made.reshape(shape)
    return numbers.astype(dtype).reshape(shape)


def v2_cases():
    compressors = [None, numcodecs.Blosc(), numcodecs.Blosc("lz4", 9, numcodecs.Blosc.BITSHUFFLE), numcodecs.Zlib(4), numcodecs.Zstd(2)]
    for compressor, order in itertools.product(compressors, "CF"):
        yield "<f4", 1.5, {"compressors": compressor, "order": order}
    for dtype, fill in [("|b1", True), ("<i2", -3), (">i4", 7), ("<u8", 2**63 + 1), ("<f8", np.nan), ("<f8", -np.inf), (">f4", 0.1),
                        ("<c8", 1 + 2j), ("|S5", b"ab"), ("<U3", "ab"), ("<f2", 0.1)]:
        yield dtype, fill, {"compressors": numcodecs.Blosc()}
    yield [("a", "<i4"), ("b", "<f8")], None, {"compressors": numcodecs.Blosc()}


def v3_cases():
    yield "<f4", 1.5, {}
    yield "<i8", -1, {"compressors": None}
    yield "<f8", np.nan, {"compressors": BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle")}
    yield "<i4", 3, {"compressors": [ZstdCodec(level=3), Crc32cCodec()]}
    yield "<u2", 9, {"compressors": ZstdCodec(level=1, checksum=True), "filters": [TransposeCodec(order=(1, 0))]}
    yield "<i2", 9, {"serializer": BytesCodec(endian="big")}
    for dtype, fill in [("|b1", True), ("|u1", 255), ("<f2", 0.1), ("<c16", 1 - 1j), ("<u8", 2**64 - 1)]:
        yield dtype, fill, {}


def same_fill(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return one.tobytes() == other.tobytes() or bool(np.all(one == other)) or (one.dtype.kind in "fc" and bool(np.all(np.isnan(one) & np.isnan(other))))


def check(version, number, dtype, fill, options):
    shape, chunks = (53, 40), (10, 17)
    place = root / f"{version}-{number}.zarr"
    array = zarr.create_array(place, shape=shape, chunks=chunks, dtype=np.dtype(dtype), zarr_format=version,
                              fill_value=fill, attributes=ATTRIBUTES, **options)
    data = values(dtype, (33, 40))
    # The chunks from row 40 on are not there.
    array[:33] = data
    expected = array[:]
    made, npy, back = (root / f"{version}-{number}{end}" for end in (".b2nd", ".npy", ".back.zarr"))
    run("convert", place, made)
    run("verify", "-q", made)
    run("convert", made, npy)
    read = np.load(npy)
    # In version 3 the order of bytes is that of the files, and no part of the type.
    assert read.dtype.newbyteorder("=") == expected.dtype.newbyteorder("="), (read.dtype, expected.dtype)
    assert version == 3 or read.dtype == expected.dtype, (read.dtype, expected.dtype)
    assert read.astype(expected.dtype).tobytes() == expected.tobytes(), (version, dtype, options)
    run("convert", made, back, "--zarr-version", version)
    returned = zarr.open_array(back, mode="r")
    assert returned[:].tobytes() == expected.tobytes(), (version, dtype, options)
    assert returned.dtype == array.dtype and returned.shape == array.shape and returned.chunks == array.chunks
    assert dict(returned.attrs) == ATTRIBUTES, dict(returned.attrs)
    assert same_fill(returned.fill_value, array.fill_value), (returned.fill_value, array.fill_value)
    stored = [path for path in back.rglob("*") if path.is_file() and path.name not in (".zarray", ".zattrs", "zarr.json")]
    # Without a fill value nothing says what a chunk holds that is not there.
    assert (len(stored) < 6 * 3) == (fill is not None), f"{len(stored)} chunks are stored, the fill value is {fill}"


def check_refused():
    place = root / "sharded.zarr"
    zarr.create_array(place, shape=(40, 40), chunks=(10, 10), shards=(20, 20), dtype="<i4")[:] = 1
    message = run("convert", place, root / "sharded.b2nd", code=1).stderr
    assert "shards" in message and message.count("\n") == 1, message
    assert not (root / "sharded.b2nd").exists()
    zarr.open_group(root / "group.zarr", mode="w").create_array("a", shape=(4,), chunks=(4,), dtype="<i4")[:] = 1
    assert "group" in run("convert", root / "group.zarr", root / "group.b2nd", code=1).stderr
    run("convert", root / "group.zarr" / "a", root / "group-a.b2nd")


def check_edges():
    for version in (2, 3):
        for number, (shape, chunks) in enumerate([((), ()), ((0,), (4,)), ((3,), (10,)), ((5, 0, 2), (2, 1, 2)), ((1, 1, 7), (1, 1, 3))]):
            place, made, back = (root / f"edge-{version}-{number}{end}" for end in (".zarr", ".b2nd", ".back.zarr"))
            array = zarr.create_array(place, shape=shape, chunks=chunks, dtype="<i4", zarr_format=version)
            if array.size:
                array[...] = np.arange(array.size, dtype="<i4").reshape(shape) + 1
            run("convert", place, made)
            run("convert", made, back, "--zarr-version", version)
            assert np.array_equal(zarr.open_array(back, mode="r")[...], array[...]), (version, shape)


def check_other_codecs():
    """What zarr-python reads of ours with other codecs, filters and chunks."""
    np.save(root / "plain.npy", np.arange(4000, dtype="<f8").reshape(50, 80))
    run("compress", root / "plain.npy", "-o", root / "plain.b2nd")
    for number, options in enumerate([["--codec", "lz4"], ["--codec", "zlib", "-9"], ["--filter", "bitshuffle"], ["--filter", "none"],
                                      ["--chunks", "7,80"], ["--codec", "blosclz"], ["--codec", "lz4hc"]]):
        for version in ("2", "3"):
            place = root / f"options-{number}-{version}.zarr"
            run("convert", root / "plain.b2nd", place, "--zarr-version", version, *options)
            assert np.array_equal(zarr.open_array(place, mode="r")[:], np.load(root / "plain.npy")), options
            assert json.loads((place / (".zarray" if version == "2" else "zarr.json")).read_text())["zarr_format"] == int(version)


count = 0
for version, cases in ((2, v2_cases()), (3, v3_cases())):
    for number, (dtype, fill, options) in enumerate(cases):
        check(version, number, dtype, fill, options)
        count += 1
check_refused()
check_edges()
check_other_codecs()
print(f"{count} arrays of zarr-python {zarr.__version__} went to b2nd and back; 14 of ours were read, sharded ones refused")
