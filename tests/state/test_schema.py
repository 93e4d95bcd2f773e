import pytest

from iln_stream.errors import StateError
from iln_stream.state import StateSchema

FORM = StateSchema("Thing", 2)


def test_fields_in_the_order_asked_for():
    """The fields written are read back, in any order."""
    assert FORM.read(FORM.write(a=1, b=2), "b", "a") == (2, 1)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (StateSchema("Other", 2).write(a=1), "this is the state of 'Other', not of 'Thing'"),
        ({}, "this is the state of None, not of 'Thing'"),
        (3, "this is the state of 3, not of 'Thing'"),
        (
            StateSchema("Thing", 3).write(a=1),
            "Thing has version 3, and this release .* reads version 2",
        ),
        (FORM.write(), "Thing has missing or extra fields: a"),
        (FORM.write(a=1, b=1), "Thing has missing or extra fields: b"),
    ],
)
def test_what_is_not_this_state_is_refused(state, message):
    """Another class, another version or other fields raise an error that says which."""
    with pytest.raises(StateError, match=message):
        FORM.read(state, "a")
