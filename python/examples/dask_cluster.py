#!/usr/bin/env python3
"""Writes an array of Dask with a cluster of processes, to Zarr through our codec and to one `.b2nd` file, and reads both back.

    python/examples/dask_cluster.py [--mib 1024] [--workers 2] [DIRECTORY]

Prints how long each way took, how large the result is, and the most memory that the process that writes has had.
"""

import argparse
import os
import resource
import shutil
import tempfile
import time

import blosc_oxide
import blosc_oxide.zarr
import dask.array
import numpy as np
import zarr
from blosc_oxide.dask import to_b2nd
from distributed import Client, LocalCluster

ROW = 1024


def numbers(block_info=None):
    """What a block holds, made from where it is: anybody can make it again."""
    (start, stop), _ = block_info[None]["array-location"]
    return np.sqrt(np.arange(start * ROW, stop * ROW, dtype="f8")).reshape(-1, ROW).round(3)


def measured(name, mib, work):
    start = time.perf_counter()
    size = work()
    seconds = time.perf_counter() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    size = "" if size is None else f"{size / 2**20:8.1f} MiB"
    print(f"{name:28} {seconds:6.1f} s {mib / seconds:7.0f} MiB/s {size:13} at most {most} MiB in this process", flush=True)


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(path) for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", help="where to write; a temporary directory if not given")
    parser.add_argument("--mib", type=int, default=1024, help="how large the array is")
    parser.add_argument("--workers", type=int, default=2, help="how many processes, of one thread each")
    arguments = parser.parse_args()
    directory = arguments.directory or tempfile.mkdtemp()
    rows = arguments.mib << 20 >> 13
    array = dask.array.map_blocks(
        numbers, chunks=((1024,) * (rows // 1024) + ((rows % 1024,) if rows % 1024 else ()), (ROW,)), dtype="f8"
    )
    b2nd, store = os.path.join(directory, "array.b2nd"), os.path.join(directory, "array.zarr")
    with LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.run(blosc_oxide.zarr.use_in_zarr)
        blosc_oxide.zarr.use_in_zarr()

        def write_b2nd():
            to_b2nd(array, b2nd, codec="zstd", level=1)
            return size_of(b2nd)

        def write_zarr():
            codec = blosc_oxide.zarr.BloscCodec(cname="zstd", clevel=1, typesize=8)
            target = zarr.create_array(store, shape=array.shape, chunks=(1024, ROW), dtype="f8", compressors=codec)
            dask.array.store(array, target, lock=False)
            return size_of(store)

        def equal(found):
            assert bool((found == array).all().compute()), "what was read is not what was written"

        measured("write to .b2nd", arguments.mib, write_b2nd)
        measured("write to Zarr", arguments.mib, write_zarr)
        measured("read .b2nd and compare", arguments.mib, lambda: equal(dask.array.from_array(blosc_oxide.open(b2nd))))
        measured("read Zarr and compare", arguments.mib, lambda: equal(dask.array.from_zarr(store)))
    if not arguments.directory:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
