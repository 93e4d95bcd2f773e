from typing import Any, NamedTuple

import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.learners.infinite_layer.part import Part, from_state, to_state


class Leaf(Part):
    kept = ("values", "n")
    fixed = ("values",)

    def __init__(self, n):
        self.values, self.n, self.scratch = np.full(2, float(n)), n, "not kept"


class Whole(Part):
    kept = ("name",)
    parts = ("leaf",)

    def __init__(self, name, n):
        self.name, self.leaf = name, Leaf(n)


def test_state_is_what_is_kept_and_that_of_the_parts():
    """Attributes named in `kept` and `parts` are in the state, and no others."""
    state = Whole("whole", 3).state()
    assert state["leaf"]["values"].tolist() == [3.0, 3.0]
    state["leaf"].pop("values")
    assert state == {"name": "whole", "leaf": {"n": 3}}


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        ({"n": 1}, "Leaf has missing or extra fields: values: use the release that wrote it"),
        ({"values": np.ones(2), "n": 1, "m": 2}, "Leaf has missing or extra fields: m: use the re"),
        ({"values": np.ones(3), "n": 1}, r"Leaf has values of shape \(3,\), not \(2,\): use the"),
    ],
)
def test_a_state_in_another_form_is_refused(leaf, message):
    """A field too few or too many, at any depth, or an array of another shape is an error."""
    with pytest.raises(StateError, match=message):
        Whole("whole", 3).restore({"name": "whole", "leaf": leaf})


class Pair(NamedTuple):
    """Two arrays."""

    a: Any
    b: Any


def test_a_named_tuple_goes_through_a_state():
    """Its arrays are copied both ways, and None is None."""
    pair = Pair(np.zeros(2), np.ones(3))
    state = to_state(pair)
    pair.a[:] = 5.0
    twin = from_state(Pair, state)
    twin.b[:] = 6.0
    assert (twin.a.tolist(), state["b"].tolist()) == ([0.0, 0.0], [1.0, 1.0, 1.0])
    assert to_state(None) is from_state(Pair, None) is None
    with pytest.raises(StateError, match="Pair has missing or extra fields: b"):
        from_state(Pair, {"a": np.zeros(2)})
