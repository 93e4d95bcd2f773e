import copy

import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.state import StateSchema

SCHEMA = StateSchema("some.Thing", 2)


def test_fields_in_the_order_asked_for():
    """The fields written are read back, in any order."""
    assert SCHEMA.read(SCHEMA.write(a=1, b=2), "b", "a") == (2, 1)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (StateSchema("some.Other", 2).write(a=1), "state of 'some.Other', not of 'some.Thing'"),
        (StateSchema("other.Thing", 2).write(a=1), "state of 'other.Thing', not of 'some.Thing'"),
        ({}, "this is the state of None, not of 'some.Thing'"),
        (3, "this is the state of 3, not of 'some.Thing'"),
        (
            StateSchema("some.Thing", 3).write(a=1),
            "some.Thing has format 3, and release .* reads 2: use the release that wrote it",
        ),
        (StateSchema("some.Thing", 1).write(a=1), "has format 1, and release .* reads 2:"),
        ({"class": "some.Thing", "a": 1}, "has format None, and release .* reads 2:"),
        (SCHEMA.write(), "some.Thing has missing or extra fields: a"),
        (SCHEMA.write(a=1, b=1), "some.Thing has missing or extra fields: b"),
    ],
)
def test_what_is_not_this_state_is_refused(state, message):
    """Another class, another version or other fields raise an error that says which."""
    with pytest.raises(StateError, match=message):
        SCHEMA.read(state, "a")


def renamed(old, new):
    """A migration that gives a field another name."""
    return lambda state: {(new if name == old else name): v for name, v in state.items()}


MIGRATING = StateSchema(
    "some.Thing", 4, {1: renamed("z", "a"), 2: renamed("a", "b"), 3: renamed("b", "c")}
)


@pytest.mark.parametrize(("version", "field"), [(1, "z"), (2, "a"), (3, "b"), (4, "c")])
def test_older_versions_are_migrated_step_by_step(version, field):
    """A state of any version from which migrations lead on is read, and left as it was."""
    state = StateSchema("some.Thing", version).write(**{field: np.arange(3.0)})
    before = copy.deepcopy(state)
    (value,) = MIGRATING.read(state, "c")
    assert value.tolist() == [0.0, 1.0, 2.0]
    assert str(state) == str(before)
    assert MIGRATING.migrated(state)["version"] == 4


@pytest.mark.parametrize("version", [0, 5, "1", None])
def test_versions_without_a_way_are_refused(version):
    """The error names the class, the version found, those that are read, and the remedy."""
    with pytest.raises(
        StateError,
        match=rf"state of some.Thing has format {version!r}, and release .* reads 1, 2, 3, 4: "
        "use the release that wrote it",
    ):
        MIGRATING.read({"class": "some.Thing", "version": version, "z": 1}, "c")


def test_a_gap_among_migrations_is_no_way():
    """Only migrations that lead to the present version count."""
    schema = StateSchema("some.Thing", 4, {1: dict, 3: dict})
    with pytest.raises(StateError, match=r"has format 1, and release .* reads 3, 4:"):
        schema.read({"class": "some.Thing", "version": 1})
