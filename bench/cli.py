#!/usr/bin/env python3
"""The `blosc` command against python-blosc2, zstd and lz4: one large file of numbers, all in one run, in turn.

Usage: bench/cli.py [--size 2G] [--threads 2] [--rounds 11] [--codec lz4|zstd] [--blosc target/release/blosc] [--directory DIR]

python-blosc2 does the same work: it reads the file, compresses it with the same codec, level, filter, chunk size and number
of threads into a frame, and back. zstd and lz4 are given the same file with its bytes shuffled already, block by block, so that
they reach a comparable ratio; the time that shuffling took is not counted for them.

zstd -d and lz4 -d leave out pages of zeros when they write a file, and shuffling makes such pages (a fifth of this file, which has none before): told
--no-sparse they write as much as the others do. What zstd takes without that is a row of its own.

The median of all rounds counts, the best one is behind it in brackets. Who goes first changes with every round.

Needs numpy and blosc2 for the Python that runs it, and the programs zstd and lz4.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CHUNK = 4 << 20
BLOCK = 256 << 10
TYPESIZE = 4

PEER = """
import sys, numpy as np, blosc2
action, source, target, codec, level, threads, chunk, typesize = sys.argv[1:9]
threads, chunk = int(threads), int(chunk)
blosc2.set_nthreads(threads)
if action == "compress":
    cparams = blosc2.CParams(codec=blosc2.Codec[codec], clevel=int(level), typesize=int(typesize), nthreads=threads,
                             filters=[blosc2.Filter.SHUFFLE])
    frame = blosc2.SChunk(chunksize=chunk, contiguous=True, urlpath=target, mode="w", cparams=cparams,
                          dparams=blosc2.DParams(nthreads=threads))
    with open(source, "rb") as file:
        buffer = bytearray(chunk)
        while True:
            count = file.readinto(buffer)
            if not count:
                break
            frame.append_data(buffer if count == chunk else bytes(buffer[:count]))
else:
    frame = blosc2.open(source, mode="r", dparams=blosc2.DParams(nthreads=threads))
    with open(target, "wb") as file:
        buffer = bytearray(chunk)
        for index in range(frame.nchunks):
            frame.decompress_chunk(index, dst=buffer)
            file.write(memoryview(buffer)[: min(chunk, frame.nbytes - index * chunk)])
"""


def size(text):
    units = {"K": 10, "M": 20, "G": 30}
    return int(text[:-1]) << units[text[-1]] if text[-1] in units else int(text)


def make_data(path, nbytes, shuffled):
    """A slow walk with some noise in it, as measurements have: 32-bit integers; and the same with shuffled blocks."""
    import numpy as np

    rng = np.random.default_rng(42)
    last = 0
    with open(path, "wb") as plain, open(shuffled, "wb") as planes:
        for start in range(0, nbytes, 16 << 20):
            count = min(16 << 20, nbytes - start) // TYPESIZE
            values = last + np.cumsum(rng.integers(-20, 21, count, dtype=np.int32), dtype=np.int32)
            last = int(values[-1])
            raw = values.tobytes()
            plain.write(raw)
            for at in range(0, len(raw), BLOCK):
                block = np.frombuffer(raw[at : at + BLOCK], dtype=np.uint8)
                planes.write(block.reshape(-1, TYPESIZE).T.tobytes())


def timed(command):
    """Seconds by the clock, and of all processors together."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def remove(path):
    """What is there would be given back by the one program before it starts, by another after it has ended."""
    if os.path.exists(path):
        os.remove(path)


def stored(path):
    return os.path.getsize(path)


def contenders(arguments, work):
    """Name, command to compress, command to decompress, compressed file; in the groups that are compared."""
    threads = str(arguments.threads)
    plain, planes = os.path.join(work, "data.bin"), os.path.join(work, "shuffled.bin")
    out = os.path.join(work, "out.bin")

    def blosc(codec, level):
        packed = os.path.join(work, f"{codec}{level}.b2frame")
        compress = [arguments.blosc, "-q", "-j", threads, "compress", "--force", "--no-sync", "--codec", codec, "--level", str(level),
                    "--typesize", str(TYPESIZE), "--filter", "shuffle", "--chunk-size", str(CHUNK), plain, packed]
        return (f"blosc, {codec} {level}", compress, [arguments.blosc, "-q", "-j", threads, "decompress", "--force", "--no-sync", packed, out], packed)

    def python(codec, level):
        packed = os.path.join(work, f"python-{codec}{level}.b2frame")
        rest = [codec.upper(), str(level), threads, str(CHUNK), str(TYPESIZE)]
        peer = [sys.executable, "-c", PEER]
        return (f"python-blosc2, {codec} {level}", [*peer, "compress", plain, packed, *rest], [*peer, "decompress", packed, out, *rest], packed)

    def zstd(level):
        packed = os.path.join(work, f"zstd{level}.zst")
        name, decompress = f"zstd -T{threads} -{level}, shuffled before", ["zstd", "-q", "-f", "-d", f"-T{threads}", packed, "-o", out]
        return [(name, ["zstd", "-q", "-f", f"-T{threads}", f"-{level}", planes, "-o", packed], [*decompress, "--no-sparse"], packed),
                (f"{name}, without pages of zeros", None, decompress, packed)]

    def lz4(level):
        packed = os.path.join(work, f"lz4-{level}.lz4")
        return (f"lz4 -{level}, shuffled before", ["lz4", "-q", "-f", f"-{level}", planes, packed], ["lz4", "-q", "-f", "-d", "--no-sparse", packed, out], packed)

    groups = [
        ("lz4", [blosc("lz4", 5), python("lz4", 5), lz4(1)]),
        ("zstd", [blosc("zstd", 1), python("zstd", 1), *zstd(1)]),
        ("zstd", [blosc("zstd", 3), python("zstd", 3), *zstd(5)]),
    ]
    return [group for codec, group in groups if arguments.codec in (None, codec)]


def turned(group, turn):
    """Who goes first changes with every round."""
    start = turn % len(group)
    return group[start:] + group[:start]


def measure(group, rounds, nbytes, out):
    times = {name: ([], []) for name, *_ in group}
    for turn in range(rounds):
        for name, compress, _, packed in turned([one for one in group if one[1]], turn):
            remove(packed)
            times[name][0].append(timed(compress))
    for turn in range(rounds):
        for name, _, decompress, _ in turned(group, turn):
            remove(out)
            times[name][1].append(timed(decompress))
    for name, _, _, packed in group:
        print(f"| {name} | {nbytes / stored(packed):.2f} | {' | '.join(cell(found, nbytes) for found in times[name])} |", flush=True)


def cell(found, nbytes):
    if not found:
        return "|"
    clock, processors = (statistics.median(one) for one in zip(*found))
    return f"{clock:.2f} s ({min(found)[0]:.2f}), {nbytes / clock / 1e6:.0f} MB/s | {processors:.2f} s"


def startup(blosc, packed):
    """The time of `blosc info` on a small file, the best of many runs."""
    return min(timed([blosc, "info", packed])[0] for _ in range(50))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="2G", type=size)
    parser.add_argument("--threads", default=2, type=int)
    parser.add_argument("--rounds", default=11, type=int)
    parser.add_argument("--codec", choices=["lz4", "zstd"], help="only the programs that are compared with this codec")
    parser.add_argument("--blosc", default="target/release/blosc")
    parser.add_argument("--directory", default=None, help="where to write; needs room for five times the size")
    arguments = parser.parse_args()
    work = tempfile.mkdtemp(prefix="blosc-cli-", dir=arguments.directory)
    try:
        plain = os.path.join(work, "data.bin")
        make_data(plain, arguments.size, os.path.join(work, "shuffled.bin"))
        print(f"{arguments.size} bytes, {arguments.threads} threads, the median of {arguments.rounds} rounds, the best in brackets\n")
        print("| program | ratio | compress | processors | decompress | processors |\n|---|---|---|---|---|---|", flush=True)
        for group in contenders(arguments, work):
            measure(group, arguments.rounds, arguments.size, os.path.join(work, "out.bin"))
        small = os.path.join(work, "small.b2frame")
        subprocess.run([arguments.blosc, "-q", "compress", sys.argv[0], small], check=True)
        print(f"\nblosc info on a small file: {startup(arguments.blosc, small) * 1000:.1f} ms, process and all")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
