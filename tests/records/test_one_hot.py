"""`one_hot`: encoding inputs as numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.records import MalformedError, one_hot


@pytest.mark.parametrize(
    ("x", "numbers"),
    [
        ({}, {}),
        ({"a": 1.5, "b": 0.0}, {"a": 1.5, "b": 0.0}),
        ({"up": True, "down": False}, {"up": 1.0, "down": 0.0}),
        ({"sky": "clear"}, {"sky=clear": 1.0}),
        ({"sky": ""}, {"sky=": 1.0}),
        ({"rain": None}, {}),
    ],
)
def test_kinds(x, numbers):
    """Each kind of value has its encoding; nulls are left out."""
    encoded = one_hot(x)
    assert encoded == numbers
    assert all(type(value) is float for value in encoded.values())


@given(st.dictionaries(st.text(), st.floats(allow_nan=False)))
def test_numbers_pass_unchanged(x):
    """Numbers reach the learner unchanged, with their names and in their order."""
    assert list(one_hot(x).items()) == list(x.items())


@given(st.text(), st.text(), st.text())
def test_categories_differ(name, one, other):
    """Two values of an input never share a column."""
    assert (one_hot({name: one}) == one_hot({name: other})) == (one == other)


@pytest.mark.parametrize("x", [{"a": "b", "a=b": 2.0}, {"a": "b=c", "a=b": "c"}])
def test_names_that_collide_are_refused(x):
    """Two inputs that would get the same name are refused: one would be lost."""
    for order in (x, dict(reversed(x.items()))):
        with pytest.raises(MalformedError, match="two inputs would get the name"):
            one_hot(order)
