#!/usr/bin/env python3
"""The side of bloscpack 0.16.0 in the interop test.

usage: bloscpack_files.py read DIRECTORY     checks every file of the manifest
       bloscpack_files.py append DIRECTORY   appends to every file with room, and writes down what it holds now
       bloscpack_files.py write DIRECTORY    writes files of every kind, and their manifest
       bloscpack_files.py arrays DIRECTORY   writes .npy files
       bloscpack_files.py check DIRECTORY    checks what became of those as .blp and .back.npy
"""

import collections
import collections.abc
import hashlib
import json
import os
import sys
import tempfile

# Names that Python 3.10 took away from where bloscpack 0.16.0 looks for them.
for alias in ("Callable", "Iterable", "Mapping", "MutableMapping", "Sequence"):
    if alias not in vars(collections):
        setattr(collections, alias, getattr(collections.abc, alias))

import bloscpack  # noqa: E402
import numpy as np  # noqa: E402
from bloscpack.append import append as append_file  # noqa: E402

CHECKSUMS = ["None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
LEAST_READ = 70
# bloscpack takes the padding between aligned fields for a field, also in what it wrote itself.
NOT_FOR_BLOSCPACK = {"aligned"}
EXTRA = bytes(range(256)) * 3


def read_manifest(directory):
    with open(os.path.join(directory, "manifest.json")) as file:
        return json.load(file)


def write_manifest(directory, rows):
    with open(os.path.join(directory, "manifest.json"), "w") as file:
        json.dump(rows, file)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def problem_of(directory, row):
    try:
        data, metadata = bloscpack.unpack_bytes_from_file(os.path.join(directory, row["file"]))
    except Exception as error:
        return f"{row['file']}: {type(error).__name__}: {error}"
    if len(data) != row["nbytes"] or sha256(data) != row["sha256"]:
        return f"{row['file']}: other bytes, {len(data)} of {row['nbytes']}"
    if metadata != row["metadata"]:
        return f"{row['file']}: other metadata, {metadata}"
    return None


def report(what, count, problems):
    for problem in problems[:40]:
        print(problem)
    print(f"{what}: {count}, {len(problems)} differ")
    if problems or count == 0:
        sys.exit(1)


def read(directory):
    rows = read_manifest(directory)
    problems = [problem for row in rows if (problem := problem_of(directory, row))]
    if len(rows) < LEAST_READ:
        problems.append(f"only {len(rows)} files are there")
    report(f"files of {directory} read by bloscpack 0.16.0", len(rows), problems)


def append(directory):
    rows = read_manifest(directory)
    count, problems = 0, []
    with tempfile.NamedTemporaryFile() as extra:
        extra.write(EXTRA)
        extra.flush()
        for row in rows:
            path = os.path.join(directory, row["file"])
            data, _ = bloscpack.unpack_bytes_from_file(path)
            try:
                append_file(path, extra.name)
            except Exception as error:
                # Neither a file without offsets nor one without room can be appended to by it.
                if type(error).__name__ not in ("RuntimeError", "NotEnoughSpace"):
                    problems.append(f"{row['file']}: {type(error).__name__}: {error}")
                continue
            row["nbytes"], row["sha256"] = len(data) + len(EXTRA), sha256(data + EXTRA)
            count += 1
    write_manifest(directory, rows)
    report("files of blosc-oxide appended to by bloscpack 0.16.0", count, problems)


def write(directory):
    os.makedirs(directory, exist_ok=True)
    rows = []

    def add(name, data, metadata=None, chunk_size="4K", **arguments):
        bloscpack.pack_bytes_to_file(
            data, os.path.join(directory, name), chunk_size=chunk_size, metadata=metadata, **arguments
        )
        rows.append({"file": name, "nbytes": len(data), "sha256": sha256(data), "metadata": metadata})

    data = np.arange(5000, dtype="<i8").tobytes()
    for checksum in CHECKSUMS:
        for offsets in (False, True):
            arguments = bloscpack.BloscpackArgs(offsets=offsets, checksum=checksum)
            add(f"{checksum}-{offsets}.blp", data, bloscpack_args=arguments)
        metadata_arguments = bloscpack.MetadataArgs(meta_checksum=checksum)
        add(f"meta-{checksum}.blp", data, {"note": "x" * 100, "größe": [1, 2.5, None]}, metadata_args=metadata_arguments)
    for codec in CODECS:
        for shuffle in (False, True):
            for level in (0, 1, 5, 9):
                arguments = bloscpack.BloscArgs(cname=codec, shuffle=shuffle, clevel=level)
                add(f"{codec}-{shuffle}-{level}.blp", data, blosc_args=arguments)
    for nbytes in (0, 1, 4095, 4096, 4097):
        add(f"length-{nbytes}.blp", data[:nbytes])
    for room in (0, 1, 1000):
        add(f"room-{room}.blp", data, bloscpack_args=bloscpack.BloscpackArgs(max_app_chunks=room))
    write_manifest(directory, rows)
    print(f"bloscpack 0.16.0 wrote {len(rows)} files")


def all_arrays():
    """Arrays by name."""
    numbers = np.arange(6000)
    struct = np.zeros(500, dtype=[("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    struct["a"], struct["b"], struct["c"] = numbers[:500], numbers[:500] / 2, b"xyz"
    nested = np.zeros(300, dtype=[("p", [("x", "<f4"), ("y", "<f4")]), ("id", "<u8", (2,))])
    nested["p"]["x"] = numbers[:300]
    return {
        "f8": np.sin(numbers),
        "i4-2d": numbers.astype("<i4").reshape(60, 100),
        "i4-2d-fortran": np.asfortranarray(numbers.astype("<i4").reshape(60, 100)),
        "u2-3d": numbers.astype("<u2").reshape(10, 20, 30),
        "be-i4": numbers.astype(">i4"),
        "bool": numbers % 3 == 0,
        "c16": np.exp(1j * numbers),
        "S7": np.array([b"abc", b"defghij"] * 300, dtype="S7"),
        "U5": np.array(["añb", "ç", "zz☃"] * 200, dtype="<U5"),
        "datetime": numbers.astype("<M8[s]"),
        "0d": np.array(3.25),
        "empty": np.zeros((0, 4), dtype="<i4"),
        "struct": struct,
        "struct-nested": nested,
        "aligned": np.zeros(50, dtype=np.dtype([("a", "u1"), ("b", "<f8")], align=True)),
    }


def arrays(directory):
    os.makedirs(directory, exist_ok=True)
    for name, array in all_arrays().items():
        np.save(os.path.join(directory, name + ".npy"), array)


def same(found, expected):
    """Fields, not bytes: the padding of structures is not part of an array."""
    order = found.flags.f_contiguous == expected.flags.f_contiguous
    return found.dtype == expected.dtype and found.shape == expected.shape and order and (found == expected).all()


def check(directory):
    problems = []
    for name, expected in all_arrays().items():
        path = os.path.join(directory, name)
        if not same(np.load(path + ".back.npy"), expected):
            problems.append(f"{name}: another array came back")
        if name in NOT_FOR_BLOSCPACK:
            continue
        try:
            if not same(bloscpack.unpack_ndarray_from_file(path + ".blp"), expected):
                problems.append(f"{name}: bloscpack reads another array")
        except Exception as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
    report("arrays converted by blosc-oxide, and back, and read by bloscpack 0.16.0", len(all_arrays()), problems)


if __name__ == "__main__":
    COMMANDS = {command.__name__: command for command in (read, append, write, arrays, check)}
    if len(sys.argv) != 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](sys.argv[2])
