"""The experiment `pegasos_objective`, in its quick mode on the substitute."""

from itertools import islice

import numpy as np

from iln_stream.research.experiments.pegasos_objective import WAYS, new_orders, one_order


def test_the_objective_falls(result):
    """No way is below the optimum, and each ends nearer to it than it was after a pass; of the same
    examples, batches of 1,000 leave the objective highest, as they take fewest steps."""
    last = {}
    for name, points in result.figures["excess"].items():
        first, end = points[-5]["mean"], points[-1]["mean"]
        assert 0.0 < end < first, name
        last[name] = end
    assert max(last, key=last.__getitem__) == "the same, batches of 1,000"


def test_orders():
    """A pass has each example once; one order repeats itself, and new orders do not."""
    for order, repeats in ((one_order, True), (new_orders, False)):
        taken = np.array(list(islice(order(50, np.random.default_rng(1)), 100))).reshape(2, 50)
        assert np.array_equal(np.sort(taken), [np.arange(50)] * 2)
        assert np.array_equal(*taken) == repeats


def test_notes_and_plot(result, legend):
    """Each way has a note and a line."""
    assert len(result.notes) == 1 + len(WAYS) == 1 + len(legend)
