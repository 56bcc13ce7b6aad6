"""A set of chunks in one directory: `chunks.bin`, one after another, and `index.json`, a list that says where each is.

Each row of the index has `name`, `offset`, `length`, `format` (blosc1 or blosc2), `nbytes` and `sha256` of the plain bytes.
"""

import hashlib
import json
import os


class Writer:
    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.directory = directory
        self.rows = []
        self.chunks = bytearray()

    def add(self, name, form, chunk, plain):
        digest = hashlib.sha256(plain).hexdigest()
        where = {"offset": len(self.chunks), "length": len(chunk)}
        self.rows.append({"name": name, "format": form, **where, "nbytes": len(plain), "sha256": digest})
        self.chunks += chunk

    def finish(self):
        with open(os.path.join(self.directory, "chunks.bin"), "wb") as file:
            file.write(self.chunks)
        with open(os.path.join(self.directory, "index.json"), "w") as file:
            json.dump(self.rows, file)


def read(directory):
    """Every row of the index with its chunk."""
    with open(os.path.join(directory, "chunks.bin"), "rb") as file:
        chunks = file.read()
    with open(os.path.join(directory, "index.json")) as file:
        rows = json.load(file)
    return [(row, chunks[row["offset"] : row["offset"] + row["length"]]) for row in rows]
