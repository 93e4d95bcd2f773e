"""Budget accounts."""

import pytest

from iln_stream.research.experiments.result import Budget


def test_time_adds_up():
    """CPU time accumulates over blocks, also over one that fails."""
    budget = Budget()
    with budget.timed():
        sum(range(100_000))
    first = budget.seconds
    with pytest.raises(KeyError), budget.timed():
        {sum(range(100_000)): None}["absent"]
    assert 0 < first < budget.seconds


def test_figures_are_plain():
    """The counts come by name, as plain values."""
    assert Budget(psi=3).figures() == {"psi": 3, "draws": 0, "kernels": 0, "seconds": 0.0}
