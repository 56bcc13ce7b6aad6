#!/usr/bin/env python3
"""Changes frames and arrays with python-blosc2 and blosc-oxide in turns, at random, and compares with a model.

All have more than 256 chunks, and blosc-oxide commits several times in a row, so that it keeps index and trailer in two places
that it changes in turns; python-blosc2 writes over both. A handle of blosc-oxide stays open while python-blosc2 changes the frame,
or one is opened for each turn.

usage: turns.py PROGRAM DIRECTORY [TURNS [SEED]]
"""

import hashlib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys

import blosc2
import numpy as np
from blosc2 import SpecialValue
from child import in_child

CHUNK = 400
MOST = 330


class Ours:
    """A process of our side."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, "serve", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer and not answer.startswith("error"), f"{request['do']}: {answer or 'it has died'}"
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def packed(content):
    return bytes([0xC4, len(content)]) + content


class Layers:
    """The metalayers of a model."""

    def __init__(self):
        self.unit, self.layers = b"kelvin", {}

    def digest(self, content):
        whole = hashlib.sha256(content + packed(self.unit))
        for name in sorted(self.layers):
            whole.update(name.encode() + packed(self.layers[name]))
        return whole.hexdigest()

    def change_layers(self, rng):
        name = rng.choice(["one", "other", "a third"])
        kind = rng.choice(["meta", "layer", "layer", "no layer"])
        if kind == "meta":
            self.unit = rng.randbytes(6)
            return {"do": "meta", "data": self.unit.hex()}
        if kind == "no layer" and name in self.layers:
            del self.layers[name]
            return {"do": "no layer", "name": name}
        self.layers[name] = rng.randbytes(rng.randrange(250))
        return {"do": "layer", "name": name, "data": self.layers[name].hex()}

    def problem_of_layers(self, schunk):
        found = {name: schunk.vlmeta[name] for name in schunk.vlmeta if name != "_xxh3"}
        return None if found == self.layers and schunk.meta["unit"] == self.unit else "python-blosc2 finds other metalayers"


def change_layers(schunk, request):
    """The same with python-blosc2."""
    if request["do"] == "meta":
        schunk.meta["unit"] = bytes.fromhex(request["data"])
    elif request["do"] == "layer":
        schunk.vlmeta[request["name"]] = bytes.fromhex(request["data"])
    else:
        del schunk.vlmeta[request["name"]]


class FrameModel(Layers):
    """What a frame should hold."""

    is_array = False

    def __init__(self, rng):
        super().__init__()
        self.chunks = [data(rng) for _ in range(300)]

    def fill(self, ours):
        for chunk in self.chunks:
            ours.ask(do="append", data=chunk.hex())

    def digest(self):
        return super().digest(b"".join(self.chunks))

    def change(self, rng):
        """Makes a change, and tells how it is asked for."""
        kinds = ["append", "append", "insert", "update", "update", "zeros", "delete", "delete the last", "reverse", "layers", "layers"]
        kind, index, chunk = rng.choice(kinds), rng.randrange(len(self.chunks)), data(rng)
        if len(self.chunks) >= MOST and kind in ("append", "insert"):
            kind = "delete"
        if kind == "layers":
            return self.change_layers(rng)
        if kind == "append":
            self.chunks.append(chunk)
        elif kind == "insert":
            self.chunks.insert(index, chunk)
        elif kind in ("update", "zeros"):
            chunk = bytes(CHUNK) if kind == "zeros" else chunk
            self.chunks[index], kind = chunk, "update"
        elif kind == "reverse":
            self.chunks.reverse()
        else:
            index = index if kind == "delete" else len(self.chunks) - 1
            del self.chunks[index]
            kind = "delete"
        return {"do": kind, "index": index, "data": chunk.hex()}

    @staticmethod
    def apply(path, requests):
        """Makes changes with python-blosc2."""
        frame = blosc2.open(path, mode="a")
        for request in requests:
            kind, index = request["do"], request.get("index")
            content = bytes.fromhex(request.get("data", ""))
            if kind == "append":
                frame.append_data(content)
            elif kind == "insert":
                frame.insert_data(index, content, True)
            elif kind == "update" and content == bytes(CHUNK):
                frame.update_special(index, SpecialValue.ZERO)
            elif kind == "update":
                frame.update_data(index, content, True)
            elif kind == "delete":
                frame.delete_chunk(index)
            elif kind == "reverse":
                frame.reorder_offsets(list(range(frame.nchunks))[::-1])
            else:
                change_layers(frame, request)

    def problem(self, path):
        frame = blosc2.open(path, mode="r")
        if [frame.decompress_chunk(index) for index in range(frame.nchunks)] != self.chunks:
            return "python-blosc2 finds other chunks"
        return self.problem_of_layers(frame)


def data(rng):
    """A chunk, some of which compress."""
    return rng.randbytes(CHUNK) if rng.randrange(3) else rng.randbytes(4) * (CHUNK // 4)


class ArrayModel(Layers):
    """What an array should hold."""

    is_array = True

    def __init__(self, rng):
        super().__init__()
        self.items = np.zeros((300, 8), "<i4")

    def fill(self, ours):
        self.items[:] = np.arange(1, 2401).reshape(300, 8)
        ours.ask(do="write", start=0, end=300, data=self.items.tobytes().hex())

    def digest(self):
        shape = b"".join(length.to_bytes(8, "little") for length in self.items.shape)
        return super().digest(shape + self.items.tobytes())

    def change(self, rng):
        kind, rows = rng.choice(["resize", "write", "append rows", "layers"]), len(self.items)
        if kind == "layers":
            return self.change_layers(rng)
        if kind == "append rows" and rows < MOST:
            new = rng_items(rng, rng.randrange(1, 4))
            self.items = np.concatenate([self.items, new])
            return {"do": kind, "data": new.tobytes().hex()}
        if kind == "write":
            start = rng.randrange(rows)
            new = rng_items(rng, rng.randrange(1, min(rows - start, 4) + 1))
            self.items[start : start + len(new)] = new
            return {"do": kind, "start": start, "end": start + len(new), "data": new.tobytes().hex()}
        length = rng.randrange(270, MOST)
        items = np.zeros((length, 8), "<i4")
        items[: min(length, rows)] = self.items[: min(length, rows)]
        self.items = items
        return {"do": "resize", "rows": length}

    @staticmethod
    def apply(path, requests):
        array = blosc2.open(path, mode="a")
        for request in requests:
            kind = request["do"]
            new = np.frombuffer(bytes.fromhex(request.get("data", "")), "<i4") if kind in ("write", "append rows") else None
            rows = array.shape[0]
            if kind == "resize":
                array.resize((request["rows"], 8))
                # What is new may hold anything.
                if request["rows"] > rows:
                    array[rows:] = np.zeros((request["rows"] - rows, 8), "<i4")
            elif kind == "write":
                array[request["start"] : request["end"]] = new.reshape(-1, 8)
            elif kind == "append rows":
                array.resize((rows + len(new) // 8, 8))
                array[rows:] = new.reshape(-1, 8)
            else:
                change_layers(array.schunk, request)

    def problem(self, path):
        array = blosc2.open(path, mode="r")
        if array.shape != self.items.shape or array[...].tobytes() != self.items.tobytes():
            return "python-blosc2 finds other items"
        return self.problem_of_layers(array.schunk)


def rng_items(rng, rows):
    return np.frombuffer(rng.randbytes(rows * 32), "<i4").reshape(rows, 8)


def fail_if(problem, place):
    if problem:
        sys.exit(f"{place}: {problem}")


def take_turns(program, path, model, rng, stays_open, turns, **options):
    """Lets both change what is at a path, and ends the program if they disagree."""
    ours = Ours(program, path)
    ours.ask(do="create", array=model.is_array, **options)
    model.fill(ours)
    ours.ask(do="commit")
    for turn in range(turns):
        place = f"{path}, turn {turn}"
        try:
            for _ in range(rng.randrange(5)):
                for _ in range(rng.randrange(1, 4)):
                    ours.ask(**model.change(rng))
                ours.ask(do="commit")
            fail_if(in_child(lambda: model.problem(path)), place)
            theirs = [model.change(rng) for _ in range(rng.randrange(4))]
            fail_if(in_child(lambda theirs=theirs: model.apply(path, theirs)), place)
            if not stays_open:
                ours.ask(do="open", array=model.is_array)
            for look in ("look", "look afresh"):
                found = ours.ask(do=look, array=model.is_array)
                fail_if(found != model.digest() and f"{look}: blosc-oxide finds something else", place)
        except AssertionError as error:
            sys.exit(f"{place}: {error}")
    ours.end()


def main(program, directory, turns=100, seed=1):
    os.makedirs(directory, exist_ok=True)
    count = 0
    kinds = itertools.product([FrameModel, ArrayModel], [False, True], [True, False], [True, False])
    for kind, sparse, checksums, stays_open in kinds:
        rng = random.Random(f"{seed} {count}")
        path = os.path.join(directory, f"{count}.b2nd" if kind.is_array else f"{count}.b2frame")
        take_turns(program, path, kind(rng), rng, stays_open, int(turns), sparse=sparse, checksums=checksums)
        shutil.rmtree(path) if sparse else os.remove(path)
        count += 1
    print(f"{count} frames and arrays changed by python-blosc2 and blosc-oxide in {turns} turns each")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
