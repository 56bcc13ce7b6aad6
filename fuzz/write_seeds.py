"""Writes the inputs that the fuzz targets of the command's own parsers start from, as Python and NumPy write them.

    python fuzz/write_seeds.py fuzz/seeds
"""

import io
import pathlib
import pickle
import sys
import zipfile

import msgpack
import numpy as np


def archives():
    """Archives with each kind of member and of end."""
    for name, limit, forced, comment in [
        ("plain", zipfile.ZIP64_LIMIT, False, b""),
        ("comment", zipfile.ZIP64_LIMIT, False, b"about this store"),
        ("forced", zipfile.ZIP64_LIMIT, True, b""),
        ("long", 0, True, b""),
    ]:
        usual, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, limit
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as target:
            target.comment = comment
            target.writestr("dir/", b"")
            for member in ["embed.b2e", "dir/a.b2nd", "gr\u00f6\u00dfe"]:
                with target.open(zipfile.ZipInfo(member), "w", force_zip64=forced) as file:
                    file.write(member.encode())
        zipfile.ZIP64_LIMIT = usual
        yield name, buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w"):
        pass
    yield "empty", buffer.getvalue()


def arrays():
    titled = np.dtype({"names": ["a", "b"], "formats": ["<i2", "|S3"], "offsets": [2, 8], "titles": ["first", None], "itemsize": 16})
    return {
        "numbers": np.arange(6, dtype=">i2").reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6, dtype="<f8").reshape(2, 3)),
        "times": np.arange(3).astype("M8[25s]"),
        "records": np.zeros(2, dtype=[("n", "|S3"), ("v", ">f4", (2,)), ("in", [("x", "<u2"), ("y", "|b1")])]),
        "titled": np.zeros(2, dtype=titled),
        "void": np.zeros(2, dtype="|V5"),
        "text": np.array(["x", "yy"]),
        "scalar": np.float64(7.5),
        "objects": np.array([{}, "x"], dtype=object),
    }


def pickles():
    for name, array in arrays().items():
        for protocol in range(2, 6):
            yield f"{name}-{protocol}", pickle.dumps(array, protocol)


def tuples(value):
    """A value with tuples as python-blosc2 writes them."""
    if isinstance(value, tuple):
        return ["__tuple__", *map(tuples, value)]
    return [tuples(member) for member in value] if isinstance(value, list) else value


def values():
    for name, array in arrays().items():
        array = np.asarray(array)
        kind = array.dtype.descr if array.dtype.kind == "V" else array.dtype.str
        yield f"tensor-{name}", msgpack.packb(tuples(("numpy", array.shape, kind)))
    members = {"/a": {"offset": 0, "length": 400}, "/dir/b": {"offset": 400, "length": 600}}
    yield "embedded", msgpack.packb({"embed_map": members, "current_offset": 1000})
    remote = {"/r": {"urlbase": "https://example.org/", "path": "a.b2nd"}}
    yield "remote", msgpack.packb({"embed_map": remote})
    yield "object", msgpack.packb({"kind": "lazyexpr", "version": 1, "operands": ["a", None, True, 1.5, -70000, 2**40, b"\x00" * 300]})


for target, inputs in [("archive", archives()), ("pickle", pickles()), ("value", values())]:
    directory = pathlib.Path(sys.argv[1]) / target
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in inputs:
        (directory / name).write_bytes(content)
