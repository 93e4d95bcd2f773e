"""Which key an event has."""

import pytest

from iln_stream.learners.keyed import key_of
from iln_stream.learners.keyed.store import LONGEST_KEY


@pytest.mark.parametrize(
    ("x", "key"),
    [
        ({"k": "a", "b": 1.0}, "a"),
        ({"k=a": 1.0, "b": 1.0}, "a"),
        ({"k=": 1.0, "b": 1.0}, ""),
        ({"k=a=b": 1.0, "b": 1.0}, "a=b"),
        ({"k": 17, "b": 1.0}, "17"),
        ({"k": 17.0, "b": 1.0}, "17"),
        ({"k": "17", "b": 1.0}, "17"),
        ({"k": 1.5, "b": 1.0}, "1.5"),
        ({"k": True, "b": 1.0}, "True"),
        ({"k": None, "b": 1.0}, None),
        ({"k": float("nan"), "b": 1.0}, None),
        ({"kk=a": 1.0, "b": 1.0}, None),
        ({"b": 1.0}, None),
    ],
)
def test_the_key_is_taken_out(x, key):
    """The key is a text, whatever form it has, and no input; events may lack it."""
    before = dict(x)
    found, rest = key_of(x, "k")
    assert found == key
    assert rest.pop("b") == 1.0
    assert rest == ({"kk=a": 1.0} if "kk=a" in x else {})
    assert repr(x) == repr(before)


@pytest.mark.parametrize("as_category", [False, True])
def test_a_key_too_long_to_keep_is_an_error(as_category):
    """A document in the place of a key is refused with the remedy: it would stay in memory."""
    key = "é" * (LONGEST_KEY + 1)
    x = {f"k={key}": 1.0} if as_category else {"k": key}
    with pytest.raises(ValueError, match=r"^key k: 1,025 characters, 'éé.*at most 1,024.*hash"):
        key_of(x, "k")
