import numpy as np

from iln_stream.learners.infinite_layer.part import Part


class Leaf(Part):
    kept = ("values", "n")

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


def test_state_shares_no_memory():
    """Neither a part that goes on nor one that was restored changes a state."""
    whole, twin = Whole("whole", 3), Whole("twin", 4)
    state = whole.state()
    twin.restore(state)
    whole.leaf.values[:] = -1.0
    assert (twin.name, twin.leaf.n, twin.leaf.values.tolist()) == ("whole", 3, [3.0, 3.0])
    twin.leaf.values[:] = -2.0
    assert state["leaf"]["values"].tolist() == [3.0, 3.0]
