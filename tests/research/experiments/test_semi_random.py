"""The experiment `semi_random`, in its quick mode on the substitute."""

import pytest

from iln_stream.research.experiments.semi_random import GOALS, METHODS, STREAMS

pytestmark = pytest.mark.thorough


def curve(result, stream, method):
    (found,) = (
        c for c in result.figures["curves"] if (c["stream"], c["method"]) == (stream, method)
    )
    return found


def test_more_units_err_less(result):
    """On Friedman's function each method errs less with the most units than with 4, and learns:
    .35 of the variance is less than a linear function with few units leaves."""
    for method in METHODS:
        errors = [point["mean"] for point in curve(result, "friedman", method)["error"]]
        assert errors[-1] < errors[0], method
        assert errors[-1] < 0.35, method


def test_order_of_the_kinds(result):
    """For .25 of the variance of Friedman's function trained units are fewer than semi-random ones,
    and these than random ones, as the source says."""
    (row,) = (
        row
        for row in result.figures["needed"]
        if (row["stream"], row["goal"]) == ("friedman", 0.25)
    )
    trained, semi, fixed = (
        row[m]["units"]["mean"] for m in ("trained ReLU", "semi-random, linear", "random ReLU")
    )
    assert trained < semi < fixed


def test_accounts(result):
    """Learned weights are those of the networks: random units have one, others one an input."""
    d = 10
    assert curve(result, "friedman", "random ReLU")["weights"][0] == 4 + 1
    assert curve(result, "friedman", "semi-random, squared")["weights"][0] == 4 * (d + 1)
    assert curve(result, "friedman", "trained ReLU")["weights"][0] == 4 * (d + 1) + 4
    two = curve(result, "friedman", "trained ReLU, two layers")
    assert two["weights"][0] == 2 * (d + 1) + 2 * 2 + 2


def test_needed(result):
    """A row for each goal, units rise as the goal falls, and "not reached" is not a number."""
    needed = result.figures["needed"]
    assert len(needed) == len(GOALS) * len(STREAMS)
    rows = [row["trained ReLU"]["units"] for row in needed if row["stream"] == "friedman"]
    reached = [row["mean"] for row in rows if row]
    assert reached == sorted(reached)
    assert None in rows


def test_notes_and_plot(result, legend):
    """The notes tell the data and units for each stream."""
    assert "synthetic arm" in result.notes[0]
    for name in STREAMS:
        assert [note for note in result.notes[1:] if note.startswith(f"{name}, units")]
    assert len(legend) == len(METHODS) + len(STREAMS)
