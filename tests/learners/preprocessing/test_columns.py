import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.errors import IlnWarning
from iln_stream.features.base import LARGEST_INPUT
from iln_stream.learners import model_of, state_of
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

X = st.dictionaries(st.text(max_size=3), st.floats(-1e308, 1e308), max_size=6)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@settings(max_examples=50)
@given(st.lists(X, max_size=6), X, st.integers(1, 8))
def test_row_foretells_learn(history, x, max_columns):
    """A prediction sees the row that learning the same x would see, and changes nothing."""
    columns = Columns(max_columns)
    for earlier in history:
        columns.learn(earlier)
    before = dict(columns.place), columns.n_overflowed
    foretold = columns.row(x)
    assert (dict(columns.place), columns.n_overflowed) == before
    assert foretold.tolist() == columns.learn(x).tolist()


@settings(max_examples=50)
@given(st.lists(X, max_size=6), st.randoms())
def test_order_of_keys_never_matters(history, random):
    """Shuffling the keys of every event gives the same rows."""
    columns, shuffled = Columns(100), Columns(100)
    for x in history:
        keys = list(x)
        random.shuffle(keys)
        assert columns.learn(x).tolist() == shuffled.learn({k: x[k] for k in keys}).tolist()


@given(st.lists(st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.integers(0, 2)})))
def test_rows_stay_what_they_were(events):
    """Rows of events that repeat, or differ in one value, are each event's own to the end."""
    columns = Columns(10)
    columns.learn({"a": 0, "b": 0})
    rows = [(columns.row(x), columns.learn(x)) for x in events]
    for x, pair in zip(events, rows, strict=True):
        assert [row.tolist() for row in pair] == 2 * [[x["a"], x["b"]]]


@pytest.mark.parametrize("alike", [(0.0, -0.0), (0.1, np.float32(0.1)), (1.0, 10**400)])
def test_a_row_is_not_the_last_one_of_nearly_the_same_event(alike):
    """Values that are called equal but are not the same bits, or are too large, keep their own."""
    columns = Columns(10)
    columns.learn({"a": 0.0, "b": 0.0})
    for value in (*alike, *alike):
        row = columns.learn({"a": value, "b": 1.0})
        assert row.tobytes() == np.array([min(value, LARGEST_INPUT), 1.0]).tobytes()


def test_absent_names_are_not_values_that_look_absent():
    """Rows of events that lack names have `absent` there, and only there, whatever came before."""
    columns = Columns(10, absent=1e300)
    columns.learn({"a": 1.0, "b": 2.0, "c": 3.0})
    for x in ({"c": 1}, {"c": 1, "a": 1e300}, {"c": 1}, {}, {"b": -0.0}, {"b": 0.0, "c": True}):
        expected = [min(x.get(name, 2e300), LARGEST_INPUT) for name in "abc"]
        expected = [1e300 if name not in x else expected[i] for i, name in enumerate("abc")]
        for row in (columns.row(x), columns.learn(x)):
            assert row.tobytes() == np.array(expected, float).tobytes()
    assert columns.row({"a": 1.0, "d": 2.0}).tolist() == [1.0, 1e300, 1e300, 2.0]
    with pytest.raises(ValueError, match=r"x\['b'\] is None"):
        columns.row({"b": None})


def test_names_of_mixed_types():
    """River allows any hashable name: 1 and "1" are two columns."""
    columns = Columns(10)
    assert columns.learn({"1": 7.0, 1: 5.0}).tolist() == columns.row({1: 5.0, "1": 7.0}).tolist()
    assert len(columns) == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_not_finite_is_refused_by_name(value):
    """A value that is not a number raises an error that names the input, and changes nothing."""
    columns = Columns(3)
    with pytest.raises(ValueError, match=r"x\['b'\] is -?(nan|inf): inputs must be finite"):
        columns.learn({"a": 1.0, "b": value})
    assert len(columns) == 0


def test_events_with_all_columns_and_other_names():
    """Names without a column are counted at each event, and neither they nor bad values pass."""
    columns = Columns(2)
    with pytest.warns(IlnWarning):
        columns.learn({"a": 1.0, "b": 2.0, "c": 3.0})
    for n in range(2, 4):
        assert columns.row({"c": 3.0, "b": float(n), "a": 1.0}).tolist() == [1.0, n]
        columns.learn({"c": 3.0, "b": float(n), "a": 1.0, "d": 4.0})
        assert columns.n_overflowed == 1 + 2 * (n - 1)
    with pytest.raises(ValueError, match="must be finite"):
        columns.learn({"a": float("nan"), "b": 1.0, "c": 3.0})
    assert columns.n_overflowed == 5


@pytest.mark.parametrize(
    "learner",
    [
        InfiniteLayerRegressor("fast", max_columns=2),
        InfiniteLayerClassifier(max_columns=2),
        ShrinkingGradient(max_columns=2),
        WinsorisedScaler(max_columns=2),
    ],
    ids=str,
)
def test_the_first_overflow_is_warned_of(learner):
    """Every learner warns once, by the start of the input's name, and counts; a restored one is
    silent. Where warnings are errors, the event raises, and learning continues."""
    strict = learner.clone()
    learner = learner.clone()
    learner.learn_one({"a": 1.0, "b": 2.0}, 0.5)
    assert learner.n_overflowed == 0
    with pytest.warns(IlnWarning, match=r"'id 0.* is left out.* max_columns = 2 .*raise") as told:
        for k in range(3):
            learner.learn_one({"a": 1.0, f"id {k}" + " word" * 999: 2.0, f"name {k}": 2.0}, 0.5)
    assert (len(told), learner.n_overflowed) == (1, 6)
    assert len(str(told[0].message)) < 400
    restored = model_of(state_of(learner))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (learner, restored):
            model.learn_one({"id 9": 2.0}, 0.5)
        assert (learner.n_overflowed, restored.n_overflowed) == (7, 7)
        with pytest.raises(IlnWarning, match="'c'"):
            strict.learn_one({"a": 1.0, "b": 1.0, "c": 2.0}, 0.5)
        for _ in range(3):
            strict.learn_one({"a": 1.0, "b": 1.0, "c": 2.0}, 0.5)
    assert strict.n_overflowed == 4
