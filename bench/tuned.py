"""What `blosc compress --tune balance` makes of real data, beside the default settings.

    cargo run --release -p bench -- install      # the data, once
    cargo build --release -p blosc-cli
    python3 bench/tuned.py target/release/blosc target/bench-data > doc/tuned.md

Times are of the processor (user and system), on one thread, the least of several runs taken in turns, so that a busy machine
changes them little. Choosing the setting is not counted.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

RUNS = 5
LARGEST = 24 << 20
blosc, data = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()


def cpu(*arguments):
    """Seconds of the processor that a run takes."""
    process = subprocess.Popen([blosc, "-q", "-T", "1", *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, arguments
    return usage.ru_utime + usage.ru_stime


def choice(path):
    """The options that are chosen, as they are printed."""
    done = subprocess.run([blosc, "-T", "1", "c", "--tune", "balance", path, "-f", "-o", "tuned.b2frame"], capture_output=True, text=True, check=True)
    return re.search(r"(--codec .*?), ratio", done.stderr).group(1).split()


def measure(path):
    """Size, time to compress and time to decompress for the default and for what is chosen."""
    ways = {"default": [], "tuned": choice(path)}
    best = {name: [0, 1e9, 1e9] for name in ways}
    for _ in range(RUNS):
        for name, options in ways.items():
            packed = f"{name}.b2frame"
            compress = cpu("c", "--no-sync", "-f", *options, path, "-o", packed)
            decompress = cpu("d", "-c", packed)
            size, *times = best[name]
            best[name] = [os.path.getsize(packed), min(times[0], compress), min(times[1], decompress)]
    return ways["tuned"], best["default"], best["tuned"]


def verdict(size, time):
    if size > 1 and time > 1:
        return "larger and slower"
    if size <= 0.95 and time <= 1 or time <= 0.8 and size <= 1:
        return "better"
    return "the same" if (size, time) == (1, 1) else "-"


def main():
    rows, counts = [], {"better": 0, "larger and slower": 0}
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for path in sorted(data.glob("*.bin")):
            # What is longer is cut off: the runs are many.
            part = pathlib.Path(scratch) / path.name
            part.write_bytes(path.read_bytes()[:LARGEST])
            options, default, tuned = measure(part)
            usual = options == ["--codec", "zstd", "--level", "3", "--filter", "shuffle"]
            size, time = (1, 1) if usual else (tuned[0] / default[0], sum(tuned[1:]) / sum(default[1:]))
            found = verdict(size, time)
            if found in counts:
                counts[found] += 1
            nbytes = part.stat().st_size
            rows.append(f"| {path.stem} | {nbytes / 1e6:.1f} | {nbytes / default[0]:.2f} | {nbytes / tuned[0]:.2f} | {size:.3f} | {time:.2f} | "
                        f"{default[1] / max(tuned[1], 1e-3):.2f} | {default[2] / max(tuned[2], 1e-3):.2f} | `{' '.join(options)}` | {found} |")
            part.unlink()
            print(rows[-1], file=sys.stderr, flush=True)
    print(f"""# What `--tune balance` chooses

Real data sets of `bench -- install` (bench/README.md), their first {LARGEST >> 20} MiB, on one thread; by
`bench/tuned.py`. *Size* and *time* are those of the tuned file as a share of the default's (zstd,
level 3, shuffle); time is that of the processor to compress and decompress. *Faster* is how many
times as fast it compresses and decompresses. *Better* is 5 % smaller or 20 % faster with the other
no worse: {counts["better"]} of {len(rows)}; {counts["larger and slower"]} are larger and slower.

| data | MB | ratio, default | ratio, tuned | size | time | faster, compress | faster, decompress | chosen | |
|---|---|---|---|---|---|---|---|---|---|""")
    print("\n".join(rows))


main()
