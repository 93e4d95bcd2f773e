import io
import json

import numpy as np
import pytest
from hypothesis import given
from support.states import STATES, same

from iln_stream.errors import StateError
from iln_stream.state import pack, unpack


def through_files(state):
    """The state after a file of arrays and a file of UTF-8 text."""
    arrays, text = pack(state)
    json.loads(text, parse_constant=pytest.fail)  # strict JSON
    file = io.BytesIO()
    np.savez(file, **{f"state/{path}": array for path, array in arrays.items()})
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        back = {path.removeprefix("state/"): loaded[path] for path in loaded.files}
    return unpack(back, text.encode().decode())


@given(STATES)
def test_states_come_back_from_files(state):
    """Any state survives npz and JSON bit for bit: odd keys, nan and infinities too."""
    assert same(through_files(state), state)


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
