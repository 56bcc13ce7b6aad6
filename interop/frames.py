#!/usr/bin/env python3
"""Frames that blosc-oxide and python-blosc2 change in turn, and at the same time.

usage: frames.py create DIRECTORY                    makes frames with python-blosc2
       frames.py check DIRECTORY TURN disk|memory    reads what blosc-oxide wrote, and changes it
       frames.py whole DIRECTORY                     reads frames as a whole that python-blosc2 cannot read so
       frames.py lock DIRECTORY PROGRAM              appends to one frame together with PROGRAM, which is our side of this test

Beside each frame is a file that says what it holds: a list of chunks, each given by a formula, and the metalayers.
"""

import collections
import json
import os
import struct
import subprocess
import sys

import blosc2
import numpy as np
from blosc2 import SpecialValue, blosc2_ext
from child import in_child

LEAST = 60
CHECKSUMS = "_xxh3"
# The most variable-length metalayers that C-Blosc2 writes.
MOST_LAYERS = 16
CHUNK = 2000
# Appending to a frame in memory, python-blosc2 corrupts its heap if there are 1000 chunks or more, whoever made the frame.
MOST_IN_MEMORY = 300
# In a frame in memory, python-blosc2 forgets larger sizes of items, whoever made the frame.
MOST_TYPESIZE_IN_MEMORY = 255


def bytes_of(formula):
    if "blocks" in formula:
        return b"".join(bytes_of(block) for block in formula["blocks"])
    nbytes = formula["nbytes"]
    if "pattern" in formula:
        return repeated(bytes.fromhex(formula["pattern"]), nbytes)
    factor, start, divisor = formula["ramp"]
    return ((np.arange(nbytes, dtype=np.int64) // divisor * factor + start) & 0xFF).astype(np.uint8).tobytes()


def repeated(pattern, nbytes):
    return (pattern * (nbytes // len(pattern) + 1))[:nbytes]


def ramp(number, nbytes):
    return {"ramp": [1 + number % 7, number % 251, 1 + number % 5], "nbytes": nbytes}


def pattern(content, nbytes):
    return {"pattern": content.hex(), "nbytes": nbytes}


class Case:
    """A frame and what it should hold, changed together."""

    def __init__(self, frame, note):
        self.frame, self.note, self.chunks = frame, note, note["chunks"]

    def append(self, number, nbytes):
        self.chunks.append(ramp(number, nbytes))
        self.frame.append_data(bytes_of(self.chunks[-1]))

    def update(self, index, number, nbytes):
        self.chunks[index] = ramp(number, nbytes)
        self.frame.update_data(index, bytes_of(self.chunks[index]), True)

    def insert(self, index, number, nbytes):
        self.chunks.insert(index, ramp(number, nbytes))
        self.frame.insert_data(index, bytes_of(self.chunks[index]), True)

    def delete(self, index):
        del self.chunks[index]
        self.frame.delete_chunk(index)

    def reverse(self):
        order = list(range(len(self.chunks)))[::-1]
        self.note["chunks"] = self.chunks = [self.chunks[index] for index in order]
        self.frame.reorder_offsets(order)

    def set_slice(self, start, count):
        """Overwrites items, of which all chunks have the same number."""
        typesize, size = self.frame.typesize, self.frame.chunksize
        data = bytearray().join(bytes_of(formula) for formula in self.chunks)
        value = repeated(b"slice", count * typesize)
        data[start * typesize : (start + count) * typesize] = value
        self.frame[start : start + count] = value
        for index in range(start * typesize // size, ((start + count) * typesize - 1) // size + 1):
            content = bytes(data[index * size : (index + 1) * size])
            self.chunks[index] = pattern(content, len(content))

    def update_to_zeros(self, index):
        size = self.chunks[index]["nbytes"]
        self.chunks[index] = pattern(b"\0", size)
        self.frame.update_special(index, SpecialValue.ZERO)

    def fill(self, kind, value, count):
        """Fills an empty frame."""
        content = {SpecialValue.VALUE: value}.get(kind)
        self.frame.fill_special(count * CHUNK // self.frame.typesize, kind, content)
        formula = dict(pattern(value, CHUNK), uninit=kind == SpecialValue.UNINIT)
        self.chunks.extend([formula] * count)

    def set_meta(self, name, content):
        """Changes a metalayer; its length must stay."""
        self.note["meta"][name] = content.hex()
        self.frame.meta[name] = content

    def set_vlmeta(self, name, content):
        self.note["vlmeta"][name] = content.hex()
        self.frame.vlmeta[name] = content

    def remove_vlmeta(self, name):
        del self.note["vlmeta"][name]
        del self.frame.vlmeta[name]

    def is_even(self):
        """Whether all chunks are of the same length."""
        return not self.note["vlblocks"] and len({formula["nbytes"] for formula in self.chunks}) == 1

    def finish(self):
        note, frame = self.note, self.frame
        note["is_variable"] = frame.chunksize == 0
        note["vlblocks"] = any("blocks" in formula for formula in self.chunks)
        note["typesize"], note["level"] = frame.typesize, frame.cparams.clevel
        note["codec"] = frame.cparams.codec.name.lower()
        with open(os.path.splitext(note["path"])[0] + ".json", "w") as file:
            json.dump(note, file)


def problem(frame, note):
    """What is wrong with a frame, or None."""
    if frame.nchunks != len(note["chunks"]):
        return f"{frame.nchunks} chunks instead of {len(note['chunks'])}"
    options = [frame.typesize, frame.cparams.codec.name.lower(), frame.cparams.clevel]
    if options != [note["typesize"], note["codec"], note["level"]]:
        return f"its options are {options}"
    whole = []
    for index, formula in enumerate(note["chunks"]):
        found = frame.decompress_chunk(index)
        # What was never written can be anything.
        expected = found if formula.get("uninit") else bytes_of(formula)
        whole.append(expected)
        if found != expected or len(found) != len(bytes_of(formula)):
            return f"chunk {index} is another"
    whole = b"".join(whole)
    if frame.nbytes != len(whole):
        return f"{frame.nbytes} bytes instead of {len(whole)}"
    # C-Blosc2 divides by the size of chunks, which is 0 when they differ.
    has_slices = not note["is_variable"] and not note["vlblocks"]
    is_known = not any(formula.get("uninit") for formula in note["chunks"])
    if whole and has_slices and is_known and frame[:] != whole:
        return "read as a whole it is another"
    return layer_problem(frame, note)


def layer_problem(frame, note):
    found = {name: frame.meta[name].hex() for name in blosc2_ext.meta_keys(frame)}
    if found != note["meta"]:
        return f"metalayers {found} instead of {note['meta']}"
    found = {name: frame.vlmeta[name].hex() for name in frame.vlmeta if name != CHECKSUMS}
    if found != note["vlmeta"]:
        return f"variable-length metalayers {found} instead of {note['vlmeta']}"
    if CHECKSUMS in frame.vlmeta:
        version, algorithm, digest, hashes = frame.vlmeta[CHECKSUMS]
        if version not in (1, 2) or algorithm != "xxh3_64" or not isinstance(digest, int) or not isinstance(hashes, bytes):
            return f"the checksums read as {version}, {algorithm}"
    return None


def change(case, turn):
    """Changes a frame and the note about it, as a user of python-blosc2 would."""
    frame, note, seed = case.frame, case.note, 100_000 + 1000 * turn
    if "kept" in note["meta"]:
        length = len(note["meta"]["kept"]) // 2
        case.set_meta("kept", repeated(b"turn %d of theirs; " % turn, length))
    if note["only_meta"] or note["vlblocks"]:
        return
    size = frame.chunksize if frame.chunksize > 0 else CHUNK
    case.append(seed, size)
    case.append(seed + 1, size)
    if case.is_even():
        case.update(0, seed + 2, size)
        case.insert(1, seed + 3, size)
        case.delete(2)
        if len(case.chunks) < 100:
            case.reverse()
        if not any(formula.get("uninit") for formula in case.chunks):
            case.set_slice(1, min(size // frame.typesize, 600))
        if turn % 2:
            case.update_to_zeros(1)
    if "theirs 1" in note["vlmeta"]:
        case.set_vlmeta("theirs 1", b"changed in turn %d, and longer" % turn)
    if "theirs 2" in note["vlmeta"]:
        case.remove_vlmeta("theirs 2")
    if len(list(frame.vlmeta)) < MOST_LAYERS:
        case.set_vlmeta(f"theirs {turn}", b"by python-blosc2")


def is_in_memory(note, via):
    """Whether a frame is opened from its bytes; never if python-blosc2 cannot do that."""
    is_small = len(note["chunks"]) <= MOST_IN_MEMORY and note["typesize"] <= MOST_TYPESIZE_IN_MEMORY
    return via == "memory" and is_small and not os.path.isdir(note["path"])


def opened(note, mode, via):
    path = note["path"]
    if is_in_memory(note, via):
        with open(path, "rb") as file:
            return blosc2.schunk_from_cframe(file.read(), copy=True)
    return blosc2.open(path, mode=mode)


def save(frame, note):
    with open(note["path"], "wb") as file:
        file.write(frame.to_cframe())


def visit(note, turn, via):
    found = problem(opened(note, "r", via), note)
    if found or not note["can_extend"]:
        return found
    case = Case(opened(note, "a", via), note)
    change(case, turn)
    case.finish()
    if is_in_memory(note, via):
        save(case.frame, note)
    del case
    found = problem(opened(note, "r", via), note)
    return f"after python-blosc2 changed it: {found}" if found else None


def notes(directory):
    for name in sorted(os.listdir(directory)):
        if name.endswith(".json"):
            with open(os.path.join(directory, name)) as file:
                yield json.load(file)


def check(directory, turn, via):
    count, failures = 0, []
    for note in notes(directory):
        count += 1
        # What kills the process must not end the test.
        found = in_child(lambda note=note: visit(note, int(turn), via))
        if found:
            failures.append(f"{note['path']}: {found}")
    for line in failures[:40]:
        print(line)
    print(f"{count} frames read and changed by python-blosc2 ({via}), {len(failures)} differ")
    return 1 if failures or count < LEAST else 0


def whole(directory):
    """Reads frames with chunks of different sizes or variable-length blocks in one go, which blosc-oxide has done."""
    outcomes = collections.Counter()
    for note in notes(directory):
        if note["is_variable"] or note["vlblocks"]:
            outcomes[in_child(lambda note=note: read_whole(note)) or "is right"] += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{count} frames read by blosc-oxide as a whole, where python-blosc2: {outcome}")
    return 1 if outcomes["is wrong"] else 0


def read_whole(note):
    expected = b"".join(bytes_of(formula) for formula in note["chunks"])
    return None if opened(note, "r", "disk")[:] == expected else "is wrong"


class Maker:
    """Makes frames of one kind: in a file, in a directory, or in memory."""

    def __init__(self, directory, kind):
        self.directory, self.kind = directory, kind

    def path(self, name):
        return os.path.join(self.directory, f"{name}-{self.kind}.b2frame")

    def case(self, name, typesize=4, chunksize=CHUNK, meta=None, **cparams):
        note = {"path": self.path(name), "chunks": [], "vlmeta": {}, "can_extend": True, "only_meta": False,
                "meta": {name: content.hex() for name, content in (meta or {}).items()}, "vlblocks": False}
        place = {} if self.kind == "memory" else {"urlpath": self.path(name), "mode": "w"}
        frame = blosc2.SChunk(chunksize=chunksize, contiguous=self.kind != "sparse", meta=meta,
                              cparams=dict(cparams, typesize=typesize), **place)
        return Case(frame, note)

    def finish(self, case):
        case.finish()
        if self.kind == "memory":
            save(case.frame, case.note)

    def filled(self, name, count=6, **options):
        case = self.case(name, **options)
        for number in range(count):
            case.append(number, CHUNK)
        return case


EDITS = {
    "append": lambda case: case.append(50, CHUNK),
    "insert": lambda case: case.insert(1, 51, CHUNK),
    "update": lambda case: case.update(1, 52, CHUNK),
    "delete": lambda case: case.delete(1),
    "reorder": lambda case: case.reverse(),
    "slice": lambda case: case.set_slice(300, 900),
    "zeros": lambda case: case.update_to_zeros(2),
    "meta": lambda case: case.set_meta("kept", b"different"),
    "vlmeta": lambda case: case.set_vlmeta("kept", bytes(range(250))),
    "short": lambda case: case.append(53, 400),
}


def create(directory):
    os.makedirs(directory)
    for kind in ("contiguous", "sparse", "memory"):
        create_kind(Maker(directory, kind))
    count = len(list(notes(directory)))
    print(f"python-blosc2 wrote {count} frames")
    return 0 if count >= LEAST else 1


def create_kind(maker):
    for codec in (blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD):
        for clevel in (0, 5):
            maker.finish(maker.filled(f"codec-{codec.name}-{clevel}", codec=codec, clevel=clevel))
    filters = {"none": blosc2.Filter.NOFILTER, "bitshuffle": blosc2.Filter.BITSHUFFLE, "delta": blosc2.Filter.DELTA}
    for name, filter_ in filters.items():
        maker.finish(maker.filled(f"filters-{name}", filters=[filter_]))
    for typesize in (1, 200) if maker.kind == "memory" else (1, 200, 1000):
        maker.finish(maker.filled(f"typesize-{typesize}", typesize=typesize))
    for name, edit in EDITS.items():
        case = maker.filled(f"after-{name}", meta={"kept": b"unchanged"}, codec=blosc2.Codec.LZ4)
        case.set_vlmeta("kept", b"unchanged as well")
        edit(case)
        maker.finish(case)
    case = maker.filled("after-all", meta={"kept": b"unchanged"})
    for name, edit in EDITS.items():
        edit(case)
    maker.finish(case)
    create_special(maker)
    create_sizes(maker)


def create_special(maker):
    kinds = {
        "zeros": (SpecialValue.ZERO, bytes(4)),
        "uninit": (SpecialValue.UNINIT, bytes(4)),
        "nan4": (SpecialValue.NAN, struct.pack("<f", float("nan"))),
        "nan8": (SpecialValue.NAN, struct.pack("<d", float("nan"))),
        "value": (SpecialValue.VALUE, bytes([1, 2, 3, 4])),
    }
    for name, (kind, value) in kinds.items():
        case = maker.case(f"special-{name}", typesize=len(value))
        case.fill(kind, value, 3)
        maker.finish(case)


def create_sizes(maker):
    maker.finish(maker.case("empty"))
    case = maker.filled("emptied", count=2)
    case.delete(0)
    case.delete(0)
    maker.finish(case)
    case = maker.case("variable", chunksize=-1)
    for number, nbytes in enumerate([400, 2000, 40, 12_000, 800]):
        case.append(number, nbytes)
    maker.finish(case)
    case = maker.case("vlblocks", typesize=1, chunksize=-1)
    for number in range(3):
        blocks = [ramp(10 * number + at, length) for at, length in enumerate([100 + number, 900, 13])]
        case.frame.append_chunk(blosc2_ext.vlcompress([bytes_of(block) for block in blocks], typesize=1))
        case.chunks.append({"blocks": blocks})
    maker.finish(case)
    case = maker.case("many", chunksize=64)
    for number in range(1000):
        case.append(number, 64)
    maker.finish(case)


def writer_chunk(writer, number):
    return bytes([writer, number & 0xFF, number >> 8, 0]) * 16


def lock(directory, program):
    """Two of their writers and two of ours append to one frame; nothing may be lost or out of order."""
    os.makedirs(directory)
    environment = dict(os.environ, BLOSC_LOCKING="1")
    count = 60
    for contiguous in (True, False):
        path = os.path.join(directory, "contiguous.b2frame" if contiguous else "sparse.b2frame")
        blosc2.SChunk(chunksize=64, urlpath=path, contiguous=contiguous, cparams={"typesize": 1}, mode="w")
        writers = [[sys.executable, __file__, "append", path, "1", str(count)], [program, "append", path, "2", str(count)],
                   [sys.executable, __file__, "append", path, "3", str(count)], [program, "append", path, "4", str(count)]]
        children = [subprocess.Popen(writer, env=environment) for writer in writers]
        if any([child.wait() != 0 for child in children]):
            print(f"{path}: a writer failed")
            return 1
        frame = blosc2.open(path, mode="r")
        chunks = [frame.decompress_chunk(index) for index in range(frame.nchunks)]
        for writer in (1, 2, 3, 4):
            mine = [chunk for chunk in chunks if chunk[0] == writer]
            if mine != [writer_chunk(writer, number) for number in range(count)]:
                print(f"{path}: of writer {writer}, {len(mine)} chunks of {count} are there")
                return 1
        print(f"{path}: {len(chunks)} chunks by four writers at once")
    return 0


def append(path, writer, count):
    frame = blosc2.open(path, mode="a")
    for number in range(int(count)):
        frame.append_data(writer_chunk(int(writer), number))
    return 0


if __name__ == "__main__":
    commands = {"create": create, "check": check, "whole": whole, "lock": lock, "append": append}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
