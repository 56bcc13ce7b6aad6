"""Values as `blosc head` prints them, compared with what NumPy prints.

    python interop/values.py BLOSC DIRECTORY
"""

import pathlib
import shutil
import subprocess
import sys

import numpy as np

blosc, root = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
numbers = np.random.default_rng(7)


def arrays():
    for dtype in ("i1", "u2", ">i4", "i8", "u8"):
        yield numbers.integers(0, 100, (3, 50)).astype(dtype)
        yield numbers.integers(0, 2, 7).astype(dtype) - np.array(1, dtype) if dtype != "u8" else np.array([2**64 - 1, 0], dtype)
    for dtype in ("f2", "f4", "f8", ">f8"):
        yield numbers.normal(0, 1, (4, 9)).astype(dtype)
        yield np.array([1.0, 2.5, -3.25, 100], dtype)
        yield np.array([0, 0.1, 1 / 3, 2 / 3], dtype)
        yield np.array([np.nan, 1, np.inf, -np.inf], dtype)
        yield np.array([0.0, -0.0, 1.0], dtype)
        yield np.array([], dtype)
    for dtype in ("f4", "f8"):
        yield np.array([1e-5, 1.5e10], dtype)
        yield np.array([1e-300 if dtype == "f8" else 1e-30, 1.0], dtype)
        yield np.array([123456789.0, 0.5], dtype)
        yield np.array([999.9999, 1.0], dtype)
        yield 10.0 ** numbers.uniform(-6, 9, (5, 7)).astype(dtype)
        yield np.arange(5000, dtype=dtype).reshape(50, 100) / 8
    for dtype in ("c8", "c16"):
        yield (numbers.normal(0, 1, 6) + 1j * numbers.normal(0, 1, 6)).astype(dtype)
        yield np.array([1 + 2j, 3 - 4j], dtype)
    yield np.array([[True, False], [False, True]])
    yield np.array([b"ab", b"c", b""])
    yield np.array(["ab", "größe"])
    yield np.array(["2020-02-29", "1969-12-31"], "M8[D]")
    yield np.array(["2020-02-29T01:02:03.000000004", "NaT"], "M8[ns]")
    yield np.array(["2020-02", "1960-12"], "M8[M]")
    yield np.array(["2020", "1960"], "M8[Y]")
    yield np.array(["2020-02-29T05", "1960-12-01T23"], "M8[h]")
    yield np.array([5, -7], "m8[s]")
    yield np.array([(1, 2.5, b"ab"), (300, 0.25, b"c")], [("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    yield np.arange(24).reshape(2, 3, 4)
    yield np.arange(120).reshape(1, 2, 3, 4, 5)
    yield np.arange(6000).reshape(10, 20, 30)
    yield np.asfortranarray(np.arange(60).reshape(6, 10))
    yield np.arange(1001)
    yield np.array(5)


count = 0
with np.printoptions(legacy=False):
    for number, array in enumerate(arrays()):
        npy = root / f"{number}.npy"
        np.save(npy, array)
        files = [npy]
        if array.size:
            made = root / f"{number}.b2nd"
            subprocess.run([blosc, "-q", npy, "-o", made], check=True)
            files.append(made)
        for path in files:
            done = subprocess.run([blosc, "head", path, "--slice", "..."], capture_output=True, text=True, check=True)
            if done.stdout != f"{array}\n":
                sys.exit(f"{path.name}, {array.dtype}: NumPy prints\n{array}\nand blosc\n{done.stdout}")
            count += 1
print(f"{count} arrays are printed as NumPy {np.__version__} does")
