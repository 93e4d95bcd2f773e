"""What f = 0 reaches on the experiments' streams: bounds that it meets tell nothing there."""

import numpy as np
import pytest

from iln_stream.research.experiments import corollary1, regret
from iln_stream.research.experiments.methods.best_in_ball import least_loss
from iln_stream.research.theory import regret_bound

TIMES = (100, 316, 1_000, 3_162, 10_000)


def bound(B, T):
    return regret_bound(B, T, regret.VARIANCE, regret.FAMILY.q)


def test_excess_risk_of_zero():
    """The page of `corollary1` says in how many of its 16 cells f = 0 is below B / sqrt(T)."""
    excess: dict[int, list[float]] = {B: [] for B in (1, 2, 4, 8)}
    for seed in range(3):
        test = corollary1.sample(3_162, 2_000, seed).test
        for B, each in excess.items():
            each.append((np.sum(test.y**2) / 2 - least_loss(test.L, test.y, float(B))) / 2_000)
    below = [np.mean(each) < B / np.sqrt(T) for B, each in excess.items() for T in TIMES[:4]]
    assert sum(below) == 10


@pytest.mark.thorough
def test_regret_of_zero():
    """The pages of `regret` and `kernel_entries` say what f = 0 has on smooth and on coins."""
    found: dict[tuple[str, float, int], list[float]] = {}
    for seed in range(5):
        for name, stream in regret.streams(10_000, seed).items():
            for B in (1.0, 2.0):
                for T in (T for T in TIMES if T > 64 * B * B):
                    first = stream.first(T)
                    loss = np.sum(first.y**2) / 2 - least_loss(first.L, first.y, B)
                    found.setdefault((name, B, T), []).append(loss)
    passes = {case for case, each in found.items() if np.mean(each) <= bound(*case[1:])}
    assert len(found) == 18
    assert len(passes) == 13
    assert {case for case in found if case[0] == "coins"} <= passes
    for name, expected in (("smooth", 153), ("coins", 11)):
        streams = [regret.streams(3_162, seed)[name] for seed in range(3)]
        losses = [np.sum(s.y**2) / 2 - least_loss(s.L, s.y, 1.0) for s in streams]
        assert np.mean(losses) == pytest.approx(expected, abs=0.6)
