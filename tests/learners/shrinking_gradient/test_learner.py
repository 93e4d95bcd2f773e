import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import datasets
from support.prequential import learned

from iln_stream.errors import IlnWarning
from iln_stream.features import (
    DecisionStumps,
    GaussianFourier,
    LaplacianFourier,
    UniformCoordinates,
)
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.research.paper.algorithms import Iterate, est_scalar_prod, shrinking_gradient_step


def events(n: int, d: int = 3, seed: int = 0) -> list[tuple[dict[str, float], float]]:
    """A smooth target in [-1, 1] with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, (n, d))
    y = np.clip(0.8 * np.sin(X[:, 0] * 2) * np.cos(X[:, 1]) + 0.05 * rng.standard_normal(n), -1, 1)
    return [({f"x{j}": v for j, v in enumerate(x)}, t) for x, t in zip(X.tolist(), y, strict=True)]


class TestAgainstThePaper:
    def test_equals_the_reference_draw_for_draw(self):
        """Given the same draws, every E_t, alpha and shrink is that of the paper's pseudo-code."""
        family, m, B = LaplacianFourier(0.5), 40, 0.02  # drawn by numpy; compiled ones: kernels/
        model = ShrinkingGradient(family, norm_bound=B, step=0.3, draws=m, seed=3)
        # Of numbers that single precision holds, as the support's rows do.
        stream = [({c: float(np.float32(v)) for c, v in x.items()}, y) for x, y in events(150)]
        columns = sorted(stream[0][0])

        def draws_of(t, d):
            # The estimator draws all i, then all w, from event t's own segment of Philox.
            rng = model.iterate.rng(t - 1)
            u = rng.random(m)
            w = family.draw(m, d, rng)
            return iter([(u[k], (w.omega[k], w.b[k])) for k in range(m)])

        f, estimates, shrinks = Iterate(), [], 0
        for t, (x, y) in enumerate(stream, start=1):
            x_t, draws = np.array([x[c] for c in columns]), draws_of(t, len(columns))
            E_t = est_scalar_prod(
                f, x_t, m, lambda x, w: math.cos(w[0] @ x + w[1]), lambda draws=draws: next(draws)
            )
            f = shrinking_gradient_step(f, x_t, y, E_t, eta=0.3, B=B)
            estimates.append(E_t)
            shrinks += len(f.alpha) < t - shrinks

        ours = []
        for x, y in stream:
            model.learn_one(x, y)
            ours.append(model.last_update.estimate.value)
        assert shrinks > 3  # so both branches were compared
        assert model.n_shrinks == shrinks
        np.testing.assert_allclose(ours, estimates, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.iterate.support.alpha, f.alpha, rtol=0, atol=1e-13)

    def test_the_sign_learns(self):
        """+eta (y - E) learns; the paper's printed sign would end far above the zero predictor."""
        stream = events(600)
        model = ShrinkingGradient(GaussianFourier(0.7), norm_bound=2, seed=1)
        losses = []
        for x, y in stream:
            model.learn_one(x, y)
            losses.append(model.last_update.loss)
        zero = np.mean([y**2 / 2 for _, y in stream[300:]])
        assert np.mean(losses[300:]) < 0.5 * zero

    def test_the_boundary_shrinks(self):
        """At |E| = 16 B exactly the algorithm shrinks (it appends only when |E| < 16 B)."""
        model = ShrinkingGradient(UniformCoordinates(), norm_bound=1 / 32, step=0.5, draws=1)
        model.learn_one({"a": 1.0}, 1.0)
        model.learn_one({"a": 1.0}, 1.0)
        assert model.n_shrinks == 1

    @pytest.mark.parametrize(
        ("parameters", "steps"),
        [
            ({"horizon": 100, "norm_bound": 2.0}, [0.2, 0.2, 0.2]),
            ({"norm_bound": 0.5}, [0.5, 0.5 / math.sqrt(2), 0.5 / math.sqrt(3)]),
            ({"norm_bound": 3.0}, [1.0, 1.0, 1.0]),
            ({"step": 0.07}, [0.07, 0.07, 0.07]),
        ],
    )
    def test_step_sizes(self, parameters, steps):
        """eta is B / sqrt(T), or min(B / sqrt(t), 1) when T is unknown, or the given step."""
        model = ShrinkingGradient(draws=10, **parameters)
        taken = []
        for _ in steps:
            model.learn_one({"a": 0.3}, 1.0)
            last = model.last_update
            taken.append(model.iterate.support.alpha[-1] / (last.y - last.estimate.value))
        assert taken == pytest.approx(steps)


class TestDraws:
    def test_adaptive(self):
        """m = ceil(q ||alpha||_1^2 / v) within its bounds keeps the variance of E below v."""
        model = ShrinkingGradient(step=0.2, variance=0.02, min_draws=5, max_draws=10**6, seed=0)
        for x, y in events(300):
            wanted = max(5, math.ceil(3 / 8 * model.alpha_l1**2 / 0.02))
            model.learn_one(x, y)
            assert model.last_update.estimate.draws == (wanted if model.n_seen > 1 else 0)
        assert wanted > 1_000
        assert model.estimate_variance < 0.02 * 1.2
        assert model.n_capped == 0

    def test_binding_ceiling_is_warned_of_once_and_counted(self):
        """A run whose noise exceeds the tolerated variance warns once, and counts such events."""
        model = ShrinkingGradient(step=0.5, max_draws=20, min_draws=20, seed=0)
        n_capped = 0
        with pytest.warns(IlnWarning, match="max_draws = 20 binds") as caught:
            for x, y in events(200):
                n_capped += 3 / 8 * model.alpha_l1**2 / model.variance > 20
                model.learn_one(x, y)
        assert len([w for w in caught if "binds" in str(w.message)]) == 1
        assert 200 > model.n_capped == n_capped > 100
        assert model.last_update.estimate.draws == 20


class TestPrediction:
    def test_changes_nothing(self):
        """Any number of predictions between events leaves the state bit-identical."""
        asked, silent = (ShrinkingGradient(seed=5, budget=30) for _ in range(2))
        for k, (x, y) in enumerate(events(120)):
            before = pickle.dumps(asked)
            for j in range(k % 4):
                asked.predict_one({**x, "x1": j, f"new {j}": 1.0})
                asked.estimate(x)
            assert pickle.dumps(asked) == before
            asked.learn_one(x, y)
            silent.learn_one(x, y)
        assert pickle.dumps(asked) == pickle.dumps(silent)

    def test_is_the_estimate_that_learning_uses(self):
        """The prediction for x is the E_t used to learn it, new names included."""
        model = learned(ShrinkingGradient(seed=5), events(50))
        for x, y in events(50, seed=1):
            newer = {**x, f"name {model.n_seen}": 0.5}
            predicted = model.estimate(newer)
            assert model.predict_one(newer) == predicted.value
            model.learn_one(newer, y)
            assert model.last_update.estimate == predicted


class TestRandomness:
    def test_seeds(self):
        """The same seed gives the same model bit for bit, another seed another model; None takes
        entropy from the system."""
        first, second, *others = (
            learned(ShrinkingGradient(seed=seed), events(60)) for seed in (1, 1, 2, None, None)
        )
        assert pickle.dumps(first) == pickle.dumps(second)
        assert len({model.alpha_l1 for model in (first, *others)}) == 4


class TestWhateverArrives:
    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.dictionaries(
                    st.sampled_from("abcd"), st.floats(allow_nan=False, allow_infinity=False)
                ),
                st.floats(allow_nan=False, allow_infinity=False),
            ),
            max_size=30,
        ),
        st.sampled_from([None, GaussianFourier(1e6), DecisionStumps(), UniformCoordinates()]),
    )
    def test_finite(self, stream, family):
        """Any finite doubles, +-1e308 included, leave every number of the model finite."""
        model = ShrinkingGradient(family, budget=10, max_draws=50, seed=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IlnWarning)
            for x, y in stream:
                assert math.isfinite(model.predict_one(x))
                model.learn_one(x, y)
        assert math.isfinite(model.alpha_l1)
        assert math.isfinite(model.estimate_variance)
        assert math.isfinite(model.estimate({"a": 1.0}).standard_error)

    def test_raw_trump_approval(self):
        """A raw stream (columns of 736,389, targets of 44) runs through, finite, and shrinks."""
        model = ShrinkingGradient(max_draws=200, seed=0)
        with pytest.warns(IlnWarning):
            for x, y in datasets.TrumpApproval():
                assert math.isfinite(model.predict_one(x))
                model.learn_one(x, y)
        assert model.n_shrinks > 0
        assert math.isfinite(model.alpha_l1)

    def test_targets_outside_are_warned_of_once(self):
        """A user who forgot to scale y is told the remedy once, and can count such events."""
        model = ShrinkingGradient(seed=0)
        with pytest.warns(IlnWarning, match="wrap the model in ScaledTarget") as caught:
            for y in (0.5, 2.0, -7.0):
                model.learn_one({"a": 1.0}, y)
        assert len(caught) == 1
        assert caught[0].filename == __file__  # the user's line, not one of ours
        assert model.n_outside == 2

    @pytest.mark.parametrize("y", [float("nan"), float("inf")])
    def test_a_target_that_is_no_number_changes_nothing(self, y):
        """A rejected event leaves the state bit-identical."""
        model = learned(ShrinkingGradient(seed=0), events(10))
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match="y is"):
            model.learn_one({"a": 1.0}, y)
        with pytest.raises(ValueError, match=r"x\['z'\]"):
            model.learn_one({"z": y}, 3.0)
        assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"features": "Cosines"}, "features = 'Cosines' must be a family"),
        ({"norm_bound": float("nan")}, "norm_bound = nan must be a positive"),
        ({"step": -0.1}, "step = -0.1 must be a positive"),
        ({"variance": float("inf")}, "variance = inf must be a positive"),
        ({"draws": 0}, "draws = 0 must be a whole number, at least 1"),
        ({"budget": 2.5}, "budget = 2.5 must be a whole number"),
        ({"policy": "newest"}, "policy = 'newest' must be one of oldest, smallest, compress"),
        ({"max_columns": 0}, "max_columns = 0 must be a whole number"),
        ({"min_draws": 9, "max_draws": 3}, "min_draws = 9 must not exceed max_draws = 3"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    """A wrong argument is rejected at once, by name."""
    with pytest.raises(ValueError, match=message):
        ShrinkingGradient(**parameters)


def test_a_run_that_is_not_finite_begins_again():
    """f_t is forgotten with a warning, and later events are learned; E does not stay nan."""
    model = learned(ShrinkingGradient(estimator="pool", step=0.3, seed=1), events(100))
    model.learn_row(np.full(3, np.nan), 0.5)
    with pytest.warns(IlnWarning, match=r"not a finite number after 101 events"):
        learned(model, events(1))
    learned(model, events(300))
    assert all(math.isfinite(model.predict_one(x)) for x, _ in events(20))
    assert 0.0 < model.alpha_l1 < math.inf
