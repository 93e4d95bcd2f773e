"""Numbers that are not finite, in a state."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.state.state_dict import StateDict


def all_finite(array: NDArray[Any]) -> bool:
    """Return whether no number in an array is nan or infinite.

    >>> import numpy as np
    >>> all_finite(np.array([1.0, 1e308])), all_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    return bool(np.isfinite(array).all())


def not_finite(state: StateDict) -> list[str]:
    """Return the paths of a state's numbers, or arrays of them, that are not all finite.

    >>> not_finite({"n": 3, "f": {"theta": np.array([0.0, np.inf])}, "scales": [1.0, np.nan]})
    ['f/theta', 'scales/1']
    """
    return list(_walk(state, ""))


def _walk(value: Any, path: str) -> Any:
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in entries:
            yield from _walk(entry, f"{path}/{key}" if path else str(key))
    elif isinstance(value, float | np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind == "f" and not all_finite(array):
            yield path
