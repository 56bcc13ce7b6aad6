"""Arrays that python-blosc2 and python-blosc have saved: the command gives the same ones back.

    python interop/arrays_of_python.py BLOSC DIRECTORY [short]

`short` takes each type in two shapes instead of all, and one way through other formats instead of three.
"""

import pathlib
import subprocess
import sys

import blosc2
import numpy as np

try:
    import blosc
except ImportError:
    blosc = None

PADDED = {"names": ["a", "b"], "formats": ["u1", "<f8"], "offsets": [0, 8], "itemsize": 24}
DTYPES = [
    "|b1", "|i1", "|u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">i8", "<f2", "<f4", ">f4", "<f8", ">f8", "<f16",
    "<c8", ">c16", "|S1", "|S7", "<U1", ">U5", "<M8[ns]", ">M8[25s]", "<m8[D]", "<M8", "|V5",
    [("n", "|S3"), ("v", "<i4")],
    [("p", [("x", "<f4"), ("y", ">f4")]), ("q", "<i2", (2, 3)), ("s", "<U2")],
    [("it's", "<f8"), ("gr\u00f6\u00dfe", ">u2")],
    PADDED,
]  # fmt: skip
SHAPES = [(), (0,), (1,), (7,), (0, 3), (5, 7), (3, 4, 5), (1, 1, 1, 9)]


def filled(dtype, shape):
    """Items of any type: bytes that are good for all of them."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=int)) * dtype.itemsize
    array = (np.arange(count, dtype=np.uint8) % 2).tobytes()
    return np.frombuffer(array, dtype=dtype).reshape(shape).copy()


IS_SHORT = sys.argv[3:] == ["short"]


def arrays():
    for number, dtype in enumerate(DTYPES):
        few = [SHAPES[number % len(SHAPES)], (3, 4, 5)]
        for shape in few if IS_SHORT else SHAPES:
            yield f"{number}-{'x'.join(map(str, shape)) or 'item'}", filled(dtype, shape)


def run(command, *args):
    done = subprocess.run([command, *map(str, args), "--no-sync"], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.returncode, done.stderr)


def described(array):
    return array.dtype.descr if array.dtype.kind == "V" and array.dtype.names else array.dtype.str


def check(command, path, wanted):
    """What the command makes of `path`, straight and by way of an array of Blosc2 and a Bloscpack file."""
    npy = path.with_suffix(".npy")
    for by in [None, ".b2nd"] if IS_SHORT else [None, ".b2nd", ".blp", ".b2frame"]:
        source = path
        if by:
            source = path.with_name("by" + by)
            run(command, "convert", "--force", path, "-o", source)
        run(command, "decompress", "--npy", "--force", source, npy)
        got = np.load(npy)
        assert described(got) == described(wanted), (path, by, got.dtype, wanted.dtype)
        assert got.shape == wanted.shape, (path, by, got.shape, wanted.shape)
        # NumPy does not copy what is between fields.
        assert got.tobytes() == wanted.tobytes() or (got.dtype.names and (got == wanted).all()), (path, by)
        assert np.isfortran(got) == np.isfortran(wanted), (path, by)
    npy.unlink()


def writers(array):
    """Every way to save an array that this release has, with the array it stands for."""
    yield "pack_array", lambda path: path.write_bytes(blosc2.pack_array(array))
    if blosc:
        yield "blosc1", lambda path: path.write_bytes(blosc.pack_array(array))
    for name in ["save_array", "save_tensor"]:
        if hasattr(blosc2, name) and array.flags.c_contiguous:
            yield name, lambda path, name=name: getattr(blosc2, name)(array, str(path), mode="w")
    for name in ["pack_array2", "pack_tensor"]:
        if hasattr(blosc2, name) and array.flags.c_contiguous:
            yield name, lambda path, name=name: path.write_bytes(getattr(blosc2, name)(array))


def main(command, root):
    root.mkdir(parents=True, exist_ok=True)
    count, refused = 0, 0
    for name, array in arrays():
        strided = np.repeat(array, 2, 0)[::2] if array.ndim else array
        for variant in [array, np.asfortranarray(array), strided]:
            for how, write in writers(variant):
                path = root / f"{how}.bin"
                path.unlink(missing_ok=True)
                try:
                    write(path)
                except Exception:
                    # A type or a shape that this release cannot save.
                    refused += 1
                    continue
                try:
                    check(command, path, variant)
                except AssertionError as error:
                    raise AssertionError(f"{how} of {name}: {error}") from error
                count += 1
    print(f"arrays saved by python-blosc2 {blosc2.__version__}: {count} come back, {refused} it refuses to save")
    assert count > (700 if IS_SHORT else 1000), count


main(sys.argv[1], pathlib.Path(sys.argv[2]))
