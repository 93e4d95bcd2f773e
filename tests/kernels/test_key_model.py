"""The model of a key, compared with one in numpy that solves each system anew."""

import math

import numpy as np
import pytest

from iln_stream.kernels.columns import ABSENT, no_statistics
from iln_stream.kernels.key_model import (
    CORRECTION,
    EXPECTED,
    OUT,
    SPREAD,
    effects_of,
    expected_ratio,
    learn_key,
    new_scratch,
    new_shared,
    predict_key,
    row_size,
)

D = 4
Q = D - 1


class Law:
    """What keys share, by names."""

    def __init__(self):
        self.events, self.spread, self.outliers = 0, 0.0, 0
        self.begin(1.0)
        self.mean, self.mean_level, self.updates = np.zeros(D), 0.0, 0
        self.ages = np.zeros((24, 6))
        self.bins = np.zeros(192)

    def begin(self, square):
        self.noise = self.noise_of_level = self.squares_of_level = square
        self.squares, self.freedom = square * np.array([1.0] + [0.1] * Q), np.ones(D)
        self.freedom_of_level = 1.0


class Key:
    """A key's model in plain numpy."""

    def __init__(self):
        self.n, self.at, self.A, self.b = 0, 0.0, np.zeros((D, D)), np.zeros(D)
        self.losses, self.errors, self.weights = np.zeros(5), 0.0, 0.0
        self.last, self.recent, self.n_recent = 0.0, 0.0, 0.0

    def posterior(self, law):
        ridge = law.noise * law.freedom / law.squares
        inverse = np.linalg.inv(self.A + np.diag(ridge))
        return inverse @ (self.b + ridge * law.mean), inverse

    def level(self, law):
        ridge = law.noise_of_level * law.freedom_of_level / law.squares_of_level
        return (self.b[0] + ridge * law.mean_level) / (self.A[0, 0] + ridge)

    def experts(self, g, z, law):
        u, inverse = self.posterior(law)
        slopes = g + u @ z
        drift = slopes + self.recent * self.n_recent / (self.n_recent + 5)
        p = np.array([g, g + self.level(law), slopes, drift, g + self.last])
        loss = 10 * law.ages[self.age(), 1:] + self.losses
        w = np.exp(-0.5 * (loss - loss.min()))
        h = z @ inverse @ z
        expected = (8 * law.spread * math.sqrt(1 + h) + self.errors) / (8 + self.weights)
        return p, w / w.sum(), h, expected

    def age(self):
        return min(int(math.log2(self.n + 1)), 23)

    def learn(self, g, y, z, law, frozen):
        p, w, h, expected = self.experts(g, z, law)
        error, root = y - p[2], math.sqrt(1 + h)
        if not frozen:
            self.join_spread(min(abs(error), 30 * abs(y - p @ w)) / root, law)
        bound = 10 * law.spread * root
        clipped = np.clip(error, -bound, bound)
        unit = 1.4826 * max(law.spread, 1e-30)
        loss = np.minimum(((y - p) / unit) ** 2, 25)
        age = law.ages[self.age()]
        if not frozen:
            age[0] += 1
            age[1:] += (loss - age[1:]) / min(age[0], 2000)
        self.losses = 0.98 * self.losses + loss
        off = abs(y - p @ w) if law.events else 0.0
        if not frozen:
            law.bins *= 0.9995
            place = 8 * math.log2(max(off / max(expected, 1e-30), 1e-6)) + 48
            above = y - p @ w >= -1e-12 * abs(y)  # of the first event they are equal
            law.bins[96 * above + int(np.clip(place, 0, 95))] += 1
        most = 10 * expected
        self.errors = 0.98 * self.errors + (min(off, most) if most > 0 else off)
        self.weights = 0.98 * self.weights + 1
        if not frozen:
            rate = 1 / min(law.events + 1, 1000)
            law.noise += rate * (clipped**2 / (1 + h) - law.noise)
            ridge = law.noise_of_level * law.freedom_of_level / law.squares_of_level
            of_level = 1 + 1 / (self.A[0, 0] + ridge)
            squared = np.clip(y - p[1], -bound, bound) ** 2 / of_level
            law.noise_of_level += rate * (squared - law.noise_of_level)
            least, most = 1e-6 * law.spread**2, 1e2 * law.spread**2
            law.noise = np.clip(law.noise, least, most)
            law.noise_of_level = np.clip(law.noise_of_level, least, 4 * most)
            law.events += 1
        residual = p[2] - g + clipped
        self.n_recent = 0.9 * self.n_recent + 1
        self.recent += (clipped - self.recent) / self.n_recent
        self.last = y - g
        now = min(max(law.events, 1), 20_000)
        kept = 0.9995 * (min(self.at / now, 1) if self.n else 1)
        self.at = now
        self.A = kept * self.A + np.outer(z, z)
        self.b = kept * self.b + z * residual
        self.n += 1
        if not frozen and self.n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
            self.join_law(law)
        return p @ w, p @ w - g

    def join_spread(self, deviation, law):
        if law.events <= 1:
            law.spread = deviation
        law.outliers = law.outliers + 1 if deviation > 10 * law.spread else 0
        if law.outliers >= 8:
            law.spread, law.outliers = deviation, 0
            law.begin(deviation**2)
        step = max(2 / (law.events + 2), 0.01)
        law.spread = max(law.spread * math.exp(step if deviation > law.spread else -step), 1e-30)

    def join_law(self, law):
        u, inverse = self.posterior(law)
        deviations = u - law.mean
        law.updates += 1
        rate = 1 / min(law.updates + 1, 1000)
        known = 1 - law.noise * np.diag(inverse) * law.freedom / law.squares
        law.squares, law.freedom = joined(law.squares, law.freedom, deviations**2, known, law.noise)
        law.mean = law.mean + rate * deviations
        s = law.noise_of_level
        ridge = s * law.freedom_of_level / law.squares_of_level
        deviation = self.level(law) - law.mean_level
        known = self.A[0, 0] / (self.A[0, 0] + ridge)
        law.squares_of_level, law.freedom_of_level = joined(
            law.squares_of_level, law.freedom_of_level, deviation**2, known, s
        )
        law.mean_level += rate * deviation


def joined(squares, freedom, square, known, s):
    """The numerator and the denominator of a variance after a squared effect."""
    freedom = 0.999 * freedom + np.clip(known, 0, 1)
    return np.clip((0.999 * squares + square) / freedom, s / 1e8, s * 1e8) * freedom, freedom


def stream(n, seed=0, keys=6):
    """Events (key, x, y, g) of a few keys with levels and slopes of their own."""
    rng = np.random.default_rng(seed)
    level, slopes = 3 * rng.normal(size=keys), rng.normal(size=(keys, Q))
    for _ in range(n):
        k, x = int(rng.integers(keys)), rng.normal(size=Q)
        g = float(x.sum())
        yield k, x, g + level[k] + slopes[k] @ x + 0.3 * rng.normal(), g


def fresh(keys=6):
    """Rows of keys, and what they share."""
    rows = [np.zeros(row_size(D)) for _ in range(keys)]
    return rows, no_statistics(Q), new_shared(D), new_scratch(D)


@pytest.mark.parametrize("frozen_after", [10**9, 400])
def test_it_is_the_model_in_numpy(frozen_after):
    """Predictions, uncertainty, corrections, sums and the law of effects agree, event by event."""
    rows, stats, shared, scratch = fresh()
    law, keys = Law(), [Key() for _ in range(6)]
    for t, (k, x, y, g) in enumerate(stream(900)):
        frozen = t >= frozen_after
        predicted = predict_key(g, x, rows[k], stats, shared, scratch)
        ours = learn_key(g, y, x, rows[k], stats, shared, scratch, frozen)
        if t == 1:  # half the squared difference of two targets is the unit of variances
            law.begin(0.5 * (y - g) ** 2)
        z, expected = scratch[0, :D].copy(), scratch[OUT, EXPECTED]
        p, w, _, theirs = keys[k].experts(g, z, law)
        assert expected == pytest.approx(theirs, rel=1e-7, abs=1e-12)
        assert (predicted, ours) == pytest.approx((p @ w, p @ w), rel=1e-7)
        if t == 0:  # the global model knows nothing yet
            g = y
        _, correction = keys[k].learn(g, y, z, law, frozen)
        assert scratch[OUT, CORRECTION] == pytest.approx(correction, rel=1e-6, abs=1e-9)
    assert shared[SPREAD] == pytest.approx(law.spread)
    lower = np.tril_indices(D)
    for row, key in zip(rows, keys, strict=True):
        assert row[16 : 16 + D] == pytest.approx(key.b)
        assert row[16 + D :] == pytest.approx(key.A[lower])
        effects_of(row, shared, D, D, scratch)
        assert scratch[1, :D] == pytest.approx(key.posterior(law)[0])
    start = 16 + 3 * D
    assert shared[start : start + 144] == pytest.approx(law.ages.ravel())
    assert shared[start + 144 :] == pytest.approx(law.bins)


@pytest.mark.parametrize(("scale", "shift"), [(0.0, 0.0), (1e-6, 0.0), (1.0, 1e9)])
def test_it_recovers_from_what_came_first(scale, shift):
    """Keys learn as well as ever after targets of a smaller scale, and far from zero.

    Variances of effects that began as tiny ones held all effects at their mean; the first target
    itself, before the global model knew any, stayed with its key as a residual.
    """
    rows, stats, shared, scratch = fresh()
    errors = []
    for t, (k, x, y, g) in enumerate(stream(4000)):
        y = shift + (y if t >= 400 else scale * y)
        g = shift + g if t else 0.0
        errors.append(abs(y - learn_key(g, y, x, rows[k], stats, shared, scratch, False)))
    assert np.mean(errors[-1000:]) < 0.3


def test_errors_fall_below_their_quantiles():
    """Of skewed errors, the share beyond the expected one times a side's ratio is its tail."""
    rows, stats, shared, scratch = fresh()
    draw, beyond = np.random.default_rng(3), []
    for t, (k, x, y, g) in enumerate(stream(6000)):
        y += draw.exponential(0.5) - 0.5
        error = y - predict_key(g, x, rows[k], stats, shared, scratch)
        if t > 2000:
            unit = scratch[OUT, EXPECTED]
            ends = [expected_ratio(0.1, side, shared, D) * unit for side in (0, 1)]
            beyond.append((error < -ends[0], error > ends[1]))
        learn_key(g, y, x, rows[k], stats, shared, scratch, False)
    assert np.mean(beyond, axis=0) == pytest.approx([0.1, 0.1], abs=0.02)


HOSTILE = {
    "huge targets": lambda t, x, y: (x, 1e15 if t % 7 == 0 else y),
    "huge inputs": lambda t, x, y: (x * (1e15 if t % 5 == 0 else 1.0), y),
    "constant inputs": lambda t, x, y: (np.ones(Q), y),
    "constant targets": lambda t, x, y: (x, 4.0),
    "collinear inputs": lambda t, x, y: (np.full(Q, x[0]), y),
    "absent inputs": lambda t, x, y: (np.where(np.arange(Q) == t % Q, ABSENT, x), y),
    "tiny": lambda t, x, y: (x * 1e-300, y * 1e-300),
    "infinite": lambda t, x, y: (x, math.inf if t % 11 == 0 else y),
}


@pytest.mark.parametrize(
    ("kind", "frozen"),
    [*((kind, False) for kind in HOSTILE), ("huge targets", True), ("infinite", True)],
)
def test_all_stays_finite(kind, frozen):
    """Whatever comes at first and later, all is finite, and it recovers to the stream."""
    rows, stats, shared, scratch = fresh()
    events = list(stream(3000))
    if frozen:
        for k, x, y, g in events[:500]:
            learn_key(g, y, x, rows[k], stats, shared, scratch, False)
    errors = []
    for t, (k, x, y, g) in enumerate(events):
        if t < 3 or 500 <= t < 1000:
            x, y = HOSTILE[kind](t, x, y)
        p = learn_key(g, y, x, rows[k], stats, shared, scratch, frozen)
        assert math.isfinite(p)
        errors.append(abs(y - p))
    assert np.isfinite(np.concatenate([*rows, shared, scratch.ravel()])).all()
    assert np.mean(errors[-1000:]) < 1.7
