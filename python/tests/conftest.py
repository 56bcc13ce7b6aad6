"""How examples of Hypothesis are run: some hundred each, or with `BLOSC_LONG_TESTS=1` ten thousand."""

import os

from hypothesis import settings

settings.register_profile("short", deadline=None, max_examples=100)
settings.register_profile("long", deadline=None, max_examples=10_000)
settings.load_profile("long" if os.environ.get("BLOSC_LONG_TESTS") else "short")
