"""The types of items as text: what `.b2nd` arrays keep."""

import ast
from typing import Any

import numpy as np


def text_of(dtype: np.dtype[Any]) -> str:
    """The description of a type that NumPy itself writes into files.

    >>> text_of(np.dtype("i4"))
    '<i4'
    >>> text_of(np.dtype([("a", "i4"), ("b", "S3")]))
    "[('a', '<i4'), ('b', '|S3')]"
    """
    if dtype.hasobject:
        raise TypeError(f"an array of {dtype} holds references to Python objects")
    return str(np.lib.format.dtype_to_descr(dtype))


def dtype_of(text: str) -> np.dtype[Any]:
    """The type of a description.

    >>> dtype_of("[('a', '<i4'), ('b', '|S3')]")
    dtype([('a', '<i4'), ('b', 'S3')])
    """
    if text.startswith(("[", "(", "{")):
        return np.lib.format.descr_to_dtype(ast.literal_eval(text))
    return np.dtype(text)
