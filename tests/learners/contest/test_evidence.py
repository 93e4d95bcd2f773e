"""`Evidence`: an interval that holds at every event, with or without autocorrelation."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from iln_stream.learners.contest import Evidence, error_of_comparison
from iln_stream.state import from_bytes, to_bytes

DEVIATION = 0.15


def autoregressive(correlation, n_streams, n, seed, mean=0.0):
    """Return differences (streams, events) in [-1, 1], stationary from the first event on."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n_streams, n)) * math.sqrt(1.0 - correlation**2)
    noise[:, 0] = rng.standard_normal(n_streams)
    x = lfilter([1.0], [1.0, -correlation], noise)
    return (mean + DEVIATION * x).clip(-1.0, 1.0)


def fed(differences, error=0.05):
    evidence = Evidence(error)
    for difference in differences:
        evidence.update(difference)
    return evidence


def events_to_promotion(differences):
    """Return the events until the challenger is better; inf if it never is."""
    evidence = Evidence()
    for n, difference in enumerate(differences.tolist(), 1):
        evidence.update(difference)
        if evidence.is_better:
            return n
    return math.inf


@pytest.mark.parametrize(
    ("correlation", "n_streams", "n"), [(0.0, 100, 2_000), (0.9, 100, 2_000), (0.99, 40, 6_000)]
)
def test_equal_contenders_are_promoted_with_the_stated_probability(correlation, n_streams, n):
    """Of equal contenders, watched at every event, at most 5 % are promoted, autocorrelated too."""
    streams = autoregressive(correlation, n_streams, n, seed=3)
    promoted = sum(events_to_promotion(stream) < math.inf for stream in streams)
    assert promoted <= 0.05 * n_streams


@pytest.mark.parametrize(
    ("correlation", "mean", "most"), [(0.0, 0.02, 2_000), (0.0, 0.1, 512), (0.9, 0.1, 3_000)]
)
def test_a_better_challenger_is_promoted(correlation, mean, most):
    """A better challenger is found in most streams, after the documented number of events."""
    streams = autoregressive(correlation, 20, most, seed=4, mean=mean)
    promoted = sum(events_to_promotion(stream) < math.inf for stream in streams)
    assert promoted > 10


def test_rare_disagreements_are_no_evidence():
    """A loss that is rare and large is not overlooked before it has occurred."""
    rng = np.random.default_rng(5)
    promoted = 0
    for _ in range(100):
        rare = rng.random(1_500) < 0.003
        promoted += events_to_promotion(np.where(rare, -0.997, 0.003)) < math.inf
    assert promoted <= 5


def test_interval_contains_the_mean_at_every_event():
    """The mean difference is inside at each of 1,500 events, in 19 of 20 streams and more."""
    missed = 0
    for stream in autoregressive(0.5, 40, 1_500, seed=6, mean=0.05):
        evidence = Evidence()
        outside = False
        for n, difference in enumerate(stream.tolist(), 1):
            evidence.update(difference)
            if n % 64 == 0:
                outside = outside or not evidence.lower <= 0.05 <= evidence.upper
        missed += outside
    assert missed <= 2


def test_little_is_known_at_first():
    """Before the 512th event, and of nothing but ties, there is no evidence."""
    evidence = fed([1.0] * 511)
    found = evidence.lower, evidence.upper, evidence.is_better, evidence.n
    assert found == (-1.0, 1.0, False, 511)
    evidence.update(1.0)
    assert evidence.is_better
    tied = fed([0.0] * 5_000)
    assert not tied.is_better
    assert tied.lower < 0.0 < tied.upper


def test_lower_end_says_what_is_better():
    """A challenger is better if and only if the lower end is above 0."""
    evidence = Evidence()
    seen = set()
    for difference in autoregressive(0.0, 1, 3_000, seed=7, mean=0.03)[0].tolist():
        evidence.update(difference)
        if evidence.n % 16 == 0:
            assert evidence.is_better == (evidence.lower > 0.0)
            seen.add(evidence.is_better)
    assert seen == {False, True}


def test_a_challenger_that_began_cold_can_catch_up():
    """Losses of its first events do not count for ever: a comparison that it lost begins anew."""
    evidence = fed(cold := autoregressive(0.0, 1, 512, seed=8, mean=-0.3)[0].tolist())
    assert (evidence.state()["comparison"], evidence.n) == (2, 512)
    assert evidence.upper < 0.0
    warm = autoregressive(0.0, 1, 4_000, seed=9, mean=0.03)[0].tolist()
    for difference in warm:
        evidence.update(difference)
    assert sum(cold) + sum(warm) < 0.0
    assert evidence.is_better
    assert evidence.n == 4_512


@settings(max_examples=10)
@given(st.integers(0, 1_400), st.sampled_from([-0.2, 0.0, 0.2]))
def test_restored_evidence_continues_as_it_was(n, mean):
    """A state, written to a file and read, continues bit for bit."""
    differences = autoregressive(0.5, 1, 2_100, seed=n, mean=mean)[0].tolist()
    evidence = fed(differences[:n])
    restored = Evidence()
    restored.restore(from_bytes(to_bytes(evidence.state())))
    for difference in differences[n:]:
        evidence.update(difference)
        restored.update(difference)
    assert restored.state() == evidence.state()
    assert (restored.lower, restored.upper) == (evidence.lower, evidence.upper)


def test_error_probabilities_of_all_comparisons_sum_to_the_whole():
    """However often comparisons begin anew, the probability of any false promotion is bounded."""
    total = sum(error_of_comparison(0.05, k) for k in range(1, 100_000))
    assert total == pytest.approx(0.05, rel=1e-4)
    assert total < 0.05


@pytest.mark.parametrize("bad", [1.0001, math.nan])
def test_impossible_numbers_are_refused(bad):
    """A difference of losses that are not bounded would make every statement void."""
    with pytest.raises(ValueError, match=r"difference = .* must be in \[-1, 1\]"):
        Evidence().update(bad)
    with pytest.raises(ValueError, match=r"error = .* must be a probability"):
        Evidence(bad)


def test_state_is_small():
    """The sums of 25,000 events are eleven lengths, and of a million some twenty."""
    evidence = fed(autoregressive(0.0, 1, 25_000, seed=1)[0].tolist())
    assert len(evidence.state()["lengths"]) == 11
    assert sys.getsizeof(to_bytes(evidence.state())) < 10_000


def test_a_comparison_that_the_champion_won_is_shown_until_the_next_is_decided():
    """A challenger that is clearly worse must not look as if nothing were known of it."""
    rng = np.random.default_rng(5)
    evidence, unknown, last = Evidence(0.05), 0, 0.0
    for n in range(1, 8_001):
        evidence.update(float(np.clip(rng.normal(-0.05, 0.1), -1.0, 1.0)))
        if n >= 512 and n % 100 == 0:
            last = evidence.upper
            unknown += last >= 0.0
    assert unknown == 0
    assert -0.1 < last < 0.0
    assert not evidence.is_better
    twin = Evidence(0.05)
    twin.restore(from_bytes(to_bytes(evidence.state())))
    assert (twin.lower, twin.upper) == (evidence.lower, evidence.upper)
