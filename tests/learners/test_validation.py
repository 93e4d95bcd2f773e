import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from iln_stream.features import GaussianFourier
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor, ShrinkingGradient
from iln_stream.learners import checks as validation


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
def test_a_target_that_is_no_number(learner):
    """A text is refused, though float() reads it: it may be a class. So is what is no number."""
    for y in ("12", b"12", [1.0], pd.NA):
        with pytest.raises(ValueError, match=r"^y is .*: it must be a number; convert it with fl"):
            learner.learn_one({"a": 1.0}, y)


@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_what_is_no_seed_is_refused(seed):
    """The error names the argument, not NumPy's generator."""
    with pytest.raises(ValueError, match=f"^seed = {seed!r} must be a whole number"):
        InfiniteLayerRegressor(seed=seed)


def test_numbers_of_other_types():
    """Integers, booleans, decimals and numpy's numbers are targets."""
    for y in (1, True, Decimal(1), np.float32(1), np.int64(1), np.array(1.0)):
        assert validation.number("y", y) == 1.0


@pytest.mark.parametrize("profile", ["accurate", "fast", None])
def test_inputs_without_names_are_refused(profile):
    """A list or an array in place of a dict is named, with the method for tables."""
    learner = InfiniteLayerRegressor(profile=profile) if profile else ShrinkingGradient()
    if profile == "fast":  # with known columns, as many as the list has items
        learner.learn_one({"a": 1.0, "b": 2.0}, 3.0)
    for x in ([1.0, 2.0], np.array([1.0]), "a", None, 3.0):
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


@pytest.mark.parametrize("learner", [InfiniteLayerRegressor, InfiniteLayerClassifier])
def test_max_columns_is_a_whole_number(learner):
    """A text, a fraction or a boolean is refused as it was given."""
    for value in ("9", 2.5, 0, None, True):
        with pytest.raises(ValueError, match=f"max_columns = {value!r} must be a whole number"):
            learner(max_columns=value)


def test_a_class_is_no_family():
    """A family's class, which has all that an instance has, is refused with the remedy."""
    with pytest.raises(ValueError, match="GaussianFourier is a class: give an instance"):
        ShrinkingGradient(features=GaussianFourier)
