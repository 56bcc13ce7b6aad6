"""Dask over our arrays and codecs: threads, processes, workers that fail, and writers that are killed."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import blosc_oxide
import numpy as np
import pytest

dask = pytest.importorskip("dask")

import dask.array  # noqa: E402
from blosc_oxide.dask import to_b2nd  # noqa: E402

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "dask_cluster.py"
LONG = bool(os.environ.get("BLOSC_LONG_TESTS"))
ITEMS = np.arange(90 * 70, dtype="i4").reshape(90, 70)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_an_array_is_written_by_any_scheduler(tmp_path, scheduler):
    path = tmp_path / "array.b2nd"
    with dask.config.set(scheduler=scheduler):
        made = to_b2nd(dask.array.from_array(ITEMS, chunks=(40, 30)) + 1, path, blocks=(20, 10), codec="lz4")
    assert (made[:] == ITEMS + 1).all() and made.mode == "r" and (made.chunks, made.blocks) == ((40, 30), (20, 10))
    assert made.verify() == [] and [name.name for name in tmp_path.iterdir()] == ["array.b2nd"]


@pytest.mark.parametrize("shape", [(), (0,), (7,), (0, 5), (90, 70), (5, 6, 7, 3)])
@pytest.mark.parametrize("length", [3, 40])
def test_any_shape_is_written(tmp_path, shape, length):
    items = np.random.default_rng(1).integers(0, 9, shape).astype(">i2")
    made = to_b2nd(dask.array.from_array(items, chunks=length), tmp_path / "array.b2nd")
    assert made.dtype == items.dtype and made[...].tobytes() == items.tobytes() and made.shape == shape


@pytest.mark.parametrize("lengths", [((30, 60), (70,)), ((10, 50, 30), (20, 20, 30)), ((90,), (7,) * 10)])
@pytest.mark.parametrize("chunks", [None, (16, 70), (90, 7), (100, 100)])
def test_blocks_are_brought_to_the_borders_of_chunks(tmp_path, lengths, chunks):
    made = to_b2nd(dask.array.from_array(ITEMS, chunks=lengths), tmp_path / "array.b2nd", chunks=chunks)
    assert (made[:] == ITEMS).all() and (chunks is None or made.chunks == chunks)


def test_large_blocks_become_several_chunks(tmp_path):
    array = dask.array.ones((3000, 4000), chunks=(1500, 4000), dtype="f8")
    made = to_b2nd(array, tmp_path / "array.b2nd")
    assert made.chunks == (750, 1000) and (made[:] == 1).all()


def test_python_blosc2_reads_it(tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    to_b2nd(dask.array.from_array(ITEMS, chunks=(40, 30)), tmp_path / "array.b2nd")
    assert (blosc2.open(str(tmp_path / "array.b2nd"))[:] == ITEMS).all()


def fails_at_the_end(block, block_info=None):
    if block_info[None]["chunk-location"] == (2, 2):
        raise ZeroDivisionError("this one")
    return block


@pytest.mark.parametrize("mode", ["x", "w"])
def test_a_worker_that_fails_leaves_the_old_state(tmp_path, mode):
    path = tmp_path / "array.b2nd"
    if mode == "w":
        blosc_oxide.save([1, 2, 3], path)
    array = dask.array.from_array(ITEMS, chunks=(40, 30)).map_blocks(fails_at_the_end, dtype="i4")
    with pytest.raises(ZeroDivisionError):
        to_b2nd(array, path, mode=mode, max_pending=2)
    assert [name.name for name in tmp_path.iterdir()] == (["array.b2nd"] if mode == "w" else [])
    if mode == "w":
        assert blosc_oxide.load(path).tolist() == [1, 2, 3]


def test_what_makes_no_sense_is_refused(tmp_path):
    array = dask.array.from_array(ITEMS, chunks=(40, 30))
    for options in ({"chunks": (3,)}, {"chunks": (0, 3)}, {"level": 11}, {"blocks": (100, 100)}, {"mode": "r"}):
        with pytest.raises(ValueError):
            to_b2nd(array, tmp_path / "array.b2nd", **options)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        to_b2nd(array[array > 5], tmp_path / "array.b2nd")
    with pytest.raises(TypeError):
        to_b2nd(dask.array.from_array(np.array([None]), chunks=1), tmp_path / "array.b2nd")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_our_arrays_are_read_by_any_scheduler(tmp_path, scheduler, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blosc_oxide.save(ITEMS, "array.b2nd", chunks=(30, 70), blocks=(10, 10))
    array = dask.array.from_array(blosc_oxide.open("array.b2nd"), chunks="auto")
    assert array.shape == ITEMS.shape and array.dtype == ITEMS.dtype
    with dask.config.set(scheduler=scheduler):
        assert array.sum().compute() == ITEMS.sum()
        assert (array[3:40:2, ::-1].compute() == ITEMS[3:40:2, ::-1]).all()


def test_chunks_for_dask_are_whole_chunks_of_the_array(tmp_path):
    blosc_oxide.zeros((10_000, 10_000), "f8", urlpath=tmp_path / "zeros.b2nd", chunks=(500, 2000))
    array = dask.array.from_array(blosc_oxide.open(tmp_path / "zeros.b2nd"))
    for lengths, chunk in zip(array.chunks, (500, 2000), strict=True):
        assert all(length % chunk == 0 for length in lengths)
    assert array.nbytes / array.npartitions > 16 << 20


def test_a_file_that_was_written_anew_is_another_array_to_dask(tmp_path):
    path = tmp_path / "array.b2nd"
    blosc_oxide.save(ITEMS, path)
    before = dask.array.from_array(blosc_oxide.open(path)).name
    assert dask.array.from_array(blosc_oxide.open(path)).name == before
    blosc_oxide.save(ITEMS + 1, path, mode="w")
    assert dask.array.from_array(blosc_oxide.open(path)).name != before


def test_a_cluster_of_two_processes_writes_and_reads_both_ways(tmp_path):
    """Compared by the example itself; with `BLOSC_LONG_TESTS=1` it is 1 GiB."""
    mib = 1024 if LONG else 40
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--mib", str(mib), tmp_path], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    assert done.stdout.count("\n") == 4
    assert blosc_oxide.open(tmp_path / "array.b2nd").nbytes == mib << 20


KILLED = """
import sys, threading, time
import dask.array, numpy as np
from blosc_oxide.dask import to_b2nd
from distributed import Client, LocalCluster

def slow(block):
    time.sleep(0.05)
    return np.random.random(block.shape)

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        array = dask.array.zeros((400, 5000), chunks=(1, 5000)).map_blocks(slow)
        print("begins", flush=True)
        to_b2nd(array, sys.argv[1], mode="w", max_pending=4)
"""


def test_killed_in_the_middle_it_is_what_it_was(tmp_path):
    path = tmp_path / "array.b2nd"
    blosc_oxide.save(ITEMS, path)
    with subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"begins\n"
        deadline = time.monotonic() + 60
        while not any(name != path and name.stat().st_size > 10_000 for name in tmp_path.iterdir()):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert (blosc_oxide.load(path) == ITEMS).all() and blosc_oxide.open(path).verify() == []
