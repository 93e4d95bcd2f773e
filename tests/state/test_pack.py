import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.state import pack, unpack


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 2), "a/0 is .*a tuple"),
        ({1}, "a/0 is .*a set"),
        (1j, "a/0 is 1j, a complex"),
        (np.array([object()]), "a/0 is an array of object: only numbers can be saved"),
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
