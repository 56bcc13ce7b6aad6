"""`compress` and `decompress`: what goes in and comes out, and what is refused."""

import array
import itertools
import subprocess
import sys
import threading

import blosc_oxide
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
FILTERS = [
    None,
    "shuffle",
    "bitshuffle",
    ["delta", "shuffle"],
    ["shuffle", "bytedelta"],
    [("shuffle", 2)],
    [1],
    [],
]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("filters", FILTERS)
def test_every_codec_and_filter_comes_back(codec, filters):
    data = np.arange(50_000, dtype="<u4").tobytes()
    chunk = blosc_oxide.compress(data, typesize=4, codec=codec, filters=filters)
    assert blosc_oxide.decompress(chunk) == data
    info = blosc_oxide.chunk_info(chunk)
    assert info["codec"] == codec
    # Counted up, the numbers themselves hold nothing that repeats.
    assert info["is_stored"] == (not filters and codec not in ("zlib", "zstd"))


@given(
    data=st.binary(max_size=5000).map(lambda data: data * 7),
    typesize=st.sampled_from([1, 2, 3, 4, 8, 16, 100, 255]),
    codec=st.sampled_from(CODECS),
    level=st.integers(0, 9),
    filters=st.sampled_from(FILTERS),
    blocksize=st.sampled_from([None, 0, 1, 128, 5000]),
    splitmode=st.sampled_from(["always", "never", "auto", "forward_compat"]),
    nthreads=st.sampled_from([None, 1, 3]),
    blosc1=st.booleans(),
)
def test_any_data_come_back(data, typesize, codec, level, filters, blocksize, splitmode, nthreads, blosc1):
    is_blosc1 = blosc1 and filters in (None, "shuffle", "bitshuffle", [])
    chunk = blosc_oxide.compress(
        data,
        typesize=typesize,
        codec=codec,
        level=level,
        filters=filters,
        blocksize=blocksize,
        splitmode=splitmode,
        nthreads=nthreads,
        format="blosc1" if is_blosc1 else "blosc2",
    )
    assert blosc_oxide.decompress(chunk, nthreads=nthreads) == data
    assert blosc_oxide.chunk_info(chunk)["format"] == ("blosc1" if is_blosc1 else "blosc2")
    out = bytearray(len(data) + 3)
    assert blosc_oxide.decompress(chunk, out) == len(data)
    assert out == data + bytes(3)


@given(chunk=st.binary(max_size=200))
def test_any_bytes_are_a_chunk_or_an_error(chunk):
    try:
        blosc_oxide.decompress(chunk)
    except (blosc_oxide.DataError, NotImplementedError, MemoryError):
        pass


@given(data=st.data())
def test_a_damaged_chunk_is_data_or_an_error(data):
    chunk = bytearray(blosc_oxide.compress(np.arange(3000), codec=data.draw(st.sampled_from(CODECS))))
    for _ in range(data.draw(st.integers(1, 4))):
        chunk[data.draw(st.integers(0, len(chunk) - 1))] = data.draw(st.integers(0, 255))
    try:
        blosc_oxide.decompress(chunk)
    except (blosc_oxide.DataError, NotImplementedError, MemoryError):
        pass


def buffers():
    data = bytes(range(200)) * 50
    yield data, 1
    yield bytearray(data), 1
    yield memoryview(data)[40:8040], 1
    yield memoryview(bytearray(data))[41:8041], 1
    yield array.array("i", range(1000)), 4
    yield np.arange(1000, dtype=">f8"), 8
    yield np.frombuffer(data, "<u2")[3:400], 2
    yield np.frombuffer(memoryview(data)[8:], "<u8"), 8
    yield np.arange(600, dtype="i2").reshape(10, 20, 3), 2
    yield np.array(5.0), 8
    yield np.zeros(0), 8
    yield np.zeros(9, [("Offset", "i4"), ("b", "S3")]), 7
    yield b"", 1


@pytest.mark.parametrize("buffer, typesize", list(buffers()))
@pytest.mark.parametrize("skip", range(2))
def test_any_buffer_is_taken(buffer, typesize, skip):
    chunk = blosc_oxide.compress(buffer)
    wanted = bytes(memoryview(buffer))
    assert blosc_oxide.chunk_info(chunk)["typesize"] == typesize
    assert blosc_oxide.decompress(chunk) == wanted
    # The chunk itself in memory that may change, at any address.
    assert blosc_oxide.decompress(memoryview(bytearray(skip) + chunk)[skip:]) == wanted
    out = np.full(len(wanted) + skip, 7, "u1")[skip:]
    assert blosc_oxide.decompress(chunk, out) == len(wanted)
    assert out.tobytes() == wanted


@pytest.mark.parametrize("start, stop", list(itertools.product([0, 1, 7], [64, 65, 71])))
def test_memory_at_any_address_is_copied_whole(start, stop):
    source = np.arange(100, dtype="u1")[start:stop]
    chunk = blosc_oxide.compress(source)
    out = np.zeros(100, "u1")
    assert blosc_oxide.decompress(chunk, out[start:stop]) == stop - start
    assert (out[start:stop] == source).all()
    assert not out[:start].any() and not out[stop:].any()


def test_the_threads_make_no_difference():
    data = np.random.default_rng(1).integers(0, 1000, 500_000)
    chunks = {blosc_oxide.compress(data, nthreads=nthreads) for nthreads in (None, 1, 2, 5)}
    assert len(chunks) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are measured in kilobytes there")
@pytest.mark.parametrize("view", ["data", "memoryview(data)[8:]", "np.frombuffer(data, 'u8')[1:]"])
def test_the_memory_of_bytes_is_not_copied(view):
    """While a read-only view into a `bytes` object is compressed, nothing as long is allocated."""
    program = f"""
import blosc_oxide, resource
import numpy as np
data = bytes(1) * (64 << 20)
view = {view}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
blosc_oxide.compress(view)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 32 << 10


def dirty(nbytes):
    """Leaves memory behind that is not zero, for the next object of this size."""
    return sum(len(b"\xa5" * nbytes) for _ in range(3))


@pytest.mark.parametrize("nbytes", [100, 5000, 100_000, 3_000_000])
def test_results_hold_nothing_of_the_memory_that_they_are_in(nbytes):
    """Zeros, and what a chunk leaves open, are zeros: results are not set before they are decoded."""
    zeros = blosc_oxide.compress(bytes(nbytes))
    array = blosc_oxide.zeros(nbytes, "u1", chunks=(max(nbytes // 3, 1),))
    chunks = blosc_oxide.SChunk(chunksize=nbytes)
    chunks.fill_special(nbytes, "uninit")
    for read in (lambda: blosc_oxide.decompress(zeros), lambda: array[:].tobytes(), lambda: chunks[:]):
        dirty(nbytes)
        assert read() == bytes(nbytes)
    stored = bytearray(blosc_oxide.compress(np.random.default_rng(1).bytes(nbytes), level=0))
    del stored[-nbytes // 2 :]
    with pytest.raises(blosc_oxide.DataError):
        blosc_oxide.decompress(stored)


class Anything:
    pass


@pytest.mark.parametrize(
    "error, arguments, options",
    [
        (TypeError, (5,), {}),
        (TypeError, ("text",), {}),
        (TypeError, (None,), {}),
        (TypeError, (Anything(),), {}),
        (TypeError, (np.array([1, "a", None], dtype=object),), {}),
        (TypeError, (b"abc",), {"codec": None}),
        (TypeError, (b"abc",), {"codec": 1.5}),
        (TypeError, (b"abc",), {"level": "high"}),
        (TypeError, (b"abc",), {"filters": 3.5}),
        (TypeError, (b"abc",), {"filters": [3.5]}),
        (TypeError, (b"abc",), {"format": 1}),
        (TypeError, (b"abc",), {"splitmode": 1}),
        (TypeError, (b"abc",), {"colour": "red"}),
        (TypeError, (b"abc", 4), {}),
        (BufferError, (np.arange(10)[::2],), {}),
        (BufferError, (np.asfortranarray(np.eye(3)),), {}),
        (ValueError, (b"abc",), {"codec": "LZ4"}),
        (ValueError, (b"abc",), {"codec": "lizard"}),
        (ValueError, (b"abc",), {"codec": "snappy"}),
        (ValueError, (b"abc",), {"level": -1}),
        (ValueError, (b"abc",), {"level": 10}),
        (ValueError, (b"abc",), {"level": 2**70}),
        (ValueError, (b"abc",), {"typesize": 0}),
        (ValueError, (b"abc",), {"typesize": -3}),
        (ValueError, (b"abc",), {"typesize": 2**40}),
        (ValueError, (b"abc",), {"blocksize": -1}),
        (ValueError, (b"abc",), {"nthreads": 0}),
        (ValueError, (b"abc",), {"filters": "shuffel"}),
        (ValueError, (b"abc",), {"filters": ["shuffle"] * 7}),
        (ValueError, (b"abc",), {"filters": ["shuffle", "delta"]}),
        (ValueError, (b"abc",), {"filters": [("trunc_prec", 300)]}),
        (ValueError, (b"abc",), {"format": "blosc3"}),
        (ValueError, (b"abc",), {"format": "blosc1", "filters": "delta"}),
        (ValueError, (b"abc",), {"splitmode": "maybe"}),
        (ValueError, (b"abc",), {"use_dict": True, "codec": "zlib"}),
    ],
)
def test_what_makes_no_sense_is_refused(error, arguments, options):
    with pytest.raises((error, OverflowError) if options.get("level") == 2**70 else error):
        blosc_oxide.compress(*arguments, **options)


def test_refusals_say_what_is_wrong():
    with pytest.raises(ValueError, match="level is -1, it can be 0 to 9"):
        blosc_oxide.compress(b"abc", level=-1)
    with pytest.raises(TypeError, match="a bytes-like object is required, not 'str'"):
        blosc_oxide.compress("abc")
    with pytest.raises(blosc_oxide.DataError, match="16 bytes needed, 3 given"):
        blosc_oxide.decompress(b"abc")


def test_what_is_no_chunk_is_an_error():
    chunk = blosc_oxide.compress(np.arange(1000))
    for bad in (b"", b"abc", chunk[:20], chunk[:-1]):
        with pytest.raises(blosc_oxide.DataError) as caught:
            blosc_oxide.decompress(bad)
        assert isinstance(caught.value, ValueError) and isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize(
    "error, out",
    [
        (BufferError, b"x" * 800),
        (BufferError, memoryview(b"x" * 800)),
        (BufferError, np.zeros(200)[::2]),
        (ValueError, bytearray(799)),
        (TypeError, "x" * 800),
        (TypeError, np.zeros(100, object)),
    ],
)
def test_what_cannot_be_written_to_is_refused(error, out):
    chunk = blosc_oxide.compress(np.arange(100))
    with pytest.raises(error):
        blosc_oxide.decompress(chunk, out)


def test_members_of_enumerations_are_taken():
    blosc2 = pytest.importorskip("blosc2")
    chunk = blosc_oxide.compress(bytes(1000) + b"x", codec=blosc2.Codec.LZ4, filters=[blosc2.Filter.BITSHUFFLE])
    info = blosc_oxide.chunk_info(chunk)
    assert (info["codec"], info["filters"]) == ("lz4", ["bitshuffle"])


def test_python_blosc2_reads_our_chunks_and_we_read_its():
    blosc2 = pytest.importorskip("blosc2")
    data = np.arange(100_000, dtype="i4").tobytes()
    for codec in CODECS:
        assert blosc2.decompress2(blosc_oxide.compress(data, typesize=4, codec=codec)) == data
    assert blosc_oxide.decompress(blosc2.compress2(data, typesize=4)) == data


def test_a_source_that_another_thread_changes_gives_data_or_an_error():
    """Both a chunk that is decompressed and data that are compressed are written to all the time."""
    good = blosc_oxide.compress(np.arange(20_000) % 300, codec="lz4", nthreads=1)
    chunk = np.frombuffer(good, "u1").copy()
    data = np.arange(50_000) % 777
    out = bytearray(160_000)
    stop = threading.Event()

    def change():
        random = np.random.default_rng(5)
        while not stop.is_set():
            places = random.integers(32, len(chunk), 20)
            chunk[places] = random.integers(0, 256, 20)
            data[random.integers(0, len(data), 100)] += 1
            out[::1000] = bytes(160)
            chunk[:] = np.frombuffer(good, "u1")

    threads = [threading.Thread(target=change) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    try:
        for turn in range(300):
            try:
                assert blosc_oxide.decompress(chunk, out if turn % 2 else None)
            except blosc_oxide.DataError:
                pass
            # Whatever it held, it was read once: the chunk is whole.
            assert len(blosc_oxide.decompress(blosc_oxide.compress(data, codec="lz4"))) == data.nbytes
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()


@settings(max_examples=20)
@given(count=st.integers(0, 5))
def test_calls_within_calls_do_not_meet(count):
    """Threads keep memory from call to call; threads that come and go do not see that of others."""
    data = [np.full(70_000, index) for index in range(count)]
    results = {}

    def work(index):
        results[index] = blosc_oxide.decompress(blosc_oxide.compress(data[index]))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[index] == data[index].tobytes() for index in range(count))
