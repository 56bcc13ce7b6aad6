#!/usr/bin/env python3
"""Arrays that blosc-oxide and python-blosc2 change in turn.

usage: b2nd.py create DIRECTORY        makes arrays with python-blosc2
       b2nd.py turn DIRECTORY NUMBER   reads what blosc-oxide left, and changes it

Beside each array `name.b2nd` is `name.npy`, which holds what the array should. All have a metalayer and a variable-length
metalayer that nobody changes.
"""

import glob
import os
import sys

import blosc2
import numpy as np

LEAST = 60
UNIT, NOTE = "kelvin", {"made": "for interop"}
SHAPES = [
    ((7,), (3,), (2,)),
    ((1000,), (333,), (50,)),
    ((13, 17), (5, 6), (2, 4)),
    ((64, 1), (10, 1), (4, 1)),
    ((9, 8, 7), (4, 4, 4), (2, 3, 4)),
    ((3, 4, 5, 6), (2, 3, 4, 5), (1, 3, 2, 2)),
    ((2, 3, 2, 3, 2), (2, 2, 2, 2, 2), (1, 2, 1, 2, 1)),
]
DTYPES = ["|u1", "<i2", "<f4", "<f8", ">i4", "|S9", "<M8[s]", [("a", "<i4"), ("b", "<f8")]]
CODECS = [blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.ZSTD, blosc2.Codec.ZLIB]


def items(seed, shape, dtype):
    """Numbers by formula, as any type."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape)) * dtype.itemsize
    numbers = (np.arange(count, dtype=np.int64) // 3 * (seed % 7 + 1) + seed) % 120
    return np.frombuffer(numbers.astype(np.uint8).tobytes(), dtype=dtype).reshape(shape)


def filters(dtype):
    itemsize = np.dtype(dtype).itemsize
    return [blosc2.Filter.SHUFFLE] if itemsize > 1 else [blosc2.Filter.NOFILTER]


def create(directory):
    os.makedirs(directory, exist_ok=True)
    number = 0
    for shape, chunks, blocks in SHAPES:
        for dtype in DTYPES:
            is_sparse = number % 3 == 2
            cparams = blosc2.CParams(codec=CODECS[number % 4], clevel=5, filters=filters(dtype), filters_meta=[0])
            name = os.path.join(directory, f"theirs-{number}")
            content = items(number, shape, dtype)
            array = blosc2.empty(
                shape,
                np.dtype(dtype),
                urlpath=name + ".b2nd",
                contiguous=not is_sparse,
                chunks=chunks,
                blocks=blocks,
                cparams=cparams,
                meta={"unit": UNIT},
            )
            array[...] = content
            array.schunk.vlmeta["note"] = NOTE
            np.save(name + ".npy", content)
            number += 1
    for meta in (4, 8):
        for kind in range(6):
            name = os.path.join(directory, f"ndlz{meta}-{kind}")
            content = matrix(kind)
            cparams = blosc2.CParams(
                codec=blosc2.Codec.NDLZ, codec_meta=meta, clevel=5, filters=[blosc2.Filter.NOFILTER], filters_meta=[0]
            )
            array = blosc2.empty(
                content.shape,
                content.dtype,
                urlpath=name + ".ndlz",
                chunks=(70, 64),
                blocks=(35, 50),
                cparams=cparams,
            )
            array[...] = content
            np.save(name + ".npy", content)
            number += 1
    print(f"python-blosc2 wrote {number} arrays")
    return number >= LEAST


def matrix(kind):
    """Matrices whose cells repeat in many ways."""
    rng = np.random.default_rng(kind)
    rows = rng.integers(0, 256, (8, 8), dtype=np.uint8)
    if kind == 0:
        return np.add.outer(np.arange(90), np.arange(110)).astype(np.uint8)
    if kind == 1:
        return np.tile(rows, (12, 15))
    choice = rng.integers(0, 3 if kind < 4 else 8, (96, 15))
    content = rows[choice].reshape(96, 120)
    if kind % 2 == 0:
        content[rng.integers(0, 96, 40), rng.integers(0, 120, 40)] = 7
    return content


def check(array, name):
    expected = np.load(name + ".npy")
    assert array.shape == expected.shape, (name, array.shape, expected.shape)
    assert array.dtype == expected.dtype, (name, array.dtype, expected.dtype)
    found = array[...] if array.shape else array[()]
    assert found.tobytes() == expected.tobytes(), name
    assert array.schunk.meta["unit"] == UNIT, name
    assert array.schunk.vlmeta["note"] == NOTE, name
    return expected


def turn(directory, turn_number):
    names = sorted(path[: -len(".b2nd")] for path in glob.glob(os.path.join(directory, "*.b2nd")))
    for number, name in enumerate(names):
        array = blosc2.open(name + ".b2nd", mode="a")
        content = check(array, name)
        seed = turn_number * 31 + number
        if content.ndim and not content.dtype.hasobject:
            content = change(array, content, seed)
        np.save(name + ".npy", content)
        del array
        check(blosc2.open(name + ".b2nd", mode="r"), name)
    print(f"ours read and changed by python-blosc2: {len(names)} arrays")
    return len(names) >= LEAST - 12


def change(array, content, seed):
    """Resizes, and writes a slice. What is new is written too, since its content is up to the library."""
    shape = tuple(max(1, length + (seed + axis) % 4 - 1) for axis, length in enumerate(content.shape))
    array.resize(shape)
    new = np.zeros(shape, content.dtype)
    common = tuple(slice(0, min(a, b)) for a, b in zip(shape, content.shape))
    new[common] = content[common]
    array[...] = new
    part = tuple(slice(length // 3, length // 3 + max(1, length // 2)) for length in shape)
    new[part] = items(seed, new[part].shape, content.dtype)
    array[part] = np.ascontiguousarray(new[part])
    if content.ndim == 1:
        more = items(seed + 1, (5,), content.dtype)
        array.append(more)
        new = np.concatenate([new, more]).astype(content.dtype)
    return new


if __name__ == "__main__":
    if sys.argv[1:2] == ["create"] and len(sys.argv) == 3:
        sys.exit(not create(sys.argv[2]))
    if sys.argv[1:2] == ["turn"] and len(sys.argv) == 4:
        sys.exit(not turn(sys.argv[2], int(sys.argv[3])))
    sys.exit(__doc__)
