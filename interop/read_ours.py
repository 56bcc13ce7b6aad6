#!/usr/bin/env python3
"""Decodes the chunks that blosc-oxide wrote with every library that reads their format, and compares.

usage: read_ours.py DIRECTORY
"""

import collections
import hashlib
import sys

import blosc
import blosc2
import numcodecs.blosc

import chunk_set
import snappy_chunk

LEAST = 3000
BITSHUFFLE, SNAPPY = 0x04, 2


def readers(row, chunk):
    """Name and function of every library that can read this chunk."""
    if row["format"] == "blosc2":
        return [("blosc2", blosc2.decompress2)]
    if chunk[2] >> 5 == SNAPPY:
        return [("snappy", snappy_chunk.decompress)]
    found = [("blosc", blosc.decompress), ("blosc2", blosc2.decompress2)]
    if row["nbytes"] > 0:
        # numcodecs takes the 0 bytes of an empty chunk for an error.
        found.append(("numcodecs", lambda chunk: bytes(numcodecs.blosc.decompress(chunk))))
    return found


def forgets_tail(row, chunk, library):
    """C-Blosc2 leaves garbage after the last whole item of a Blosc1 chunk with bitshuffle; its `tail` is in the index."""
    return library == "blosc2" and row["format"] == "blosc1" and chunk[2] & BITSHUFFLE


def problem(row, chunk, library, decompress):
    try:
        plain = decompress(chunk)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if len(plain) != row["nbytes"]:
        return f"{len(plain)} bytes instead of {row['nbytes']}"
    if forgets_tail(row, chunk, library):
        tail = bytes.fromhex(row["tail"])
        plain = plain[: len(plain) - len(tail)] + tail
    return None if hashlib.sha256(plain).hexdigest() == row["sha256"] else "other bytes"


def main(directory):
    rows = chunk_set.read(directory)
    counts, failures = collections.Counter(), []
    for row, chunk in rows:
        for library, decompress in readers(row, chunk):
            found = problem(row, chunk, library, decompress)
            counts[f"{row['format']} by {library}"] += 1
            if found:
                failures.append(f"{row['name']}: {library}: {found}")
    for line in failures[:40]:
        print(line)
    for name, count in sorted(counts.items()):
        print(f"ours read as {name}: {count}")
    print(f"{len(rows)} chunks of ours, {sum(counts.values())} decoded elsewhere, {len(failures)} differ")
    return 1 if failures or len(rows) < LEAST else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
