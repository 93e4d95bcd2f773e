"""The compiled functions, imported when they are needed: imports need not wait for numba."""

from functools import cache
from typing import Any


@cache
def key_model() -> Any:
    """Return the module `compiled.key_model`."""
    from iln_stream.compiled import key_model as found

    return found
