"""Arrays on disk and in memory: indices as NumPy's, changes that are committed or taken back, exceptions."""

import os
import pickle
import subprocess
import sys

import blosc_oxide
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

DTYPES = ["<i4", ">f8", "?", "S3", "<M8[s]", np.dtype([("a", "<i2"), ("b", "<f4")])]


def counted(shape, dtype="<i4"):
    """An array in which every item is another one."""
    dtype = np.dtype(dtype)
    numbers = np.arange(int(np.prod(shape)), dtype="<i8")
    if dtype.names:
        items = np.zeros(shape, dtype)
        items["a"], items["b"] = numbers.reshape(shape), numbers.reshape(shape) / 2
        return items
    return numbers.reshape(shape).astype(dtype)


@st.composite
def cut_arrays(draw, min_dims=0):
    """An array of NumPy's, and the same as ours, in chunks and blocks of any shapes."""
    shape = draw(arrays.array_shapes(min_dims=min_dims, max_dims=4, min_side=0, max_side=9))
    chunks = [draw(st.integers(1, max(length, 1))) for length in shape]
    blocks = [draw(st.integers(1, chunk)) for chunk in chunks]
    items = counted(shape, draw(st.sampled_from(DTYPES)))
    return items, blosc_oxide.asarray(items, chunks=chunks, blocks=blocks, codec="lz4")


@st.composite
def index_lists(draw, shape):
    """Indices with lists, masks and single indices among slices."""
    count = draw(st.integers(1, 4))
    key = []
    for length in shape:
        kind = draw(st.sampled_from(["slice", "index", "list", "mask", "points"]))
        if kind == "slice" or length == 0:
            key.append(draw(st.slices(length)))
        elif kind == "index":
            key.append(draw(st.integers(-length, length - 1)))
        elif kind == "mask":
            true = draw(st.sets(st.integers(0, length - 1), min_size=count, max_size=count)) if count <= length else {0}
            key.append([index in true for index in range(length)])
        else:
            indices = st.lists(st.integers(-length, length - 1), min_size=count, max_size=count)
            key.append(np.array(draw(indices)) if kind == "points" else draw(indices))
    if draw(st.booleans()) and key:
        key[draw(st.integers(0, len(key) - 1)) :] = [Ellipsis]
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


def outcome(call):
    try:
        return np.asarray(call())
    except IndexError:
        return IndexError


def assert_same(actual, expected):
    if expected is IndexError or actual is IndexError:
        assert actual is expected
        return
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    assert actual.tobytes() == expected.tobytes()


@given(data=st.data(), pair=cut_arrays())
def test_basic_indices_are_those_of_numpy(data, pair):
    items, array = pair
    key = data.draw(arrays.basic_indices(items.shape, allow_newaxis=True))
    expected, actual = items[key], array[key]
    assert_same(np.asarray(actual), np.asarray(expected))
    assert type(actual) is type(expected)


@given(data=st.data(), pair=cut_arrays(min_dims=1))
def test_lists_masks_and_points_are_those_of_numpy(data, pair):
    items, array = pair
    key = data.draw(index_lists(items.shape))
    assert_same(outcome(lambda: array[key]), outcome(lambda: items[key]))


@given(data=st.data(), pair=cut_arrays(min_dims=1))
def test_masks_of_the_whole_shape_are_those_of_numpy(data, pair):
    items, array = pair
    mask = data.draw(arrays.arrays(bool, items.shape))
    assert_same(array[mask], items[mask])


@given(data=st.data(), pair=cut_arrays(min_dims=1))
def test_orthogonal_indices_are_those_of_numpy(data, pair):
    items, array = pair
    lists = [data.draw(st.lists(st.integers(-n, n - 1), max_size=5)) if n else [] for n in items.shape]
    expected = items[np.ix_(*[np.array(indices, dtype=int) for indices in lists])]
    assert_same(array.oindex[tuple(np.array(indices, dtype=int) for indices in lists)], expected)


@given(data=st.data(), pair=cut_arrays())
def test_assignments_are_those_of_numpy(data, pair):
    items, array = pair
    key = data.draw(st.one_of(arrays.basic_indices(items.shape, allow_newaxis=True), index_lists(items.shape)))
    if outcome(lambda: items[key]) is IndexError:
        with pytest.raises(IndexError):
            array[key] = items[:0]
        return
    target = np.asarray(items[key])
    value = counted(target.shape[data.draw(st.integers(0, target.ndim)) :], items.dtype)
    items[key] = value
    array[key] = value
    assert array[...].tobytes() == items.tobytes()


@pytest.mark.parametrize("key", [10, -11, (0, 3), (0, 0, 0), [10], ([0, 1], [0, 3]), 1.5, "a", (..., ...), [True] * 3])
def test_what_is_no_index_is_an_index_error(key):
    items = counted((10, 3))
    array = blosc_oxide.asarray(items)
    with pytest.raises(IndexError):
        items[key]
    with pytest.raises((IndexError, TypeError)):
        array[key]


def test_a_statement_has_committed_when_it_returns(tmp_path):
    path = tmp_path / "array.b2nd"
    with blosc_oxide.zeros((4, 3), "i4", urlpath=path) as array:
        array[1] = [1, 2, 3]
        assert (blosc_oxide.load(path)[1] == [1, 2, 3]).all()
        assert array.append(np.ones((2, 3))) == 18
        assert blosc_oxide.load(path).shape == (6, 3)
        array.resize((2, 5))
        assert (blosc_oxide.load(path) == [[0] * 5, [1, 2, 3, 0, 0]]).all()
        array.vlmeta["unit"] = b"K"
        assert dict(blosc_oxide.open(path).vlmeta) == {"unit": b"K"}


def test_an_edit_is_committed_or_taken_back_as_one(tmp_path):
    path = tmp_path / "array.b2nd"
    array = blosc_oxide.asarray(np.arange(10), urlpath=path)
    reader = blosc_oxide.open(path)
    with array.edit():
        array[0] = 100
        array.append([10])
        assert array[0] == 100 and array.shape == (11,)
        assert (blosc_oxide.load(path) == np.arange(10)).all()
    assert (blosc_oxide.load(path) == [100, *range(1, 11)]).all()
    with pytest.raises(ZeroDivisionError), array.edit():
        array[:] = 0
        array.vlmeta["a"] = b"b"
        array.resize(3)
        raise ZeroDivisionError
    assert array.shape == (11,) and array[0] == 100 and not array.vlmeta
    assert (blosc_oxide.load(path) == array[:]).all()
    # Who has it open sees the state of opening, until it goes on.
    assert (reader[:] == np.arange(10)).all()
    assert reader.refresh() and not reader.refresh()
    assert reader.shape == (11,)


def test_a_process_that_ends_in_an_edit_leaves_the_old_state(tmp_path):
    path = str(tmp_path / "array.b2nd")
    blosc_oxide.save(np.arange(100_000), path)
    program = """
import blosc_oxide, os, sys
array = blosc_oxide.open(sys.argv[1], "r+")
edit = array.edit()
edit.__enter__()
array[:] = 0
array.append(range(1000))
os._exit(0) if sys.argv[2] == "_exit" else sys.exit()
"""
    for way in ("_exit", "exit"):
        subprocess.run([sys.executable, "-c", program, path, way], check=True)
        assert (blosc_oxide.load(path) == np.arange(100_000)).all()
        assert blosc_oxide.open(path).verify() == []


def test_metalayers_are_mappings():
    array = blosc_oxide.zeros(3)
    for layers in (array.meta, array.vlmeta):
        before = set(layers)
        layers["name"] = b"content"
        assert layers["name"] == b"content" and set(layers) == before | {"name"}
        layers["name"] = bytearray(b"CONTENT")
        assert layers.get("name") == b"CONTENT"
        del layers["name"]
        assert set(layers) == before
        with pytest.raises(KeyError):
            layers["name"]
        with pytest.raises(KeyError):
            del layers["name"]
        with pytest.raises(TypeError):
            layers["name"] = "text"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_python_blosc2_reads_and_writes_the_same_files(tmp_path, dtype):
    blosc2 = pytest.importorskip("blosc2")
    items = counted((30, 20), dtype)
    blosc_oxide.save(items, tmp_path / "ours.b2nd", chunks=(8, 9), blocks=(3, 4))
    theirs = blosc2.open(str(tmp_path / "ours.b2nd"))
    assert theirs.dtype == items.dtype and theirs[:].tobytes() == items.tobytes()
    blosc2.asarray(items, urlpath=str(tmp_path / "theirs.b2nd"), chunks=(7, 10), blocks=(3, 5))
    with blosc_oxide.open(tmp_path / "theirs.b2nd", "r+") as ours:
        assert ours.dtype == items.dtype and ours[:].tobytes() == items.tobytes()
        assert (ours.chunks, ours.blocks) == ((7, 10), (3, 5))
        ours[3:5] = items[0]
    items[3:5] = items[0]
    assert blosc2.open(str(tmp_path / "theirs.b2nd"))[:].tobytes() == items.tobytes()


def test_an_array_is_pickled_as_its_path(tmp_path):
    path = tmp_path / "array.b2nd"
    array = blosc_oxide.asarray(np.arange(5), urlpath=path)
    copy = pickle.loads(pickle.dumps(array))
    assert (copy[:] == array[:]).all() and copy.urlpath == str(path) and copy.mode == "r+"
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(blosc_oxide.zeros(3))


def test_info_is_text_and_a_table():
    info = blosc_oxide.zeros((3, 4), [("<b>", "i4")]).info
    assert "shape   : (3, 4)" in repr(info)
    assert "&lt;b&gt;" in info._repr_html_() and "<b>" not in info._repr_html_()


def test_chunks_are_iterated_over():
    items = counted((7, 5))
    array = blosc_oxide.asarray(items, chunks=(3, 2), blocks=(2, 1))
    copy = np.zeros_like(items)
    for part, chunk in array.iterchunks():
        assert chunk.shape <= (3, 2)
        copy[part] = chunk
    assert (copy == items).all()
    assert [row.tolist() for row in array] == items.tolist() and len(array) == 7
    assert (np.asarray(array) == items).all() and np.asarray(array, "f4").dtype == "f4"


def test_verify_finds_damage_and_compact_gives_space_back(tmp_path):
    path = tmp_path / "array.b2nd"
    random = np.random.default_rng(4)
    with blosc_oxide.asarray(random.random(100_000), urlpath=path, chunks=(10_000,), blocks=(1000,)) as array:
        for _ in range(5):
            array[:] = random.random(100_000)
        before = path.stat().st_size
        array.compact()
        assert path.stat().st_size < before
        assert array.verify() == []
    content = bytearray(path.read_bytes())
    content[5000:5100] = bytes(100)
    path.write_bytes(content)
    damage = blosc_oxide.open(path).verify()
    assert len(damage) == 1 and isinstance(damage[0][0], int) and damage[0][1]


@pytest.mark.parametrize("mode", ["x", "w"])
def test_what_is_there_is_replaced_only_if_that_is_asked_for(tmp_path, mode):
    path = tmp_path / "array.b2nd"
    blosc_oxide.save([1, 2], path)
    if mode == "x":
        with pytest.raises(FileExistsError) as caught:
            blosc_oxide.save([3], path)
        assert caught.value.filename == str(path)
    else:
        blosc_oxide.save([3], path, mode="w")
    assert blosc_oxide.load(path).tolist() == ([1, 2] if mode == "x" else [3])
    assert os.listdir(tmp_path) == ["array.b2nd"]


def test_exceptions_are_those_that_python_programs_expect(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        blosc_oxide.open(tmp_path / "missing.b2nd")
    assert caught.value.errno == 2 and caught.value.filename == str(tmp_path / "missing.b2nd")
    path = tmp_path / "array.b2nd"
    blosc_oxide.save(np.arange(1000), path)
    reader = blosc_oxide.open(path)
    for change in (
        lambda: reader.__setitem__(0, 1),
        lambda: reader.resize(3),
        lambda: reader.append([1]),
        lambda: reader.vlmeta.__setitem__("a", b""),
        lambda: reader.edit().__enter__(),
        reader.compact,
    ):
        with pytest.raises(ValueError, match="open for reading only"):
            change()
    with pytest.raises(ValueError, match="mode is 'rw'"):
        blosc_oxide.open(path, "rw")
    writer = blosc_oxide.open(path, "r+")
    for change in (
        lambda: writer.__setitem__(slice(0, 3), [1, 2]),
        lambda: writer.__setitem__(0, "text"),
        lambda: writer.append([[1]]),
        lambda: writer.append([1], axis=1),
        lambda: writer.resize(-1),
        lambda: writer.resize((1, 1)),
    ):
        with pytest.raises(ValueError):
            change()
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer[0]
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(blosc_oxide.DataError):
        blosc_oxide.open(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError):
        blosc_oxide.open(path)
