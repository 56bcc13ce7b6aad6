#!/usr/bin/env python3
"""Compares this package with numcodecs and python-blosc2 in one run, and prints a table in Markdown.

    python/bench/compare.py [--rounds N] [--short] [--all]

Encoding and decoding chunks of 1 MiB in a pool of two threads, each call on one thread; calls on 4 KiB from one thread; and
slices of arrays in files. All take turns, round by round; a figure is the median of the ratios of the rounds, theirs to ours:
above 1, ours is faster.
"""

import argparse
import itertools
import math
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import blosc2
import blosc_oxide
import numpy as np
from blosc_oxide import numcodecs as ours_numcodecs
from numcodecs import blosc as theirs_numcodecs

CHUNK = 1 << 20
CHUNKS = 8
SMALL = 4096
SMALL_CALLS = 400
SETTINGS = [("blosclz", 5), ("lz4", 5), ("lz4hc", 5), ("zlib", 5), ("zstd", 1), ("zstd", 5)]
FILTERS = [("shuffle", 1), ("bitshuffle", 2)]
# Arrays whose slices are read: shape, chunks and blocks.
GRIDS = [((2000, 3000), (500, 600), (50, 100)), ((200, 150, 180), (50, 50, 60), (10, 25, 30))]
SLICES = 40


def numbers():
    """Arrays that compress well, less well and hardly, of 1 MiB chunks."""
    random = np.random.default_rng(7)
    count = CHUNK * CHUNKS
    yield "measurements", np.round(random.normal(size=count // 8).cumsum(), 2)
    yield "counters", (np.arange(count // 4) * 3 + random.integers(0, 3, count // 4)).astype("i4")
    yield "noise", random.normal(size=count // 4).astype("f4")


def chunks_of(array):
    items = CHUNK // array.itemsize
    return [array[start : start + items] for start in range(0, len(array), items)]


def numcodecs_pair(codec, level, filter_name, number, itemsize):
    """How each package encodes and decodes chunks of Blosc1."""
    for blosc in (ours_numcodecs, theirs_numcodecs):
        made = blosc.Blosc(cname=codec, clevel=level, shuffle=number, typesize=itemsize)
        yield made.encode, made.decode


def blosc2_pair(codec, level, filter_name, number, itemsize):
    """How each package encodes and decodes chunks of Blosc2."""

    def encode(data):
        return blosc_oxide.compress(data, typesize=itemsize, codec=codec, level=level, filters=filter_name, nthreads=1)

    options = {
        "codec": blosc2.Codec[codec.upper()],
        "clevel": level,
        "filters": [blosc2.Filter(number)],
        "filters_meta": [0],
        "typesize": itemsize,
        "nthreads": 1,
    }
    yield encode, lambda chunk: blosc_oxide.decompress(chunk, nthreads=1)
    yield lambda data: blosc2.compress2(data, **options), lambda chunk: blosc2.decompress2(chunk, nthreads=1)


def measured(work):
    """Processor time and wall-clock time of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def ratios(pair, rounds):
    """The medians of theirs to ours, of processor time and of wall-clock time."""
    ours, theirs = pair
    ours(), theirs()
    found = []
    for turn in range(rounds):
        order = [ours, theirs] if turn % 2 else [theirs, ours]
        times = {work: measured(work) for work in order}
        found.append([theirs_time / ours_time for theirs_time, ours_time in zip(times[theirs], times[ours])])
    return [statistics.median(values) for values in zip(*found)]


def rows(rounds, pool, is_short):
    pairs = [("numcodecs", numcodecs_pair), ("python-blosc2", blosc2_pair)]
    arrays = list(numbers())[: 1 if is_short else None]
    for peer, make in pairs:
        for (name, array), (codec, level), (filter_name, number) in itertools.product(arrays, SETTINGS, FILTERS):
            both = list(make(codec, level, filter_name, number, array.itemsize))
            data = chunks_of(array)
            packed = [both[1][0](chunk) for chunk in data]
            small = data[0][: SMALL // array.itemsize]
            small_packed = both[1][0](small)
            jobs = {
                "encode": [lambda encode=encode: list(pool.map(encode, data)) for encode, _ in both],
                "decode": [lambda decode=decode: list(pool.map(decode, packed)) for _, decode in both],
                "encode 4 KiB": [lambda encode=encode: [encode(small) for _ in range(SMALL_CALLS)] for encode, _ in both],
                "decode 4 KiB": [
                    lambda decode=decode: [decode(small_packed) for _ in range(SMALL_CALLS)] for _, decode in both
                ],
            }
            for job, pair in jobs.items():
                yield peer, name, f"{codec} {level}", filter_name, job, *ratios(pair, rounds)


def keys_of(shape, random):
    """Indices of each kind, at places of their own."""
    places = [tuple(int(random.integers(0, length - 40)) for length in shape) for _ in range(SLICES)]
    yield "items", places
    yield "rows", [place[:-1] for place in places]
    yield "columns", [(slice(None), *place[1:]) for place in places]
    yield "boxes", [tuple(slice(start, start + 40) for start in place) for place in places]
    yield "halves", [tuple(slice(0, length // 2) for length in shape)]


def slices(rounds, is_short):
    """Slices of arrays in files that python-blosc2 has written, one thread each."""
    random = np.random.default_rng(5)
    settings = list(itertools.product(GRIDS, [("lz4", 5), ("zstd", 1), ("zstd", 5)], FILTERS))
    with tempfile.TemporaryDirectory() as directory:
        for number, setting in enumerate(settings[: 2 if is_short else None]):
            (shape, chunks, blocks), (codec, level), (filter_name, filter_number) = setting
            path = os.path.join(directory, f"{number}.b2nd")
            items = np.round(random.normal(size=shape).cumsum(axis=0), 2)
            options = {"codec": blosc2.Codec[codec.upper()], "clevel": level, "filters": [blosc2.Filter(filter_number)]}
            blosc2.asarray(items, chunks=chunks, blocks=blocks, urlpath=path, cparams={**options, "filters_meta": [0]})
            both = [blosc_oxide.open(path, nthreads=1), blosc2.open(path, dparams={"nthreads": 1})]
            for kind, keys in keys_of(shape, random):
                assert all(np.array_equal(both[0][key], both[1][key]) for key in keys)
                pair = [lambda array=array: [array[key] for key in keys] for array in both]
                yield "python-blosc2", f"{len(shape)} axes", f"{codec} {level}", filter_name, f"slices: {kind}", *ratios(pair, rounds)


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def print_table(found):
    """A line for each peer and kind of call: the mean of all rows, and the least of them with its name."""
    print("| against | call | rows | processor time: mean | least | wall clock: mean | least | the row of least processor time |")
    print("|---|---|---|---|---|---|---|---|")
    for (peer, job), group in itertools.groupby(sorted(found, key=lambda row: (row[0], row[4])), lambda row: (row[0], row[4])):
        group = list(group)
        cpu, wall = [row[5] for row in group], [row[6] for row in group]
        least = min(group, key=lambda row: row[5])
        print(
            f"| {peer} | {job} | {len(group)} | {geometric_mean(cpu):.2f} | {min(cpu):.2f} | {geometric_mean(wall):.2f}"
            f" | {min(wall):.2f} | {' '.join(least[1:4])} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="how often each pair takes turns")
    parser.add_argument("--short", action="store_true", help="one array only")
    parser.add_argument("--all", action="store_true", help="print every row, too")
    arguments = parser.parse_args()
    blosc2.set_nthreads(1)
    with ThreadPoolExecutor(2) as pool:
        found = []
        of_chunks = rows(arguments.rounds, pool, arguments.short)
        for row in itertools.chain(of_chunks, slices(arguments.rounds, arguments.short)):
            found.append(row)
            if arguments.all:
                print(*row[:5], *(f"{value:.2f}" for value in row[5:]), sep="\t", file=sys.stderr, flush=True)
    print_table(found)


if __name__ == "__main__":
    main()
