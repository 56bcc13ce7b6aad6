"""What is left of damaged files."""

import blosc_oxide
import numpy as np
import pytest

ITEMS = np.random.default_rng(8).random((100, 100))


@pytest.fixture
def path(tmp_path):
    blosc_oxide.save(ITEMS, tmp_path / "array.b2nd", chunks=(20, 100), blocks=(5, 50))
    return tmp_path / "array.b2nd"


def damage(path, start, count):
    content = bytearray(path.read_bytes())
    content[start : start + count] = bytes(count)
    path.write_bytes(content)


def test_an_array_without_its_header_comes_back_whole(path, tmp_path):
    damage(path, 0, 80)
    before = path.read_bytes()
    with pytest.raises(ValueError):
        blosc_oxide.open(path)
    report = blosc_oxide.repair(path, tmp_path / "repaired.b2nd")
    assert (report["nchunks"], report["damaged_chunks"], report["damage"]) == (5, 0, [])
    assert (blosc_oxide.load(tmp_path / "repaired.b2nd") == ITEMS).all()
    assert path.read_bytes() == before
    assert "found_by" in repr(report) and "<table>" in report._repr_html_()


def test_a_damaged_chunk_is_zeros_and_is_told(path, tmp_path):
    damage(path, 5000, 100)
    report = blosc_oxide.repair(path, tmp_path / "repaired.b2nd")
    assert (report["damaged_chunks"], report["is_whole"], len(report["damage"])) == (1, False, 1)
    back = blosc_oxide.load(tmp_path / "repaired.b2nd")
    assert (back[:20] == 0).all() and (back[20:] == ITEMS[20:]).all()


def test_super_chunks_in_directories_are_repaired(tmp_path):
    chunks = blosc_oxide.SChunk(chunksize=8000, data=ITEMS, urlpath=tmp_path / "data", contiguous=False)
    (tmp_path / "data" / "chunks.b2frame").write_bytes(b"")
    report = blosc_oxide.repair(tmp_path / "data", tmp_path / "repaired")
    assert report["nchunks"] == 10 and (tmp_path / "repaired").is_dir()
    assert blosc_oxide.open(tmp_path / "repaired")[:] == chunks[:]


def test_what_cannot_be_repaired_is_an_error_and_leaves_nothing(path, tmp_path):
    (tmp_path / "noise").write_bytes(bytes(1000))
    for error, source, target in [
        (blosc_oxide.DataError, "noise", "repaired"),
        (FileNotFoundError, "missing", "repaired"),
        (FileExistsError, "array.b2nd", "noise"),
        (FileNotFoundError, "array.b2nd", "no/directory"),
    ]:
        with pytest.raises(error) as caught:
            blosc_oxide.repair(tmp_path / source, tmp_path / target)
        if error is not blosc_oxide.DataError:
            assert caught.value.filename in (str(tmp_path / source), str(tmp_path / target))
    assert sorted(name.name for name in tmp_path.iterdir()) == ["array.b2nd", "noise"]
