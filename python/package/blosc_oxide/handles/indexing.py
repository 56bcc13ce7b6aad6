"""What NumPy's indices take of an array that is not in memory.

An index is turned into a selection for each axis (an index, a slice, or a list of indices), which is what is read, and into what
NumPy has to do with the result: `Plan.index` of a box that was read, then axes that were asked for by `numpy.newaxis`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Selection = int | tuple[int, int | None, int] | list[int]

# A box that has this many times the items that are wanted is not read: the items are read one by one.
_MOST_TO_READ = 4


@dataclass
class Plan:
    """How an index is read."""

    selections: list[Selection]
    """For each axis of the array, what is read."""
    counts: list[int]
    """How many indices that is for each axis; 1 for those that are single."""
    index: tuple[Any, ...] | None
    """What NumPy takes of the box, all of whose axes are there; None for: the box, without the axes of single indices."""
    lists: dict[int, NDArray[np.intp]]
    """The lists of indices by axis, all of one shape, where there are any that NumPy takes together."""

    @property
    def box(self) -> tuple[int, ...]:
        return tuple(self.counts)


def expanded(key: Any, ndim: int) -> list[Any]:
    """The parts of an index, one for each axis, with `newaxis` between them; masks as lists of indices."""
    parts = list(key) if isinstance(key, tuple) else [key]
    parts = [part for entry in parts for part in _without_masks(entry)]
    taken = sum(1 for part in parts if part is not None and part is not Ellipsis)
    if taken > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {taken} were indexed")
    ellipses = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    place = ellipses[0] if ellipses else len(parts)
    parts[place : place + 1] = [slice(None)] * (ndim - taken)
    return parts


def _without_masks(entry: Any) -> list[Any]:
    """An entry of an index, where a mask becomes the indices of what is true, for each of its axes."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return [entry]
    array = np.asarray(entry)
    if array.dtype == bool:
        if array.ndim == 0:
            raise IndexError("a single truth value is no index here")
        return [_Mask(indices, length) for indices, length in zip(array.nonzero(), array.shape, strict=True)]
    if array.ndim == 0:
        return [operator.index(entry if not isinstance(entry, np.ndarray) else entry.item())]
    if array.size == 0 and not isinstance(entry, np.ndarray):
        array = array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return [array.astype(np.intp)]


@dataclass
class _Mask:
    """The indices of what is true along an axis of a mask, and how long that axis is."""

    indices: NDArray[np.intp]
    length: int


def _checked_list(part: Any, axis: int, length: int) -> NDArray[np.intp]:
    if isinstance(part, _Mask):
        if part.length != length:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is {length}"
                f" but size of corresponding boolean axis is {part.length}"
            )
        return part.indices
    bad = part[(part < -length) | (part >= length)]
    if bad.size:
        raise IndexError(f"index {bad.flat[0]} is out of bounds for axis {axis} with size {length}")
    indices: NDArray[np.intp] = np.where(part < 0, part + length, part)
    return indices


def _checked_index(index: int, axis: int, length: int) -> int:
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
    return index + length if index < 0 else index


def _checked_slice(part: slice, length: int) -> tuple[tuple[int, int | None, int], int]:
    start, stop, step = part.indices(length)
    count = len(range(start, stop, step))
    if count == 0:
        return (0, 0, 1), 0
    return (start, stop if stop >= 0 else None, step), count


def planned(key: Any, shape: tuple[int, ...], *, is_orthogonal: bool = False) -> tuple[Plan, list[int]]:
    """How `key` is read from an array of this shape, and where in the result there are new axes."""
    parts = expanded(key, len(shape))
    news = [place for place, part in enumerate(parts) if part is None]
    selections: list[Selection] = []
    counts: list[int] = []
    index: list[Any] = []
    lists: dict[int, NDArray[np.intp]] = {}
    is_single: list[bool] = []
    for part in parts:
        if part is None:
            index.append(None)
            continue
        axis = len(selections)
        length = shape[axis]
        is_single.append(isinstance(part, int))
        if isinstance(part, int):
            selections.append(_checked_index(part, axis, length))
            counts.append(1)
            index.append(0)
        elif isinstance(part, slice):
            selection, count = _checked_slice(part, length)
            selections.append(selection)
            counts.append(count)
            index.append(slice(None))
        else:
            values = _checked_list(part, axis, length)
            lists[axis] = values
            wanted, places = np.unique(values, return_inverse=True)
            selections.append(wanted.tolist())
            counts.append(len(wanted))
            index.append(places.reshape(values.shape))
    if is_orthogonal and lists:
        return _orthogonal(selections, counts, index, lists), []
    if lists:
        lists = dict(zip(lists, np.broadcast_arrays(*lists.values()), strict=True))
        return Plan(selections, counts, tuple(index), lists), []
    singles_before = [sum(1 for part in parts[:place] if isinstance(part, int)) for place in news]
    return Plan(selections, counts, None, {}), [place - singles for place, singles in zip(news, singles_before, strict=True)]


def _orthogonal(
    selections: list[Selection], counts: list[int], index: list[Any], lists: dict[int, NDArray[np.intp]]
) -> Plan:
    """Lists by themselves, each along its own axis, in the order and number in which they were given."""
    if any(part is None for part in index):
        raise IndexError("orthogonal indices have no new axes")
    for axis, values in lists.items():
        if values.ndim != 1:
            raise IndexError(f"an orthogonal index has lists of one dimension, that of axis {axis} has {values.ndim}")
        selections[axis] = values.tolist()
        counts[axis] = len(values)
    return Plan(selections, counts, None, {})


def is_sparse(plan: Plan) -> bool:
    """Whether the box of a plan has so much that is not wanted that items are better read one by one."""
    if len(plan.lists) < 2:
        return False
    wanted = next(iter(plan.lists.values())).size
    for axis, count in enumerate(plan.counts):
        if axis not in plan.lists:
            wanted *= count
    return int(np.prod(plan.counts, dtype=object)) > _MOST_TO_READ * max(wanted, 1)


def coordinates(plan: Plan, shape: tuple[int, ...]) -> tuple[NDArray[np.uint64], tuple[int, ...]]:
    """The indices of each item that a plan takes, item after item, and the shape of the result.

    NumPy itself says which these are: it is asked to index, for each axis, an array of the box in which each item is its index
    along that axis. Such an array has one number for each index, and takes no memory for the other axes.
    """
    assert plan.index is not None
    columns = []
    for axis, selection in enumerate(plan.selections):
        if isinstance(selection, int):
            numbers = np.array([selection])
        elif isinstance(selection, tuple):
            numbers = np.arange(shape[axis])[slice(*selection)]
        else:
            numbers = np.array(selection, dtype=np.intp)
        lined_up = numbers.reshape([-1 if other == axis else 1 for other in range(len(shape))])
        columns.append(np.broadcast_to(lined_up, plan.box)[plan.index])
    result = columns[0].shape if columns else ()
    points = np.stack([column.reshape(-1) for column in columns], axis=-1)
    return np.ascontiguousarray(points, dtype="<u8"), result
