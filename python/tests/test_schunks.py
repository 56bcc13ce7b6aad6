"""Super-chunks: chunks in a row that are read, replaced, inserted and deleted, in memory and on disk."""

import pickle

import blosc_oxide
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = np.arange(1000, dtype="i4")


@pytest.fixture(params=["memory", "file", "directory"])
def place(request, tmp_path):
    """Arguments that say where a super-chunk is made."""
    if request.param == "memory":
        return {}
    return {"urlpath": tmp_path / "data.b2frame", "contiguous": request.param == "file"}


def test_data_come_back_by_items_and_by_chunks(place):
    chunks = blosc_oxide.SChunk(chunksize=1200, data=NUMBERS, codec="lz4", **place)
    assert (chunks.typesize, chunks.chunksize, chunks.nchunks, len(chunks)) == (4, 1200, 4, 1000)
    assert (chunks.nbytes, chunks.cbytes < 4000, chunks.cratio > 1) == (4000, True, True)
    assert chunks[:] == NUMBERS.tobytes()
    assert chunks[299:302] == NUMBERS[299:302].tobytes()
    assert chunks[-1] == NUMBERS[-1:].tobytes() and chunks[5:3] == b""
    assert list(chunks.iterchunks()) == [NUMBERS[start : start + 300].tobytes() for start in range(0, 1000, 300)]
    assert blosc_oxide.decompress(chunks.get_chunk(1)) == chunks.decompress_chunk(1) == NUMBERS[300:600].tobytes()


def test_each_change_has_committed_when_it_returns(place):
    chunks = blosc_oxide.SChunk(chunksize=400, data=NUMBERS[:300], **place)
    expected = [NUMBERS[start : start + 100].tobytes() for start in (0, 100, 200)]

    def check():
        assert list(chunks.iterchunks()) == expected
        if place:
            assert list(blosc_oxide.open(place["urlpath"]).iterchunks()) == expected

    assert chunks.append_data(NUMBERS[500:600]) == 4
    expected.append(NUMBERS[500:600].tobytes())
    check()
    assert chunks.insert_data(1, NUMBERS[600:700]) == 5
    expected.insert(1, NUMBERS[600:700].tobytes())
    check()
    assert chunks.update_data(0, NUMBERS[700:800]) == 5
    expected[0] = NUMBERS[700:800].tobytes()
    check()
    assert chunks.delete_chunk(2) == 4
    del expected[2]
    check()
    ready = blosc_oxide.compress(NUMBERS[800:900])
    assert chunks.insert_chunk(4, ready) == 5 and chunks.update_chunk(1, ready) == 5
    expected.append(NUMBERS[800:900].tobytes())
    expected[1] = NUMBERS[800:900].tobytes()
    check()
    assert chunks.fill_special(200, "zero") == 7
    expected.extend([bytes(400)] * 2)
    check()
    chunks[98:102] = b"x" * 16
    expected[0] = expected[0][:-8] + b"x" * 8
    expected[1] = b"x" * 8 + expected[1][8:]
    check()
    chunks.vlmeta["unit"] = b"K"
    assert dict(chunks.vlmeta) == {"unit": b"K"} and chunks.verify() == []


def test_an_edit_is_committed_or_taken_back_as_one(place):
    chunks = blosc_oxide.SChunk(chunksize=400, data=NUMBERS[:300], **place)
    with chunks.edit():
        chunks.append_data(NUMBERS[300:400])
        chunks.delete_chunk(0)
        assert chunks.nchunks == 3
        if place:
            assert blosc_oxide.open(place["urlpath"])[:] == NUMBERS[:300].tobytes()
    assert chunks[:] == NUMBERS[100:400].tobytes()
    with pytest.raises(KeyError), chunks.edit():
        chunks.append_data(NUMBERS[:100])
        chunks.meta["a"] = b"b"
        raise KeyError
    assert chunks[:] == NUMBERS[100:400].tobytes() and "a" not in chunks.meta


@given(data=st.binary(max_size=3000), typesize=st.sampled_from([1, 2, 8]), items=st.integers(1, 400), key=st.slices(3000))
def test_any_slice_is_that_of_the_data(data, typesize, items, key):
    data = data[: len(data) // typesize * typesize]
    chunks = blosc_oxide.SChunk(chunksize=items * typesize, data=data, typesize=typesize, codec="lz4")
    view = np.frombuffer(data, f"V{typesize}")
    if key.step not in (None, 1):
        with pytest.raises(IndexError):
            chunks[key]
    else:
        assert chunks[key] == view[key].tobytes()


def test_python_blosc2_reads_and_writes_the_same(tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    for contiguous in (True, False):
        ours, theirs = str(tmp_path / f"ours{contiguous}.b2frame"), str(tmp_path / f"theirs{contiguous}.b2frame")
        blosc_oxide.SChunk(chunksize=1200, data=NUMBERS, urlpath=ours, contiguous=contiguous, codec="zlib")
        assert blosc2.open(ours)[:] == NUMBERS.tobytes()
        blosc2.SChunk(chunksize=1200, data=NUMBERS, urlpath=theirs, contiguous=contiguous, cparams={"typesize": 4})
        with blosc_oxide.open(theirs, "r+") as chunks:
            assert type(chunks) is blosc_oxide.SChunk and chunks[:] == NUMBERS.tobytes()
            chunks[10:20] = bytes(40)
        assert blosc2.open(theirs)[9:21] == NUMBERS[9:10].tobytes() + bytes(40) + NUMBERS[20:21].tobytes()


def test_open_tells_arrays_from_super_chunks(tmp_path):
    blosc_oxide.save([1, 2], tmp_path / "array")
    blosc_oxide.SChunk(data=b"12", urlpath=tmp_path / "chunks")
    assert type(blosc_oxide.open(tmp_path / "array")) is blosc_oxide.NDArray
    chunks = blosc_oxide.open(tmp_path / "chunks", "r+")
    assert type(chunks) is blosc_oxide.SChunk and repr(chunks).startswith("SChunk(nchunks=1, nbytes=2, typesize=1, urlpath=")
    with pytest.raises(ValueError, match="holds a super-chunk"):
        blosc_oxide.load(tmp_path / "chunks")
    copy = pickle.loads(pickle.dumps(chunks))
    assert copy[:] == b"12" and copy.mode == "r+"
    assert "nchunks   : 1" in repr(chunks.info) and "<table>" in chunks._repr_html_()


def edit_twice(chunks):
    with chunks.edit(), chunks.edit():
        pass


@pytest.mark.parametrize(
    "error, call",
    [
        (IndexError, lambda chunks: chunks[1000]),
        (IndexError, lambda chunks: chunks[::2]),
        (IndexError, lambda chunks: chunks.get_chunk(4)),
        (IndexError, lambda chunks: chunks.decompress_chunk(-1)),
        (IndexError, lambda chunks: chunks.insert_data(5, b"abcd")),
        (IndexError, lambda chunks: chunks.update_data(4, b"abcd")),
        (IndexError, lambda chunks: chunks.delete_chunk(4)),
        (ValueError, lambda chunks: chunks.__setitem__(slice(0, 2), b"abc")),
        (ValueError, lambda chunks: chunks.fill_special(10, "seven")),
        (ValueError, lambda chunks: chunks.update_chunk(0, chunks.get_chunk(0)[:-1])),
        (TypeError, lambda chunks: chunks.append_data("text")),
        (TypeError, lambda chunks: chunks.insert_data(0, 7)),
        (ValueError, edit_twice),
        (ValueError, lambda chunks: (chunks.close(), chunks[0])),
    ],
)
def test_what_makes_no_sense_is_refused(error, call):
    chunks = blosc_oxide.SChunk(chunksize=1200, data=NUMBERS)
    with pytest.raises(error):
        call(chunks)


@pytest.mark.parametrize(
    "options",
    [
        {"chunksize": 0},
        {"chunksize": 6, "typesize": 4},
        {"level": -1},
        {"typesize": -2},
        {"mode": "a"},
        {"codec": "lz5"},
    ],
)
def test_options_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError):
        blosc_oxide.SChunk(**{"data": b"abcd", **options})
