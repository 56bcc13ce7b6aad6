"""HDF5 files with the filters 32001 and 32026, written and read with h5py.

plugins.py write DIRECTORY WHOSE    a file for each combination of filter, codec and shuffle
plugins.py read DIRECTORY WHOSE     are they what was written?
plugins.py damage DIRECTORY WHOSE   damaged chunks are errors with a text, and crash nothing

WHOSE is `theirs` for the filters of hdf5plugin, which is imported for that, or `ours` for h5py alone, with the plug-ins that
HDF5_PLUGIN_PATH names.
"""

import os
import sys
from pathlib import Path

import h5py
import numpy

BLOSC, BLOSC2 = 32001, 32026
# Numbers of codecs; of Blosc2, snappy (3) is not there.
CODECS = {BLOSC: [0, 1, 2, 4, 5], BLOSC2: [0, 1, 2, 4, 5]}
NAMES = {0: "blosclz", 1: "lz4", 2: "lz4hc", 4: "zlib", 5: "zstd"}


def datasets():
    """Name, data, chunks and fill value of one to four dimensions, with edges that no chunk ends at."""
    random = numpy.random.default_rng(21)
    compound = numpy.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S5")])
    records = numpy.zeros(501, dtype=compound)
    records["a"], records["b"], records["c"] = numpy.arange(501), numpy.arange(501) / 7, b"xyz"
    yield "one", numpy.arange(10_001, dtype="<i4"), (2000,), 7
    yield "two", numpy.cumsum(random.integers(-3, 4, size=(101, 203)), axis=0, dtype="<i2"), (32, 40), -1
    yield "three", numpy.linspace(0, 1, 31 * 17 * 23).reshape(31, 17, 23), (8, 9, 10), 0.5
    yield "four", numpy.arange(7 * 5 * 11 * 13, dtype="<u8").reshape(7, 5, 11, 13), (3, 5, 4, 6), None
    yield "noise", random.integers(0, 256, size=(64, 1000), dtype="u1"), (10, 333), None
    yield "zeros", numpy.zeros((100, 100), dtype="<f4"), (50, 30), None
    yield "strings", numpy.array([f"string {i}".encode() for i in range(1000)], dtype="S300"), (77,), None
    yield "records", records, (100,), None
    yield "subarrays", numpy.arange(60 * 6, dtype="<f4").reshape(60, 2, 3).view(("<f4", ())), (7, 2, 3), None


def combinations():
    for filter_id, codecs in CODECS.items():
        for codec in codecs:
            for shuffle in (0, 1, 2):
                yield filter_id, codec, shuffle


def options(whose, filter_id, codec, shuffle):
    """What create_dataset is told."""
    if whose == "ours":
        return {"compression": filter_id, "compression_opts": (0, 0, 0, 0, 5, shuffle, codec)}
    import hdf5plugin

    if filter_id == BLOSC:
        return dict(hdf5plugin.Blosc(cname=NAMES[codec], clevel=5, shuffle=shuffle))
    return dict(hdf5plugin.Blosc2(cname=NAMES[codec], clevel=5, filters=shuffle))


def path_of(directory, filter_id, codec, shuffle):
    return directory / f"{filter_id}-{codec}-{shuffle}.h5"


def write(directory, whose):
    directory.mkdir(parents=True, exist_ok=True)
    with h5py.File(directory / "plain.h5", "w") as file:
        for name, data, chunks, fill in datasets():
            file.create_dataset(name, data=data, chunks=chunks, fillvalue=fill)
    for combination in combinations():
        how = options(whose, *combination)
        with h5py.File(path_of(directory, *combination), "w") as file:
            for name, data, chunks, fill in datasets():
                file.create_dataset(name, data=data, chunks=chunks, fillvalue=fill, **how)
            partial = file.create_dataset("partial", shape=(90, 90), dtype="<i4", chunks=(20, 30), fillvalue=9, **how)
            partial[25:33, 10:50] = 5
            array_type = h5py.h5t.array_create(h5py.h5t.IEEE_F32LE, (2, 3))
            made = file.create_dataset("of_arrays", shape=(40,), dtype=array_type.dtype, chunks=(9,), **how)
            made[:] = numpy.arange(240, dtype="<f4").reshape(40, 2, 3)


def check_parameters(file, filter_id):
    for name in file:
        properties = file[name].id.get_create_plist()
        number, _, values, _ = properties.get_filter(0)
        assert number == filter_id and len(values) >= 4, f"{name}: filter {number} with {values}"
        type_of = file[name].id.get_type()
        chunk = type_of.get_size() * int(numpy.prod(properties.get_chunk()))
        assert values[3] == chunk, f"{name}: {values}, chunks have {chunk} bytes"


def read(directory, _whose):
    count = 0
    for combination in combinations():
        with h5py.File(path_of(directory, *combination)) as file:
            check_parameters(file, combination[0])
            for name, data, _, _ in datasets():
                numpy.testing.assert_array_equal(file[name][...], data, err_msg=f"{combination} {name}")
                count += 1
            expected = numpy.full((90, 90), 9, dtype="<i4")
            expected[25:33, 10:50] = 5
            numpy.testing.assert_array_equal(file["partial"][...], expected)
            arrays = numpy.arange(240, dtype="<f4").reshape(40, 2, 3)
            numpy.testing.assert_array_equal(file["of_arrays"][...], arrays, err_msg=f"{combination} of_arrays")
            count += 2
    assert count == 30 * 11, count
    print(f"{count} datasets")


def damage(directory, _whose):
    """One byte of a stored chunk after the other is changed, and read with the filter."""
    random = numpy.random.default_rng(22)
    errors = 0
    for combination in combinations():
        with h5py.File(path_of(directory, *combination), "r") as file:
            chunk = file["two"].id.read_direct_chunk((0, 0))[1]
            how = dict(zip(("compression", "compression_opts"), (combination[0], (0, 0, 0, 0, 5, combination[2], combination[1]))))
        with h5py.File("damaged", "w", driver="core", backing_store=False) as file:
            dataset = file.create_dataset("two", shape=(32, 40), chunks=(32, 40), dtype="<i2", **how)
            for _ in range(40):
                bad = bytearray(chunk)
                bad[random.integers(0, len(bad))] ^= int(random.integers(1, 256))
                dataset.id.write_direct_chunk((0, 0), bytes(bad))
                file.flush()
                dataset.id.refresh()
                try:
                    dataset[...]
                except OSError as error:
                    assert str(error), "an error without a text"
                    errors += 1
            for bad in (b"", chunk[:10], chunk[: len(chunk) // 2]):
                dataset.id.write_direct_chunk((0, 0), bad or b"\0")
                dataset.id.refresh()
                try:
                    dataset[...]
                    raise AssertionError("half a chunk was read")
                except OSError as error:
                    assert str(error)
    for bad in ((0, 0, 0, 0, 99), (0, 0, 0, 0, 5, 7), (0, 0, 0, 0, 5, 1, 77)):
        with h5py.File("bad", "w", driver="core", backing_store=False) as file:
            for filter_id in CODECS:
                try:
                    file.create_dataset("x", shape=(10,), chunks=(10,), dtype="<i2", compression=filter_id, compression_opts=bad)
                    raise AssertionError(f"{filter_id} takes {bad}")
                except (OSError, ValueError, RuntimeError) as error:
                    assert str(error)
    assert errors > 100, errors
    print(f"{errors} errors, no crash")


command, directory, whose = sys.argv[1:]
assert (whose == "ours") == ("HDF5_PLUGIN_PATH" in os.environ)
if whose == "theirs":
    import hdf5plugin  # noqa: F401  registers its filters
{"write": write, "read": read, "damage": damage}[command](Path(directory), whose)
