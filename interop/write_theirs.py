#!/usr/bin/env python3
"""Writes chunks with every Blosc library over its options, for blosc-oxide to read.

usage: write_theirs.py DIRECTORY
"""

import itertools
import os
import random
import sys

import blosc
import blosc2
import numcodecs.blosc
import numpy as np

import chunk_set

LEAST = 1000
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
TYPESIZES = [*range(1, 18), 32, 33, 100, 255]
LARGE_TYPESIZES = [256, 1000, 70000]
SMALL_SIZES = [0, 1, 7, 31, 32, 33, 63, 127, 128, 129]
# Most sizes are large, because most small chunks are stored as they are.
SIZES = SMALL_SIZES + [500, 1000, 4097, 20001, 32768, 65536, 100003, 300000] * 4
LEVELS = [0, *list(range(1, 10)) * 3]
NOFILTER, SHUFFLE, BITSHUFFLE, DELTA, TRUNC_PREC, BYTEDELTA, INT_TRUNC = 0, 1, 2, 3, 4, 35, 36


def plain_bytes(rng, nbytes, typesize):
    """Data of one of several kinds, from very compressible to not at all."""
    numbers = np.random.default_rng(rng.randrange(1 << 32))
    kind = rng.choice(["noise", "constant", "ramp", "ramp", "few values", "walk", "walk", "half noise", "phrases"])
    if kind == "noise":
        return numbers.bytes(nbytes)
    if kind == "constant":
        return bytes([rng.randrange(256)]) * nbytes
    if kind == "ramp":
        items = range(nbytes // typesize + 1)
        return b"".join(i.to_bytes(8, "little")[:typesize].ljust(typesize, b"\0") for i in items)[:nbytes]
    if kind == "few values":
        return numbers.integers(0, 3, nbytes, dtype=np.uint8).tobytes()
    if kind == "walk":
        steps = numbers.integers(-3, 4, nbytes // 4 + 1, dtype=np.int32)
        return np.cumsum(steps, dtype=np.int32).tobytes()[:nbytes]
    if kind == "half noise":
        return numbers.bytes(nbytes // 2) + bytes(nbytes - nbytes // 2)
    phrases = [numbers.bytes(length) for length in (5, 20, 300)]
    return b"".join(phrases[i] for i in numbers.integers(0, 3, nbytes // 5 + 1))[:nbytes]


def whole_items(nbytes, typesize):
    return nbytes - nbytes % typesize


def combinations(rng, count, *axes):
    """`count` rows of the product of the axes, chosen at random but each value of each axis often."""
    columns = []
    for axis in axes:
        column = list(itertools.islice(itertools.cycle(axis), count))
        rng.shuffle(column)
        columns.append(column)
    return zip(*columns)


def with_blosc(rng):
    shuffles = [blosc.NOSHUFFLE, blosc.SHUFFLE, blosc.BITSHUFFLE]
    axes = CODECS, LEVELS, shuffles, TYPESIZES, SIZES, [0, 0, 128, 1024, 5000, 65536], [1, 1, 1, 4]
    for codec, level, shuffle, typesize, nbytes, blocksize, threads in combinations(rng, 1400, *axes):
        blosc.set_blocksize(blocksize)
        blosc.set_nthreads(threads)
        plain = plain_bytes(rng, nbytes, typesize)
        chunk = blosc.compress(plain, typesize, level, shuffle, codec)
        name = f"blosc {codec} {level} shuffle {shuffle} ts {typesize} nbytes {nbytes} bs {blocksize} nt {threads}"
        yield name, "blosc1", chunk, plain, blosc.decompress(chunk)
    blosc.set_blocksize(0)


def with_numcodecs(rng):
    dtypes = ["u1", "u2", "u4", "u8", "c16", "V3", "V5", "V12", "V17", "V33", "V255"]
    axes = CODECS, LEVELS, [-1, 0, 1, 2], dtypes, SIZES[1:], [0, 0, 256, 4096]
    for codec, level, shuffle, dtype, nbytes, blocksize in combinations(rng, 1400, *axes):
        dtype = np.dtype(dtype)
        nbytes = max(whole_items(nbytes, dtype.itemsize), dtype.itemsize)
        plain = plain_bytes(rng, nbytes, dtype.itemsize)
        array = np.frombuffer(plain, dtype=dtype)
        chunk = bytes(numcodecs.blosc.compress(array, codec.encode(), level, shuffle, blocksize))
        name = f"numcodecs {codec} {level} shuffle {shuffle} {dtype.str} nbytes {nbytes} bs {blocksize}"
        yield name, "blosc1", chunk, plain, bytes(numcodecs.blosc.decompress(chunk))


def pipelines(typesize):
    """Filters and their metas. Three or more make C-Blosc2 overwrite its input."""
    # The meta byte is signed in Python.
    group = typesize - 256 * (typesize > 127) if typesize < 256 else 0
    found = [([], []), ([SHUFFLE], [0]), ([BITSHUFFLE], [0]), ([DELTA], [0]), ([DELTA, SHUFFLE], [0, 0])]
    found += [([DELTA, BITSHUFFLE], [0, 0]), ([SHUFFLE, BITSHUFFLE], [0, 0]), ([BITSHUFFLE, SHUFFLE], [0, 0])]
    if group:
        found += [([SHUFFLE, BYTEDELTA], [0, group]), ([BYTEDELTA], [group]), ([BITSHUFFLE, BYTEDELTA], [0, group])]
    if typesize in (4, 8):
        found += [([TRUNC_PREC, SHUFFLE], [10, 0]), ([TRUNC_PREC, BITSHUFFLE], [-3, 0])]
    if typesize in (1, 2, 4, 8):
        found += [([INT_TRUNC, SHUFFLE], [4, 0])]
    if typesize % 4 == 0 and typesize < 256:
        found += [([SHUFFLE], [4])]
    return found


def with_blosc2(rng):
    axes = CODECS, LEVELS, list(blosc2.SplitMode), TYPESIZES + LARGE_TYPESIZES, SIZES, [0, 0, 1024, 8192], [1, 1, 4], \
        [False, False, True]
    for codec, level, split, typesize, nbytes, blocksize, threads, use_dict in combinations(rng, 2600, *axes):
        filters, metas = rng.choice(pipelines(typesize))
        if DELTA in filters or blocksize or TRUNC_PREC in filters or INT_TRUNC in filters:
            # Ragged sizes lose their tail in delta, and with a block size of the caller's the chunk is unreadable.
            nbytes = whole_items(nbytes, typesize)
        blocksize = whole_items(max(blocksize, typesize), typesize) if blocksize else 0
        # Below 32 bytes C-Blosc2 calls a chunk memcpyed but compresses it after all when it fails to make a dictionary.
        use_dict = use_dict and codec in ("lz4", "lz4hc", "zstd") and nbytes >= 32
        plain = plain_bytes(rng, nbytes, typesize)
        options = {"codec": blosc2.Codec[codec.upper()], "clevel": level, "typesize": typesize, "splitmode": split,
                   "blocksize": blocksize, "nthreads": threads, "use_dict": use_dict,
                   "filters": [blosc2.Filter(f) for f in filters], "filters_meta": metas}
        name = f"blosc2 {codec} {level} split {split.name} ts {typesize} nbytes {nbytes} bs {blocksize} nt {threads} " \
               f"dict {use_dict} filters {filters} {metas}"
        chunk = blosc2.compress2(plain, **options)
        if is_memcpyed_with_dictionary(chunk):
            yield name, "blosc2", chunk, plain, plain
            continue
        decoded = blosc2.decompress2(chunk)
        lossy = TRUNC_PREC in filters or INT_TRUNC in filters
        yield name, "blosc2", chunk, decoded if lossy else plain, decoded


def is_memcpyed_with_dictionary(chunk):
    """C-Blosc2 leaves the flag of a dictionary on such a chunk and then looks for one: only others can read it."""
    return chunk[2] & 2 and chunk[31] & 1


def main(directory):
    enough = True
    for library, cases in [("blosc", with_blosc), ("numcodecs", with_numcodecs), ("blosc2", with_blosc2)]:
        writer = chunk_set.Writer(os.path.join(directory, library))
        for name, form, chunk, plain, decoded in cases(random.Random(20)):
            if decoded != plain:
                sys.exit(f"{name}: {library} does not read back what it wrote")
            writer.add(name, form, chunk, plain)
        writer.finish()
        print(f"{library} wrote {len(writer.rows)} chunks")
        enough = enough and len(writer.rows) >= LEAST
    return 0 if enough else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
