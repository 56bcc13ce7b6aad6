"""Processes: forked and spawned ones, and those that end in the middle of a write."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time

import blosc_oxide
import numpy as np
import pytest

KILLS = 200 if os.environ.get("BLOSC_LONG_TESTS") else 12


def read_in_a_child(path):
    return int(blosc_oxide.open(path)[:].sum())


def compress_in_a_child(_):
    data = np.arange(300_000)
    return blosc_oxide.decompress(blosc_oxide.compress(data, nthreads=4), nthreads=4) == data.tobytes()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_work_after_their_parent_has_with_threads(tmp_path, method):
    path = str(tmp_path / "array.b2nd")
    array = blosc_oxide.asarray(np.arange(300_000), urlpath=path)
    assert array[:].sum() == sum(range(300_000)) and compress_in_a_child(None)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(read_in_a_child, [path] * 4) == [sum(range(300_000))] * 4
        assert all(pool.map(compress_in_a_child, range(4)))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_handles_go_to_children_by_their_path(tmp_path):
    array = blosc_oxide.asarray(np.arange(1000), urlpath=tmp_path / "array.b2nd", chunks=(100,), blocks=(10,))
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(array.__getitem__, range(0, 1000, 100)) == list(range(0, 1000, 100))


def add_rows(path, number):
    with blosc_oxide.open(path, "r+") as array:
        for _ in range(10):
            array.append(np.full(3, number))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_that_write_take_turns(tmp_path, method):
    path = str(tmp_path / "array.b2nd")
    blosc_oxide.zeros(0, "i4", urlpath=path, chunks=(7,), blocks=(7,)).close()
    context = multiprocessing.get_context(method)
    children = [context.Process(target=add_rows, args=(path, number)) for number in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    rows = blosc_oxide.load(path).reshape(-1, 3)
    assert (rows == rows[:, :1]).all() and np.bincount(rows[:, 0]).tolist() == [10] * 4


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_that_ends_in_the_edit_of_its_parent_disturbs_nothing(tmp_path):
    path = tmp_path / "array.b2nd"
    array = blosc_oxide.asarray(np.arange(1000), urlpath=path)
    with array.edit():
        array[0] = 7
        child = os.fork()
        if child == 0:
            # As an interpreter that ends: the edit is dropped in the child.
            array.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        other = subprocess.Popen([sys.executable, "-c", WRITES_ONCE, path])
        time.sleep(1)
        assert other.poll() is None, "nobody else writes before the edit has ended"
        array.append([1000])
    assert other.wait() == 0
    assert (blosc_oxide.load(path) == [7, 5, *range(2, 1001)]).all() and blosc_oxide.open(path).verify() == []


def add_rows_to(array, number):
    for _ in range(10):
        array.append(np.full(3, number))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_children_that_inherit_a_handle_write_in_turns_with_their_parent(tmp_path):
    path = tmp_path / "array.b2nd"
    array = blosc_oxide.zeros(0, "i4", urlpath=path, chunks=(7,), blocks=(7,))
    array.vlmeta["used"] = b"before the fork"
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=add_rows_to, args=(array, number)) for number in range(3)]
    for child in children:
        child.start()
    add_rows_to(array, 3)
    for child in children:
        child.join()
        assert child.exitcode == 0
    rows = blosc_oxide.load(path).reshape(-1, 3)
    assert (rows == rows[:, :1]).all() and np.bincount(rows[:, 0]).tolist() == [10] * 4
    array.refresh()
    assert array.shape == (120,)


WRITES_ONCE = """
import blosc_oxide, sys
blosc_oxide.open(sys.argv[1], "r+")[1] = 5
"""

WRITES = """
import blosc_oxide, sys
import numpy as np
array = blosc_oxide.open(sys.argv[1], "r+")
number = int(array[0])
print("begins", flush=True)
while True:
    number += 1
    if number % 3 == 0:
        with array.edit():
            array[:500] = number
            array[500:] = number
            array.vlmeta["number"] = str(number).encode()
    else:
        array[:] = number
    if number % 5 == 0:
        array.compact()
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_leaves_a_state_that_it_has_committed(tmp_path):
    path = tmp_path / "array.b2nd"
    blosc_oxide.save(np.zeros(1000, "i8"), path, chunks=(100,), blocks=(10,))
    moments = random.Random(3)
    for _ in range(KILLS):
        with subprocess.Popen([sys.executable, "-c", WRITES, path], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"begins\n"
            time.sleep(moments.uniform(0, 0.08))
            process.kill()
            told = [int(line) for line in process.stdout.read().splitlines()]
        found = np.unique(blosc_oxide.load(path))
        assert len(found) == 1, "a state is one that was committed, as a whole"
        # What was told is there; one more may have been committed before it could be told.
        assert not told or found[0] - told[-1] in (0, 1)
        assert blosc_oxide.open(path).verify() == []
        assert os.listdir(tmp_path) == ["array.b2nd"]


ENDS = """
import blosc_oxide, os, signal, sys, threading
import numpy as np
array = blosc_oxide.open(sys.argv[1], "r+")
def write():
    number = 0
    while True:
        number += 1
        array[:] = number
thread = threading.Thread(target=write, daemon=True)
thread.start()
while array[0] < 3:
    pass
{ending}
"""


@pytest.mark.parametrize("ending", ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), signal.SIGTERM)", "raise SystemExit(0)"])
def test_an_interpreter_that_ends_while_a_thread_writes_leaves_a_committed_state(tmp_path, ending):
    path = tmp_path / "array.b2nd"
    blosc_oxide.save(np.zeros(100_000, "i8"), path, chunks=(10_000,), blocks=(1000,))
    done = subprocess.run([sys.executable, "-c", ENDS.format(ending=ending), path], capture_output=True, timeout=60)
    assert done.returncode in (0, -signal.SIGTERM), done.stderr
    found = np.unique(blosc_oxide.load(path))
    assert len(found) == 1 and found[0] >= 3 and blosc_oxide.open(path).verify() == []


def test_many_threads_read_while_one_writes(tmp_path):
    """Each read is of one state: all items of it are the same."""
    path = tmp_path / "array.b2nd"
    array = blosc_oxide.zeros(20_000, "i4", urlpath=path, chunks=(1000,), blocks=(100,))
    stop, wrong, reads = threading.Event(), [], [0] * 63

    def read(place):
        own = array if place % 2 else blosc_oxide.open(path)
        while not stop.is_set():
            try:
                own.refresh()
                found = np.unique(own[:])
                reads[place] += 1
            except Exception as error:  # noqa: BLE001
                wrong.append(error)
                return
            if len(found) != 1:
                wrong.append(found)

    readers = [threading.Thread(target=read, args=(place,)) for place in range(63)]
    for reader in readers:
        reader.start()
    number = 0
    while number < 20 or min(reads) < 2 and not wrong:
        number += 1
        array[:] = number
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong and (array[:] == number).all()
