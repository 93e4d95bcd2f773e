import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.errors import StateError
from iln_stream.state import decode_name, encode_name

SIMPLE = st.none() | st.booleans() | st.integers() | st.text()
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.recursive(SIMPLE | NUMBERS, lambda names: st.lists(names, max_size=3).map(tuple))


@given(NAMES)
def test_names_come_back(name):
    """Any name that River's models allow is restored unchanged, its type included."""
    back = decode_name(encode_name(name))
    assert back == name
    assert repr(back) == repr(name)


@given(NAMES, NAMES)
def test_different_names_have_different_texts(a, b):
    """No two names collide, for example 1 and "1"."""
    assert (encode_name(a) == encode_name(b)) == (repr(a) == repr(b))


@pytest.mark.parametrize("name", [object(), b"a", ("a", {1}), math.nan, (math.inf,)])
def test_unsavable_names_are_refused(name):
    """A name that could not be restored unchanged raises an error that shows it."""
    with pytest.raises(StateError, match="an input is named"):
        encode_name(name)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[[{}]]", None])
def test_what_is_no_name_is_refused(text):
    """A damaged name raises an error, and never becomes another name."""
    with pytest.raises(StateError, match="is not the name of an input"):
        decode_name(text)
