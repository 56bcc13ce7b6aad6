"""Examples in docstrings and in README.md are run as they stand, and every public name has a description."""

import doctest
import importlib
import inspect
import pathlib
import re
import shutil
import types

import blosc_oxide
import pytest

MODULES = {
    "blosc_oxide": None,
    "blosc_oxide.bloscpack": None,
    "blosc_oxide.dtypes": None,
    "blosc_oxide.errors": None,
    "blosc_oxide.handles": None,
    "blosc_oxide.handles.indexing": None,
    "blosc_oxide.handles.placing": None,
    "blosc_oxide.packed": None,
    "blosc_oxide.dask": "dask",
    "blosc_oxide.numcodecs": "numcodecs",
    "blosc_oxide.zarr": "zarr",
}
README = pathlib.Path(__file__).parent.parent / "README.md"
TOUR = README.with_name("TOUR.md")


def members(module):
    """What is public in a module, and what is public in its classes."""
    for name in getattr(module, "__all__", []):
        thing = getattr(module, name)
        if isinstance(thing, (int, str)):
            continue
        yield name, thing
        if inspect.isclass(thing):
            for inner, value in vars(thing).items():
                if not inner.startswith("_") and (callable(value) or isinstance(value, (property, classmethod, staticmethod))):
                    yield f"{name}.{inner}", value


def load(name):
    if MODULES[name]:
        pytest.importorskip(MODULES[name])
    return importlib.import_module(name)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = load(name)
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner()
    things = [("", module), *members(module)]
    things += [(key, value) for key, value in vars(module).items() if isinstance(value, types.FunctionType)]
    for key, thing in dict(things).items():
        for test in finder.find(thing, f"{name}.{key}", module=False, globs=dict(vars(module))):
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_described(name):
    module = load(name)
    assert module.__doc__
    assert not [key for key, thing in members(module) if not getattr(thing, "__doc__", None)]


def test_the_examples_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.S | re.M)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_the_tour_runs_and_shows_what_comes(tmp_path, monkeypatch):
    for package in ("dask", "zarr"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```pycon\n(.*?)^```", TOUR.read_text(), re.S | re.M)
    assert len(blocks) == TOUR.read_text().count("\n```\n") > 5
    runner, names = doctest.DocTestRunner(), {}
    for number, block in enumerate(blocks):
        test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", str(TOUR), 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0


def test_stubs_and_marker_are_installed():
    package = pathlib.Path(blosc_oxide.__file__).parent
    assert (package / "py.typed").exists() and (package / "_native.pyi").exists()
