import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from iln_stream.errors import StateError
from iln_stream.state import pack, unpack

ARRAYS = npst.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint64, np.uint8, np.bool_]),
    npst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
NUMPY_SCALARS = st.floats(width=32).map(np.float32) | st.integers(0, 9).map(np.int64)
KEYS = st.text(max_size=3) | st.sampled_from(["$array", "$float", "$$array", "a/b", "a", "b", ""])
VALUES = st.recursive(
    SCALARS | ARRAYS | NUMPY_SCALARS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(KEYS, values, max_size=3),
    max_leaves=10,
)


def same(a, b) -> bool:
    """Equal in type, value and every bit."""
    if isinstance(a, np.ndarray | np.generic):
        return type(a) is type(b) and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and repr(a) == repr(b)


def through_files(tree):
    """The tree after a file of arrays and a file of UTF-8 text."""
    arrays, text = pack(tree)
    json.loads(text, parse_constant=pytest.fail)  # strict JSON
    file = io.BytesIO()
    np.savez(file, **{f"tree/{path}": array for path, array in arrays.items()})
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        back = {path.removeprefix("tree/"): loaded[path] for path in loaded.files}
    return unpack(back, text.encode().decode())


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_trees_come_back_from_files(tree):
    """Any tree survives npz and JSON bit for bit: odd keys, nan and infinities too."""
    assert same(through_files(tree), tree)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 2), "a/0 is .*a tuple"),
        ({1}, "a/0 is .*a set"),
        (1j, "a/0 is 1j, a complex"),
        (np.array([object()]), "a/0 is an array of object"),
        (np.array(["text"]), "a/0 is an array of <U4"),
        ({1: 2}, "a/0 has the key 1: keys must be strings"),
    ],
)
def test_what_is_no_value_is_refused(value, message):
    """Nothing is coerced: a value that would not be restored unchanged raises, with its path."""
    with pytest.raises(StateError, match=message):
        pack({"a": [value]})


@pytest.mark.parametrize(
    ("arrays", "text", "message"),
    [
        ({}, '{"a": {"$array": "a"}}', "array 'a' is missing"),
        ({"a": np.zeros(1)}, "{}", "does not mention its arrays a"),
        ({}, '{"a": NaN}', "NaN is not JSON"),
        ({}, '{"a": ', "can't be read"),
        ({}, '{"a": {"$float": []}}', "can't be read"),
        ({}, '{"a": {"$array": []}}', "can't be read"),
        ({}, "3", "is '3', not an object"),
    ],
)
def test_damage_is_told(arrays, text, message):
    """Missing arrays, extra arrays and broken text raise errors."""
    with pytest.raises(StateError, match=message):
        unpack(arrays, text)
