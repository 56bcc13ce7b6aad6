"""Exceptions of the package."""


class DataError(ValueError, RuntimeError):
    """Data that are damaged, cut off or something else than they should be.

    It is a `RuntimeError`, too, which other Blosc packages raise for this.
    """
