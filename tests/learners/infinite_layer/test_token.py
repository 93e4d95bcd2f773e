"""What is in a token, and which of it is scored."""

import math

import numpy as np
import pytest

from iln_stream.learners.infinite_layer.tokens import KEPT, PATIENCE, ClassTokenFormat, TokenFormat

FORMAT = TokenFormat(("a", "b"), 2, 1, 3, intervals=True)
ENDS = np.array([[4.0, 6.0], [3.0, 7.0], [2.0, 8.0], [1.0, 9.0], [math.nan, math.nan]])


def token(n=1_000):
    """Of the prediction 5 on the scale (10, 2), where the second output did not count."""
    return FORMAT.written(n, 5.0, (10.0, 2.0), [1.0, 2.0], [0.5], ENDS, [0.25, math.nan, -1.0])


def test_what_was_written_is_read():
    """Ends are read around 0, and never nearer to it than they were."""
    seen = FORMAT.read(token())
    assert np.isfinite(token()).all()
    assert len(token()) == FORMAT.length == 14
    assert (seen.n, seen.prediction, seen.center, seen.unit) == (1_000, 5.0, 10.0, 2.0)
    assert seen.lags.tolist() == [1.0, 2.0]
    assert seen.sizes.tolist() == [0.5]
    assert seen.ends == pytest.approx(ENDS - 5.0, rel=1e-6, nan_ok=True)
    assert (seen.prediction + seen.ends[:4, 0] <= ENDS[:4, 0]).all()
    assert (seen.prediction + seen.ends[:4, 1] >= ENDS[:4, 1]).all()
    assert seen.outputs.tolist() == pytest.approx([0.25, math.nan, -1.0], nan_ok=True)


def test_outputs_are_scored_on_the_present_scale():
    """Of 10 + 2 x on the scale (9, 4), clipped to +-2; what did not count still does not."""
    outputs = FORMAT.read(token()).scored(1_001, 9.0, 4.0)
    assert outputs.tolist() == pytest.approx([0.375, math.nan, -0.25], nan_ok=True)
    assert FORMAT.read(token()).scored(1_001, 0.0, 1.0)[0] == 2.0


def test_outputs_are_scored_if_little_was_learned_since():
    """And the prediction's error counts if as many labels were known as have come since."""
    seen = FORMAT.read(token())
    last = 1_000 + 1_000 // PATIENCE
    assert seen.scored(last, 10.0, 2.0) is not None
    assert seen.scored(last + 1, 10.0, 2.0) is None
    assert seen.counts(2_000)
    assert not seen.counts(2_001)
    assert not FORMAT.read(token(0)).counts(1)


def test_targets_that_did_not_exist_yet_are_at_the_center():
    """After the first label there is one last target; before any label, an engine has its own."""
    assert FORMAT.read(token(1)).known_lags(5, 3.0) == [1.0, 3.0]
    assert FORMAT.read(token(0)).known_lags(5, 3.0) == [3.0, 3.0]
    assert FORMAT.read(token(0)).known_lags(0, 3.0) == [1.0, 2.0]


@pytest.mark.parametrize("C", [2, 30])
def test_classes_that_are_not_kept_are_one(C):
    """A token has the likeliest classes, so that it stays small; the others share what is left."""
    form = ClassTokenFormat(("a",), 3)
    p = np.random.default_rng(C).dirichlet(np.ones(C), size=3)
    seen = form.read(form.written(7, p[0], p))
    m = min(C - 1, KEPT)
    order = np.argsort(-p[0])
    assert seen.kept == order[:m].tolist()
    assert seen.experts[:, :m] == pytest.approx(p[:, order[:m]], rel=1e-6)
    assert seen.experts.sum(axis=1) == pytest.approx(np.ones(3))
    assert [seen.column(int(k)) for k in order] == [*range(m), *[m] * (C - m)]
    assert seen.column(C) is None
    assert form.read(form.without(7)).column(0) is None
