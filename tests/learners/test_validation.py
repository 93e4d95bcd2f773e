import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.features import GaussianFourier
from iln_stream.learners import checks as validation
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.shrinking_gradient import ShrinkingGradient


@given(st.floats(max_value=0.0) | st.just(math.nan) | st.just(math.inf))
def test_numbers_out_of_range_are_refused(value):
    """What is not in (0, inf) is rejected by the field's name."""
    with pytest.raises(ValueError, match=r"^step = .* must be a positive, finite number"):
        validation.require_positive(variance=1.0, step=value)


@given(st.floats(0.0, math.inf, exclude_min=True, exclude_max=True) | st.none())
def test_numbers_in_range_pass(value):
    """Positive numbers pass, as does None, which leaves the choice to the learner."""
    validation.require_positive(step=value)


@pytest.mark.parametrize("value", [0, -1, 2.5])
def test_counts_are_whole_numbers_from_one(value):
    """A number of draws of 0 or 2.5 is rejected by name; 3 and 3.0 pass."""
    validation.require_counts(draws=3, budget=None, max_draws=3.0)
    with pytest.raises(ValueError, match=f"^draws = {value} must be a whole number, at least 1"):
        validation.require_counts(budget=1, draws=value)


def test_choices_are_listed():
    """A misspelt choice is answered with the possible ones."""
    validation.require_choice(("oldest", "smallest"), policy="oldest")
    with pytest.raises(ValueError, match=r"^policy = 'old' must be one of oldest, smallest"):
        validation.require_choice(("oldest", "smallest"), policy="old")


@pytest.mark.parametrize("features", ["Cosines", 3, GaussianFourier.draw])
def test_a_family_has_q_draw_and_psi(features):
    """A name is no family; an instance of one, and None, pass."""
    validation.require_family(None)
    validation.require_family(GaussianFourier())
    with pytest.raises(ValueError, match=r"^features = .* must be a family with q, draw and psi"):
        validation.require_family(features)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_targets_are_clipped(y):
    """A finite target is kept, or the nearest bound."""
    clipped = validation.clipped_target(y)
    assert abs(clipped) <= validation.LARGEST_TARGET
    assert clipped == y or abs(y) > abs(clipped) == validation.LARGEST_TARGET
    assert math.copysign(1.0, clipped) == math.copysign(1.0, y)


@pytest.mark.parametrize("y", [math.nan, math.inf, -math.inf])
def test_a_target_is_a_finite_number(y):
    """nan and infinities are rejected, not clipped."""
    with pytest.raises(ValueError, match=f"^y is {y}: a target must be a finite number"):
        validation.clipped_target(y)


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("c52", r"write the category as \{'a=c52': 1\}, or put iln_stream.RecordInputs\(\)"),
        ("21.5", r"convert it with float\(\)"),
        (None, "leave out unknown values"),
        (math.nan, "inputs must be finite numbers; leave out unknown values"),
        (math.inf, "inputs must be finite numbers; leave out unknown values"),
        ([1], "inputs must be numbers; convert it"),
    ],
)
def test_an_input_that_is_no_number(value, remedy):
    """Whoever passes a value of each kind learns what to do with it."""
    with pytest.raises(ValueError, match=rf"^x\['a'\] is .*: {remedy}"):
        ShrinkingGradient().learn_one({"a": value}, 1.0)


@pytest.mark.parametrize("learner", [InfiniteLayerRegressor("fast"), ShrinkingGradient()])
@pytest.mark.parametrize("y", ["12", b"12", [1.0], pd.NA])
def test_a_target_that_is_no_number(learner, y):
    """A text is refused, though float() reads it: it may be a class. So is what is no number."""
    with pytest.raises(ValueError, match=r"^y is .*: it must be a number; convert it with float"):
        learner.learn_one({"a": 1.0}, y)


@pytest.mark.parametrize("w", ["2", None, -1.0])
def test_a_weight_that_is_no_number(w):
    """Weights are checked the same way."""
    with pytest.raises(ValueError, match=r"^w "):
        ShrinkingGradient().learn_one({"a": 1.0}, 1.0, w)


def test_numbers_of_other_types():
    """Integers, booleans, decimals and numpy's numbers are targets."""
    for y in (1, True, Decimal(1), np.float32(1), np.int64(1), np.array(1.0)):
        assert validation.number("y", y) == 1.0


@pytest.mark.parametrize("x", [[1.0, 2.0], np.array([1.0]), "a", None, 3.0])
@pytest.mark.parametrize("profile", ["accurate", "fast", None])
def test_inputs_without_names_are_refused(profile, x):
    """A list or an array in place of a dict is named, with the method for tables."""
    learner = InfiniteLayerRegressor(profile=profile) if profile else ShrinkingGradient()
    if profile == "fast":  # with known columns, as many as the list has items
        learner.learn_one({"a": 1.0, "b": 2.0}, 3.0)
    with pytest.raises(TypeError, match=r"^x is .*: it must be a dict .* learn_many"):
        learner.learn_one(x, 1.0)
    with pytest.raises(TypeError, match=r"^x is .*: it must be a dict .* learn_many"):
        learner.predict_one(x)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.learn_one({"a": 1.0}, None), "y is None: .* predict an event without a label"),
        (lambda m: m.predict_one(np.array([1.0, 2.0])), "x is array.* must be a dict"),
        (lambda m: m.predict_interval({"a": 1.0}, "0.9"), "level = '0.9' must be a number"),
        (lambda m: m.predict_interval({"a": 1.0}, None), "level = None must be a number"),
        (lambda m: m.explain_one({"a": 1.0}, {"a": 1.0}), "background must be a list of events"),
        (lambda m: m.learn_many([[1, 2]], [1]), "X is of type list: give a DataFrame"),
        (lambda m: m.learn_token({"a": 1.0}, m.predict_token({"a": 1.0}), 1.0), "y_pred, token ="),
    ],
)
def test_usual_mistakes_name_the_argument_and_the_remedy(call, said):
    """What a user may try first is answered by an error that helps, and changes nothing."""
    model = InfiniteLayerRegressor("fast", seed=1)
    for a in range(3):
        model.learn_one({"a": float(a), "b": 1.0}, a)
    with pytest.raises((TypeError, ValueError), match=said):
        call(model)
    assert model.n_learned == 3


@pytest.mark.parametrize("value", ["9", 2.5, 0, None, True])
def test_max_columns_is_a_whole_number(value):
    """A text, a fraction or a boolean is refused as it was given."""
    for learner in (InfiniteLayerRegressor, InfiniteLayerClassifier, RandomFeatureRidge):
        with pytest.raises(ValueError, match=f"max_columns = {value!r} must be a whole number"):
            learner(max_columns=value)


def test_a_class_is_no_family():
    """A family's class, which has all that an instance has, is refused with the remedy."""
    with pytest.raises(ValueError, match="GaussianFourier is a class: give an instance"):
        ShrinkingGradient(features=GaussianFourier)
