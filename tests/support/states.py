"""Any state, for hypothesis, and how two are compared."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

ARRAYS = npst.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint64, np.uint8, np.bool_]),
    npst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
NUMPY_SCALARS = st.floats(width=32).map(np.float32) | st.integers(0, 9).map(np.int64)
KEYS = st.text(max_size=3) | st.sampled_from(
    ["$array", "$float", "$$array", "a/b", "a", "b", "", "json"]
)
VALUES = st.recursive(
    SCALARS | ARRAYS | NUMPY_SCALARS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(KEYS, values, max_size=3),
    max_leaves=10,
)
STATES = st.dictionaries(KEYS, VALUES, max_size=4)


def same(a, b) -> bool:
    """Equal in type, value and every bit."""
    if isinstance(a, np.ndarray | np.generic):
        return type(a) is type(b) and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and repr(a) == repr(b)
