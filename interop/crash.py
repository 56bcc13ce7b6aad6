#!/usr/bin/env python3
"""Opens what simulated crashes left of frames with python-blosc2, and compares.

An image whose header is torn, so that only blosc-oxide can tell, is counted by itself: a header of several sectors after a cut
of power in the midst of a change of metalayers, or one that is torn inside a sector, which no disk does.

usage: crash.py DIRECTORY
"""

import collections
import hashlib
import json
import pathlib
import shutil
import sys

import blosc2
from blosc2 import blosc2_ext
from child import in_child

LEAST = 300
CHECKSUMS = "_xxh3"


def digest(schunk):
    """The hash that the library's tests make of a frame's content."""
    whole = hashlib.sha256()

    def add(name, content):
        whole.update(f"{name}:{len(content)}:".encode())
        whole.update(content)

    for index in range(schunk.nchunks):
        add("", schunk.decompress_chunk(index))
    for name in blosc2_ext.meta_keys(schunk):
        add(name, blosc2_ext.meta__getitem__(schunk, name))
    layers = schunk.vlmeta
    for name in layers.get_names():
        if name != CHECKSUMS:
            add(name, blosc2_ext.vlmeta.get_vlmeta(layers, name))
    return whole.hexdigest()


def read(path):
    return digest(blosc2.open(str(path), mode="r"))


def extend(path):
    """Goes on appending to what a crash has left; whether the chunks are all there afterwards.

    A frame whose last chunk is short would become one with chunks of different sizes, in which python-blosc2 loses special
    chunks, crash or not.
    """
    schunk = blosc2.open(str(path), mode="r")
    if schunk.chunksize > 0 and schunk.nbytes % schunk.chunksize:
        return True
    copy = path.with_name("copy.b2frame")
    (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
    try:
        schunk = blosc2.open(str(copy), mode="a")
        before = [schunk.decompress_chunk(index) for index in range(schunk.nchunks)]
        added = bytes(range(200)) * 2
        schunk.append_data(added)
        del schunk
        schunk = blosc2.open(str(copy), mode="r")
        return [schunk.decompress_chunk(index) for index in range(schunk.nchunks)] == before + [added]
    finally:
        shutil.rmtree(copy) if copy.is_dir() else copy.unlink()


def outcome(row, path):
    """What is wrong with an image, or None."""
    try:
        found = read(path)
    except Exception as error:
        return None if row["may_be_missing"] else f"{type(error).__name__}: {error}"
    if found not in row["allowed"]:
        return "differs"
    is_whole = row["header"] == "whole"
    return None if not is_whole or extend(path) else "cannot be extended"


def main(directory):
    directory = pathlib.Path(directory)
    rows = json.loads((directory / "index.json").read_text())
    good, bad = collections.Counter(), collections.Counter()
    for row in rows:
        found = in_child(lambda row=row: outcome(row, directory / row["name"]))
        (bad if found else good)[row["header"]] += 1
        if found and row["header"] == "whole":
            print(f"{row['name']}: {row['what']}, after {row['calls']} calls: {found}")
    for header in sorted(good | bad):
        print(f"crash images, header {header}: {good[header]} read by python-blosc2, {bad[header]} not")
    return 1 if bad["whole"] or good["whole"] < LEAST else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
