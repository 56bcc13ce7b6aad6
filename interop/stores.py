"""Stores and lazy objects of python-blosc2: the command lists, checks and unpacks what python-blosc2 has written.

    python interop/stores.py BLOSC DIRECTORY     write stores of every kind and compare
    python interop/stores.py specimens DIRECTORY write the files of crates/blosc-cli/tests/python
"""

import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

import blosc2
import numpy as np

RELEASE = tuple(int(part) for part in blosc2.__version__.split(".")[:2])


def arrays():
    structured = np.zeros(4, dtype=[("n", "|S3"), ("v", ">f4", (2,))])
    structured["v"] = 1.5
    return {
        "/a": np.arange(500, dtype="<i4"),
        "/dir/b": np.linspace(0, 1, 600).reshape(20, 30),
        "/dir/deep/er/c": np.array(7.25),
        "/empty": np.zeros((0, 3), dtype="<u2"),
        "/dir/strings": np.array(["x", "yy"]),
        "/records": structured,
        "/gr\u00f6\u00dfe": np.arange(5, dtype=">i8"),
    }


def fill(store):
    for key, array in arrays().items():
        store[key] = blosc2.asarray(array)
    schunk = blosc2.SChunk(chunksize=1000, cparams={"typesize": 1})
    schunk.append_data(b"plain data" * 100)
    store["/dir/schunk"] = schunk


def stores(root):
    """Every kind of store that this release has: where it is, and what it is."""
    if hasattr(blosc2, "EmbedStore"):
        path = root / "embed.b2e"
        fill(blosc2.EmbedStore(urlpath=str(path), mode="w"))
        yield path, "b2e"
    for name in ["DictStore", "TreeStore"]:
        if not hasattr(blosc2, name):
            continue
        for extension in ["b2z", "b2d"]:
            # All in files, all in the frame, and some of each.
            for threshold in [0, 10**9, 2000]:
                path = root / f"{name}-{threshold}.{extension}"
                with getattr(blosc2, name)(str(path), mode="w", threshold=threshold) as store:
                    fill(store)
                    if name == "TreeStore":
                        store.vlmeta["author"] = "somebody"
                yield path, extension


def run(command, *args, code=0):
    done = subprocess.run([command, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == code, (args, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def same(path, wanted):
    got = np.load(path)
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (path, got.dtype, got.shape, wanted.dtype)
    assert got.tobytes() == wanted.tobytes(), path


def check(command, path, kind, scratch):
    listed = json.loads(run(command, "info", "--json", path))
    assert listed["format"] == kind, listed["format"]
    keys = {member["key"] for member in listed["members"]}
    wanted = {key[1:] for key in arrays()} | {"dir/schunk"}
    assert wanted <= keys <= wanted | {"__vlmeta__"}, (path, keys ^ wanted)
    run(command, "verify", path)
    whole = scratch / "whole"
    run(command, "decompress", "--npy", "--no-sync", path, whole)
    for key, array in arrays().items():
        same(whole / (key[1:] + ".npy"), array)
        run(command, "decompress", "--no-sync", "--force", f"{path}{key}", scratch / "member.npy")
        same(scratch / "member.npy", array)
        run(command, "convert", "--no-sync", "--force", f"{path}{key}", "-o", scratch / "member.b2nd")
        opened = blosc2.open(str(scratch / "member.b2nd"), mode="r")
        assert np.array_equal(opened[()] if opened.shape == () else opened[:], array)
    shutil.rmtree(whole)
    run(command, "decompress", "--no-sync", path, whole)
    assert (whole / "dir/schunk").read_bytes() == b"plain data" * 100
    shutil.rmtree(whole)
    if kind != "b2e":
        copied = scratch / "copied.b2d"
        run(command, "convert", "--no-sync", path, copied)
        # A store that python-blosc2 opens again.
        with blosc2.DictStore(str(copied), mode="r") as store:
            for key, array in arrays().items():
                opened = store[key]
                assert np.array_equal(opened[()] if opened.shape == () else opened[:], array), key
        shutil.rmtree(copied)


def lazy_files(root):
    one = blosc2.asarray(np.arange(10.0), urlpath=str(root / "one.b2nd"), mode="w")
    two = blosc2.asarray(np.ones(10), urlpath=str(root / "two.b2nd"), mode="w")
    (one + two * 2).save(urlpath=str(root / "lazy.b2nd"))
    return root / "lazy.b2nd"


def check_lazy(command, root):
    path = lazy_files(root)
    for args in [("decompress", path, "-"), ("cat", path), ("convert", path, root / "out.blp"), ("decompress", "--npy", path, root / "out.npy")]:
        message = run(command, *args, code=1)
        assert "has no data of its own" in message, message
    assert "a saved lazy" in run(command, "info", path)


def check_hostile(command, root, good):
    """Archives that no store should be, made from one that is good."""
    def archive(name, change, method=zipfile.ZIP_STORED):
        path = root / name
        with zipfile.ZipFile(good) as source, zipfile.ZipFile(path, "w", method) as target:
            for info in source.infolist():
                target.writestr(info.filename, source.read(info))
            change(target)
        return path

    evil = lambda name: lambda target: target.writestr(zipfile.ZipInfo(name), b"evil")
    cases = [
        archive("up.b2z", evil("../evil")),
        archive("absolute.b2z", evil("/abs/evil")),
        archive("deflated.b2z", lambda target: None, zipfile.ZIP_DEFLATED),
    ]
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    cases.append(archive("link.b2z", lambda target: target.writestr(link, "/etc/passwd")))
    for path in cases:
        target = root / "unpacked"
        run(command, "decompress", path, target, code=1)
        assert not target.exists() and not (root / "evil").exists(), path
    damaged = bytearray(good.read_bytes())
    damaged[60] ^= 1
    (root / "damaged.b2z").write_bytes(damaged)
    assert "checksum" in run(command, "verify", root / "damaged.b2z", code=1)


def long_archive(good, path, limit):
    """The same archive with sizes of 64 bits wherever Python writes them for what is larger than `limit`, in front of each
    member as well."""
    usual, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, limit
    try:
        with zipfile.ZipFile(good) as source, zipfile.ZipFile(path, "w") as target:
            for info in source.infolist():
                with target.open(zipfile.ZipInfo(info.filename), "w", force_zip64=True) as member:
                    member.write(source.read(info))
    finally:
        zipfile.ZIP64_LIMIT = usual


def check_long(command, root, good):
    """Archives with sizes of 64 bits, and with so many members that their number takes them."""
    for limit in [zipfile.ZIP64_LIMIT, 100, 0]:
        long_archive(good, root / "long.b2z", limit)
        assert run(command, "info", root / "long.b2z").splitlines()[1:] == run(command, "info", good).splitlines()[1:]
        run(command, "verify", root / "long.b2z")
    for more in [65_535, 65_536]:
        path = root / "many.b2z"
        with zipfile.ZipFile(good) as source, zipfile.ZipFile(path, "w") as target:
            for info in source.infolist():
                target.writestr(info.filename, source.read(info))
            for index in range(more - len(source.infolist())):
                target.writestr(f"notes/{index}", b"")
        target = root / "unpacked"
        run(command, "decompress", "--no-sync", path, target)
        assert sum(1 for _ in (target / "notes").iterdir()) == more - len(zipfile.ZipFile(good).infolist())
        shutil.rmtree(target)


def specimens(root):
    root.mkdir(parents=True, exist_ok=True)
    array = np.arange(12, dtype=">i2").reshape(3, 4)
    records = np.array([(b"a", 1.5), (b"bc", -2.0)], dtype=[("n", "|S3"), ("v", "<f8")])
    blosc2.save_array(array, str(root / "save_array.b2frame"), mode="w")
    blosc2.save_tensor(records, str(root / "save_tensor.b2frame"), mode="w")
    (root / "pack_array.bin").write_bytes(blosc2.pack_array(np.asfortranarray(array)))
    (root / "pack_objects.bin").write_bytes(blosc2.pack_array(np.array([{}, "x"] * 20, dtype=object)))
    for name in ["embed.b2e", "dict.b2z", "dict.b2d"]:
        path = str(root / name)
        if name == "embed.b2e":
            store = blosc2.EmbedStore(urlpath=path, mode="w")
        else:
            store = blosc2.DictStore(path, mode="w", threshold=100)
        store["/big"] = blosc2.asarray(np.arange(60, dtype="<u4").reshape(6, 10))
        store["/dir/small"] = blosc2.asarray(array)
        if name != "embed.b2e":
            store.close()
    for name, limit in [("forced.b2z", zipfile.ZIP64_LIMIT), ("long.b2z", 0)]:
        long_archive(root / "dict.b2z", root / name, limit)
    lazy = lazy_files(root)
    for name in ["one.b2nd", "two.b2nd"]:
        (root / name).unlink()
    assert lazy.exists()


def main(command, root):
    if command == "specimens":
        return specimens(root)
    scratch = root / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    count, good = 0, None
    for path, kind in stores(root):
        check(command, path, kind, scratch)
        count += 1
        if kind == "b2z":
            good = path
    check_lazy(command, root)
    if good:
        check_hostile(command, root, good)
        check_long(command, root, good)
    print(f"stores of python-blosc2 {blosc2.__version__}: {count} are listed, verified and unpacked")
    assert count >= 13 or RELEASE < (4, 14), count


main(sys.argv[1], pathlib.Path(sys.argv[2]))
