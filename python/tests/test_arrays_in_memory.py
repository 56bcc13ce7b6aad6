"""`compress_array` and `decompress_array`: types and shapes are kept, and python-blosc2 reads what we write."""

import blosc_oxide
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

DTYPES = [
    "<i4",
    ">f8",
    "?",
    "<c16",
    "S5",
    "<U3",
    "<M8[ns]",
    "m8[D]",
    "V6",
    np.dtype([("a", "<i4"), ("b", "S3")]),
    np.dtype([("a", "<i1"), ("b", "<f8")], align=True),
    np.dtype([("x", "<i2", (2, 3)), ("y", [("z", "<f4")])]),
]


def random_array(dtype, shape):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    return np.random.default_rng(3).bytes(count * dtype.itemsize), dtype, shape


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (30, 4), (3, 0, 2), (5, 6, 7)])
def test_type_and_shape_are_kept(dtype, shape):
    memory, dtype, shape = random_array(dtype, shape)
    array = np.ndarray(shape, dtype, memory)
    back = blosc_oxide.decompress_array(blosc_oxide.compress_array(array))
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()
    assert back.flags.writeable


@given(array=arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(max_dims=4)), data=st.data())
def test_any_array_comes_back(array, data):
    axes = data.draw(st.permutations(range(array.ndim)))
    view = array.transpose(axes)[:: data.draw(st.sampled_from([1, 2, -1]))]
    back = blosc_oxide.decompress_array(blosc_oxide.compress_array(view, codec="lz4"))
    assert (back.dtype, back.shape, back.tobytes()) == (view.dtype, view.shape, view.tobytes())


def test_chunks_and_blocks_can_be_chosen():
    array = np.arange(10_000, dtype="i4").reshape(100, 100)
    packed = blosc_oxide.compress_array(array, chunks=(50, 40), blocks=(10, 20), codec="lz4", level=9)
    assert (blosc_oxide.decompress_array(packed) == array).all()


@pytest.mark.parametrize("dtype", ["<i4", ">f8", "S5", np.dtype([("a", "<i4"), ("b", "S3")])], ids=str)
def test_python_blosc2_reads_and_writes_the_same(dtype):
    blosc2 = pytest.importorskip("blosc2")
    memory, dtype, shape = random_array(dtype, (40, 30))
    array = np.ndarray(shape, dtype, memory)
    theirs = blosc2.ndarray_from_cframe(blosc_oxide.compress_array(array))
    assert theirs.dtype == dtype
    assert theirs[:].tobytes() == array.tobytes()
    ours = blosc_oxide.decompress_array(blosc2.asarray(array).to_cframe())
    assert (ours.dtype, ours.shape, ours.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.parametrize(
    "error, array, options",
    [
        (TypeError, [1, "a", None], {}),
        (TypeError, np.zeros(3, [("a", "O")]), {}),
        (ValueError, [1, 2], {"level": -1}),
        (ValueError, [1, 2], {"chunks": (1, 1)}),
        (ValueError, [1, 2], {"codec": "snappy"}),
        (ValueError, [1, 2], {"chunks": (1,), "blocks": (2,)}),
    ],
)
def test_what_makes_no_sense_is_refused(error, array, options):
    array = np.array(array, object) if isinstance(array, list) and None in array else np.array(array)
    with pytest.raises(error):
        blosc_oxide.compress_array(array, **options)


def test_what_is_no_array_is_an_error():
    good = blosc_oxide.compress_array(np.arange(10_000))
    for bad in (b"", b"abc", good[:50], good[: len(good) // 2]):
        with pytest.raises((blosc_oxide.DataError, ValueError)):
            blosc_oxide.decompress_array(bad)
    with pytest.raises(TypeError):
        blosc_oxide.decompress_array("text")
