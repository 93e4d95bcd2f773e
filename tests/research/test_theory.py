import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from iln_stream import theory
from iln_stream.features import DecisionStumps, GaussianFourier
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.research import theory as theorem_1

positive = st.floats(1e-3, 1e3)
probability = st.floats(1e-12, 0.999)
q_or_none = st.none() | st.floats(1e-3, 1.0)


def exact_tail(m: int, eps: float, q: float) -> float:
    """P(|mean of m| > eps) for terms that are +-1 with probability q/2 each, else 0."""
    law = np.ones(1)
    for _ in range(m):
        law = np.convolve(law, [q / 2, 1 - q, q / 2])
    return float(law[np.abs(np.arange(-m, m + 1)) > eps * m].sum())


class TestSteps:
    @pytest.mark.parametrize(("B", "horizon"), [(0.3, 50), (1.0, 400), (3.0, 10)])
    def test_are_the_learners(self, B, horizon):
        """Both schedules are those ShrinkingGradient takes, event by event."""
        known = ShrinkingGradient(norm_bound=B, horizon=horizon)
        unknown = ShrinkingGradient(norm_bound=B)
        for t in range(1, 30):
            assert theory.step_size(B, horizon) == known._eta(t, 1.0)
            assert theory.anytime_step(B, t) == unknown._eta(t, 1.0)

    @pytest.mark.parametrize("B", [1e-2, 1.0, 9.3, 1e3])
    @pytest.mark.parametrize("t", [0, 1, 64, 65, 5000])
    def test_sum_is_the_sum(self, B, t):
        """The fast sum equals adding up, on both sides of the cap and of the series' start."""
        slow = math.fsum(theory.anytime_step(B, s) for s in range(1, t + 1))
        assert theory.sum_of_steps(B, t) == pytest.approx(slow, rel=1e-12, abs=0)
        slow = math.fsum(theory.step_size(B, 70) for _ in range(t))
        assert theory.sum_of_steps(B, t, horizon=70) == pytest.approx(slow, rel=1e-12, abs=0)

    def test_sum_takes_no_time(self):
        """A stream of 1e15 events is summed like one of 100: 2 B sqrt(t) to leading order."""
        assert theory.sum_of_steps(2.0, 10**15) == pytest.approx(4 * 10**7.5, rel=1e-6)


class TestTail:
    @given(st.integers(0, 10**6), positive, positive, q_or_none, st.floats(1.0, 10.0))
    def test_falls_with_draws_and_error_and_rises_with_alpha_and_q(self, m, eps, l1, q, factor):
        """Draws and a larger error never raise the bound; a larger alpha or q never lowers it."""
        bound = theory.tail_bound(m, eps, l1, q)
        assert 0 <= bound <= 1
        assert theory.tail_bound(int(m * factor), eps, l1, q) <= bound
        assert theory.tail_bound(m, eps * factor, l1, q) <= bound * (1 + 1e-9)
        assert theory.tail_bound(m, eps, l1 * factor, q) >= bound * (1 - 1e-9)
        assert bound <= theory.tail_bound(m, eps, l1)
        if q is not None:
            assert bound <= theory.tail_bound(m, eps, l1, min(1.0, q * factor))

    @given(st.floats(1e-2, 1e2), probability, st.floats(1e-2, 1e3), q_or_none)
    def test_draws_for_is_its_inverse(self, eps, delta, l1, q):
        """draws_for is the smallest m with tail_bound <= delta: m suffices, m - 1 does not."""
        m = theory.draws_for(eps, delta, l1, q)
        assert theory.tail_bound(m, eps, l1, q) <= delta
        assert theory.tail_bound(m - 1, eps, l1, q) > delta

    @pytest.mark.parametrize("q", [None, 0.1])
    def test_draws_for_survives_rounding(self, q):
        """For exactly the bound of m draws it returns m; for the next smaller delta, m + 1."""
        for m, eps in product(range(500, 2000, 7), (0.17, 0.3)):
            delta = theory.tail_bound(m, eps, 3.0, q)
            assert theory.draws_for(eps, delta, 3.0, q) == m
            assert theory.draws_for(eps, math.nextafter(delta, 0), 3.0, q) == m + 1

    @pytest.mark.parametrize("q", [0.01, 3 / 8, 1.0])
    @pytest.mark.parametrize("m", [1, 4, 256])
    def test_holds_exactly_for_extreme_terms(self, m, q):
        """Terms in {-1, 0, 1}, the widest there are at this q: the exact tail is never above."""
        for eps in np.linspace(0.01, 0.99, 50):
            assert exact_tail(m, eps, q) <= theory.tail_bound(m, eps, 1.0, q) + 1e-12

    def test_nothing_to_estimate_is_exact(self):
        """alpha = 0 needs no draw and makes no error, as est_scalar_prod has it."""
        assert theory.tail_bound(0, 0.1, 0.0) == theory.tail_bound(0, 0.1, 0.0, q=0.5) == 0.0
        assert theory.draws_for(0.1, 0.5, 0.0) == theory.draws_for_variance(0.0, 0.1, 1.0) == 0


class TestDrawsForVariance:
    @given(positive, positive, st.floats(1e-3, 1.0))
    def test_is_the_smallest(self, l1, variance, q):
        """q ||alpha||_1^2 / m <= v with these draws, and not with one fewer."""
        m = theory.draws_for_variance(l1, variance, q)
        assert q * l1**2 <= variance * m * (1 + 1e-12)
        assert q * l1**2 > variance * (m - 1) * (1 - 1e-12)

    def test_is_what_the_learner_draws(self):
        """ShrinkingGradient draws as many, between its two limits."""
        model = ShrinkingGradient(min_draws=1, max_draws=10**9, variance=0.02, seed=0)
        rng = np.random.default_rng(0)
        for _ in range(50):
            expected = theory.draws_for_variance(model.alpha_l1, 0.02, 3 / 8)
            model.learn_one({"a": rng.standard_normal()}, 1.0)
            assert model.last_update.estimate.draws == expected
        assert expected > 100


class TestTheorem1:
    @given(
        st.floats(1.0, 50.0), st.integers(0, 10**6), st.floats(1e-3, 0.125), st.integers(1, 10**4)
    )
    def test_lemma_2_follows_from_hoeffding(self, B, m, step, t):
        """For B >= 1 the corrected Lemma 2 is at least the tail at 8 B with the largest alpha."""
        bound = theory.lemma_2_bound(m, step, t)
        assert theory.tail_bound(m, 8 * B, (16 * B + 1) * step * t) <= bound * (1 + 1e-9)

    def test_lemma_2_is_hoeffdings_bound_at_b_1(self):
        """At B = 1 Lemma 2 is Hoeffding's bound itself, so that nothing is given away."""
        assert theory.lemma_2_bound(5000, 0.1, 100) == pytest.approx(
            theory.tail_bound(5000, 8.0, 17 * 10.0)
        )

    @pytest.mark.parametrize("eta", [0.125, 0.05, 0.01])
    def test_printed_lemma_2_holds_at_b_1_until_eta_t_is_1092(self, eta):
        """The largest ||alpha||_1 that |E_t| <= ||alpha||_1 allows is below sqrt(288) eta t, at
        which Hoeffding's bound at 8 is the printed one; it no longer is at eta t = 1300."""
        largest = 0.0
        for t in range(1, int(1300 / eta) + 1):
            if eta * t <= 1092:
                assert largest <= math.sqrt(288) * eta * t
            largest += eta * (1 + min(largest, 16.0))
        assert largest > math.sqrt(288) * 1300

    def test_draws_keep_every_estimate_within_1(self):
        """gamma's purpose: any of T errors exceeds 1 with chance 2 / (16 B + 1) at most."""
        for B, T in product((1.0, 2.0, 5.0), (10**4, 10**6)):
            m = theory.draws_of_theorem_1(B, T)
            largest = (16 * B + 1) * theory.sum_of_steps(B, T, horizon=T)
            promised = 2 / (16 * B + 1)
            assert T * theory.tail_bound(m, 1.0, largest) <= promised * (1 + 1e-6)
            assert T * theory.tail_bound(m - 1000, 1.0, largest) > promised * (1 - 1e-3)

    def test_draws_are_those_our_source_quotes(self):
        """The brief's figure of the proof's m: 7e7 at B = 1, T = 1e4."""
        assert theory.draws_of_theorem_1(1.0, 10**4) == pytest.approx(7e7, rel=0.02)

    def test_regret_is_of_order_b_root_t(self):
        """Theorem 1's O(B sqrt(T)), with the constant 1 in the end."""
        for B in (1.0, 7.0):
            assert theory.regret_bound(B, 10**12) == pytest.approx(B * 10**6, rel=0.02)

    @given(
        B=st.floats(1.0, 5.0),
        norm=st.floats(0.0, 60.0),
        angle=st.floats(-math.pi, math.pi),
        f=st.tuples(st.floats(0.0, 1.0), st.floats(-math.pi, math.pi)),
        length=st.floats(0.0, 1.0),
        y=st.floats(-1.0, 1.0),
        eta=st.floats(1e-3, 0.125),
        proxy=st.floats(1e-3, 1e3),
        rarity=st.floats(0.0, 1.0),
    )
    def test_one_step_keeps_the_lemma(self, B, norm, angle, f, length, y, eta, proxy, rarity):
        """The proof's one inequality, in expectation over a noisy E_t, shrinking included.

        (|f_t - f|^2 - E|f_{t+1} - f|^2) / (2 eta)
            >= loss of f_t - loss of f - (eta / 2) ((f_t(x) - y)^2 + Var[E_t]) - r
        """
        f_t = norm * B * np.array([math.cos(angle), math.sin(angle)])
        comparator = f[0] * B * np.array([math.cos(f[1]), math.sin(f[1])])
        Phi = np.array([length, 0.0])
        p = float(f_t @ Phi)
        # e is symmetric on three points, and P(|e| >= z) <= 2 exp(-z^2 / (2 proxy)) for all z.
        size = math.sqrt(proxy) * (1 + 10 * rarity)
        mass = min(1.0, 2 * math.exp(-(size**2) / (2 * proxy)))
        # The mean square must not exceed proxy either; it is the variance bound.
        assume(mass * size**2 <= proxy * (1 + 1e-9))
        after = 0.0
        for e, weight in ((size, mass / 2), (-size, mass / 2), (0.0, 1 - mass)):
            E = p + e
            following = f_t / 4 if abs(E) >= 16 * B else f_t + eta * (y - E) * Phi
            after += weight * float(np.sum((following - comparator) ** 2))
        gain = (float(np.sum((f_t - comparator) ** 2)) - after) / (2 * eta)
        regret = ((p - y) ** 2 - (float(comparator @ Phi) - y) ** 2) / 2
        r = theorem_1._price_of_wrong_shrinks(B, eta, proxy)
        allowed = eta / 2 * ((p - y) ** 2 + mass * size**2) + r
        assert gain >= regret - allowed - 1e-6 * (1 + abs(gain) + abs(regret))

    def test_regret_charges_the_price_on_each_event(self):
        """Fewer draws for the same variance, a smaller q, cost T r / (1 - eta) more."""
        few, many = theory.regret_bound(1.0, 10**4, 1.0, 0.1), theory.regret_bound(1.0, 10**4, 1.0)
        prices = [theorem_1._price_of_wrong_shrinks(1.0, 0.01, s) for s in (10.0, 1.0)]
        assert few - many == pytest.approx(10**4 * (prices[0] - prices[1]) / 0.99)

    @pytest.mark.long
    def test_bound_is_tight(self):
        """With mutually orthogonal x and y = 1 the learner's regret is 90 % of the bound."""
        T, v = 400, 0.05
        model = ShrinkingGradient(
            Orthogonal(T),
            norm_bound=1.0,
            horizon=T,
            variance=v,
            min_draws=1,
            max_draws=10**7,
            seed=0,
        )
        loss = 0.0
        for t in range(T):
            support, x = model.iterate.support, np.array([float(t)])
            f_t = sum(a for a, row in zip(support.alpha, support.rows(1), strict=True) if row == x)
            loss += (f_t - 1) ** 2 / 2
            model.learn_one({"x": float(t)}, 1.0)
        best = T * (1 - 1 / math.sqrt(T)) ** 2 / 2  # f = (1 / sqrt(T)) sum of Phi(x_t)
        assert 0.9 * theory.regret_bound(1.0, T, v) < loss - best <= theory.regret_bound(1.0, T, v)


class Orthogonal:
    """psi(x; w) = w_x, w independent signs: E[psi(x; w) psi(x'; w)] = 1 if x = x', else 0."""

    q = 1.0

    def __init__(self, size: int) -> None:
        self.size = size

    def draw(self, n, d, rng):
        return rng.integers(0, 2, (n, self.size), dtype=np.int8) * 2.0 - 1.0

    def psi(self, x, w):
        return w[np.arange(len(w)), x[..., 0].astype(int)]


class TestKappa:
    @pytest.mark.parametrize("family", [GaussianFourier(), DecisionStumps()], ids=repr)
    def test_tells_health_from_catastrophe(self, family):
        """Real runs: kappa in the healthy range beats the zero predictor, in the other it loses."""
        n = 500
        steps = theory.sum_of_steps(1.0, n, horizon=n)
        for wanted, healthy in (
            (theory.HEALTHY_KAPPA / 1.5, True),
            (3 * theory.CATASTROPHIC_KAPPA, False),
        ):
            m = math.ceil((steps / (2 * wanted)) ** 2)
            ratio, told = last_half(family, 1.0, n, m)
            assert (ratio < 1) == healthy
            assert told == (not healthy)


def last_half(family, B, n, m, scale=1.0) -> tuple[float, bool]:
    """Loss of E_t over the last half, that of the zero predictor, and the value of `diverging`."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 3))
    y = scale * np.tanh(2 * np.sin(X[:, 0]))
    rms = float(np.sqrt(np.mean(y**2)))
    model = ShrinkingGradient(family, norm_bound=B, horizon=n, draws=m, seed=0)
    losses, told = [], []
    for x, y_t in zip(X.tolist(), y.tolist(), strict=True):
        told.append(theory.diverging(model.alpha_l1, family.q, m, B, rms))
        model.learn_one(dict(zip("abc", x, strict=True)), y_t)
        losses.append(model.last_update.loss)
    half = n // 2
    return float(np.mean(losses[half:]) / np.mean(y[half:] ** 2 / 2)), any(told)


class TestDiverging:
    @pytest.mark.parametrize(
        ("noise", "B", "told"),
        [(0.33, 1, False), (0.34, 1, True), (0.19, 0.1, False), (0.21, 0.1, True)],
    )
    def test_thresholds(self, noise, B, told):
        """A third, the rms of scaled targets, or twice a small norm bound."""
        assert theory.diverging(noise * 10, 1.0, 100, B) is told

    @pytest.mark.parametrize("scale", [1.0, 0.3])
    def test_follows_the_targets_size(self, scale):
        """Given their rms, the same runs count as diverging at every scale of the targets."""
        assert last_half(DecisionStumps(), 1.0, 400, 16, scale)[1]
        assert not last_half(DecisionStumps(), 1.0, 400, 4096, scale)[1]

    def test_nothing_learned_does_not_diverge(self):
        """alpha = 0 is estimated exactly, with no draw, as `Estimate.draws` then says."""
        assert theory.diverging(0.0, 1.0, 0, 1.0) is False


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: theory.step_size(0.0, 10), "norm_bound"),
        (lambda: theory.anytime_step(math.nan, 1), "norm_bound"),
        (lambda: theory.anytime_step(1.0, 0), "t = 0"),
        (lambda: theory.sum_of_steps(1.0, -1), "t = -1"),
        (lambda: theory.sum_of_steps(0.0, 1), "norm_bound"),
        (lambda: theory.draws_of_theorem_1(0.5, 10**6), "norm_bound"),
        (lambda: theory.draws_of_theorem_1(1.0, 64), "horizon"),
        (lambda: theory.lemma_2_bound(1, 0.0, 1), "step"),
        (lambda: theory.regret_bound(2.0, 256, 0.01), "horizon"),
        (lambda: theory.regret_bound(1.0, 1000, 0.01, q=1.1), "q = 1.1"),
        (lambda: theory.tail_bound(-1, 0.1, 1.0), "draws"),
        (lambda: theory.tail_bound(1, 0.1, -1.0), "alpha_l1"),
        (lambda: theory.draws_for(0.1, 1.0, 1.0), "delta"),
        (lambda: theory.draws_for_variance(math.nan, 1.0, 1.0), "alpha_l1"),
        (lambda: theory.kappa(1.0, 0), "draws"),
        (lambda: theory.diverging(1.0, 1.0, 0, 1.0), "draws"),
        (lambda: theory.diverging(1.0, 1.0, 1, 1.0, target_rms=0.0), "target_rms"),
    ],
)
def test_errors_name_the_argument(call, name):
    """Arguments outside their range raise errors that name them, NaN and infinities included."""
    with pytest.raises(ValueError, match=name):
        call()


@given(st.floats(1.0, 5.0), st.integers(1601, 10**7), st.none() | st.integers(1, 10**15))
def test_a_plan_is_all_of_it(B, horizon, draws):
    """A plan equals the functions' results, and has no regret bound for fewer draws than the
    paper's proof takes."""
    plan = theory.plan(B, horizon, draws)
    proofs = theory.draws_of_theorem_1(B, horizon)
    assert plan.step == theory.step_size(B, horizon)
    assert plan.draws == (proofs if draws is None else draws)
    assert plan.kappa == pytest.approx(B * math.sqrt(horizon) / (2 * math.sqrt(plan.draws)))
    assert plan.regret == (theory.regret_bound(B, horizon) if plan.draws >= proofs else None)


def test_too_many_draws_to_count_is_an_overflow():
    """An eps far below the resolution of doubles raises instead of returning nonsense."""
    with pytest.raises(OverflowError):
        theory.draws_for(1e-200, 0.5, 1e200)
    with pytest.raises(OverflowError):
        theory.draws_for_variance(1e300, 1e-300, 1.0)
