"""Tables are learned as their rows are, one by one."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor
from iln_stream.learners.infinite_layer.base import ROWS
from iln_stream.records.decoding import one_hot

TABLES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
SERIES = {"pandas": pd.Series, "polars": pl.Series, "pyarrow": lambda y: pa.chunked_array([y])}
MAKERS = {
    "fast": lambda **options: InfiniteLayerRegressor("fast", seed=1, **options),
    "fast-mean": lambda: InfiniteLayerRegressor("fast", seed=1, loss="squared"),
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "classifier": lambda: InfiniteLayerClassifier(seed=1),
}


def columns(n, seed=0, *, texts=True):
    """Columns with missing values, texts, booleans, a late number and a late text; targets.

    Without texts, profile fast learns them in a compiled loop.
    """
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    y = (a * b + 0.1 * rng.normal(size=n)).tolist()
    gaps, late = rng.random(n) < 0.1, np.arange(n) > n // 2
    of_text = {
        "sky": [["clear", "grey", None][i] for i in rng.integers(0, 3, n)],
        "town": [["Ulm", "Bonn", f"rare{i}"][min(i, 2)] for i in rng.geometric(0.6, n) - 1],
    }
    return {
        "b": b.tolist(),
        "a": [None if gap else float(value) for gap, value in zip(gaps, 1e3 + a, strict=True)],
        "huge": (1e20 * rng.integers(-1, 2, n)).tolist(),
        **(of_text if texts else {}),
        "flag": [bool(i) for i in rng.integers(0, 2, n)],
        "late": [float(i) if after else None for i, after in enumerate(late)],
    }, y


def events(x):
    """Rows of columns as the service learns them."""
    return [one_hot({name: values[i] for name, values in x.items()}) for i in range(len(x["b"]))]


def label(name, y):
    return ["high" if value > 0 else "low" for value in y] if name == "classifier" else y


CASES = pytest.mark.parametrize(
    ("name", "table", "texts"),
    [
        *(("fast", table, texts) for table in TABLES for texts in (True, False)),
        ("fast-mean", "polars", False),
        ("accurate", "pyarrow", True),
        *(("classifier", table, True) for table in TABLES),
    ],
)


@CASES
def test_a_table_is_learned_as_its_rows(name, table, texts):
    """The state is the same to the last bit, and so are predictions, in the table's kind."""
    one, many = MAKERS[name](), MAKERS[name]()
    x, y = columns(2 * ROWS + 100 if name.startswith("fast") else 150, texts=texts)
    y = label(name, y)
    for event, target in zip(events(x), y, strict=True):
        one.learn_one(event, target)
    many.learn_many(TABLES[table](x), SERIES[table](y))
    assert same(one.state(), many.state())
    x, _ = columns(50, seed=1, texts=texts)
    X, expected = TABLES[table](x), [one.predict_one(event) for event in events(x)]
    found = many.predict_many(X)
    assert type(found) is type(SERIES[table]([1.0]))
    assert (found.to_pylist() if table == "pyarrow" else found.to_list()) == expected
    if name == "classifier":
        p = many.predict_proba_many(X)
        rows = p.to_dict("records") if table == "pandas" else p
        rows = rows.to_dicts() if table == "polars" else rows
        rows = rows.to_pylist() if table == "pyarrow" else rows
        assert rows == [one.predict_proba_one(event) for event in events(x)]
    assert same(one.state(), many.state())


@CASES
def test_weighted_rows_are_learned_as_events(name, table, texts):
    """The state is that of `learn_one` with each row's weight, zero and one included."""
    n = ROWS + 100 if name.startswith("fast") else 150
    one, many, unweighted = MAKERS[name](), MAKERS[name](), MAKERS[name]()
    x, y = columns(n, texts=texts)
    y = label(name, y)
    w = np.random.default_rng(5).choice([0.0, 0.25, 1.0, 3.0], n).tolist()
    w[:50] = [1.0] * 50
    for event, target, weight in zip(events(x), y, w, strict=True):
        one.learn_one(event, target, weight)
    for start, stop in ((0, 50), (50, n)):  # the first part has weights of 1 only
        part = TABLES[table]({k: values[start:stop] for k, values in x.items()})
        many.learn_many(part, y[start:stop], SERIES[table](w[start:stop]))
    unweighted.learn_many(TABLES[table](x), y)
    assert same(one.state(), many.state())
    assert not same(one.state(), unweighted.state())


@pytest.mark.parametrize("name", ["fast", "classifier"])
def test_one_weight_for_all_rows(name):
    """A number is the weight of each row; 1 is as without."""
    X, y = pd.DataFrame({"a": [1.0, 2.0, 4.0]}), label(name, [1.0, -2.0, 3.0])
    number, listed, plain, ones = (MAKERS[name]() for _ in range(4))
    number.learn_many(X, y, w=np.float32(2.5))
    listed.learn_many(X, y, [2.5, 2.5, 2.5])
    plain.learn_many(X, y)
    ones.learn_many(X, y, np.ones(3))
    assert same(number.state(), listed.state())
    assert same(plain.state(), ones.state())


@pytest.mark.parametrize(
    ("w", "error"),
    [
        ([1.0, -1.0], "w is -1.0 in row 1"),
        ([1.0, None], "w is nan in row 1"),
        ([2e6, 1.0], "row 0.*1,000,000"),
        ([1.0], "w has 1 rows, and X has 2"),
        (-1, "w = -1"),
        (pd.Series([1.0, 2.0], index=[1, 0]), "w has another index than X"),
    ],
)
def test_weights_that_are_refused(w, error):
    """They are named, and nothing is learned."""
    for name in ("fast", "classifier"):
        learner = MAKERS[name]()
        with pytest.raises(ValueError, match=error):
            learner.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), label(name, [1.0, 2.0]), w)
        assert learner.n_learned == 0


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 90), max_size=8), st.integers(0, 99), st.booleans())
def test_chunks_of_any_size(sizes, seed, texts):
    """However a table is cut, columns are ordered, and predictions made between, it is the same."""
    x, y = columns(300, seed, texts=texts)
    one, many = MAKERS["fast"](), MAKERS["fast"]()
    for event, target in zip(events(x), y, strict=True):
        one.learn_one(event, target)
    X, ends = pl.DataFrame(x), [*np.cumsum([0, *sizes]).clip(max=300).tolist(), 300]
    for i, (start, end) in enumerate(pairwise(ends)):
        part = X[start:end].select(X.columns[::-1] if i % 2 else X.columns)
        many.predict_many(part)
        many.learn_many(part, y[start:end])
    assert same(one.state(), many.state())


def test_columns_that_come_and_go():
    """A later table may have other columns; those that it lacks are missing."""
    one, many = MAKERS["fast"](), MAKERS["fast"]()
    rng = np.random.default_rng(0)
    for names in ("ab", "b", "bac", "dc", ""):
        x = {name: rng.normal(size=60).tolist() for name in names}
        y = rng.normal(size=60).tolist()
        for i, target in enumerate(y):
            one.learn_one({name: values[i] for name, values in x.items()}, target)
        many.learn_many(pd.DataFrame(x, index=range(60)), y)
    assert same(one.state(), many.state())


def test_inputs_that_find_no_column():
    """They are left out and counted, and the first is warned of, as one by one."""
    one, many = MAKERS["fast"](max_columns=3), MAKERS["fast"](max_columns=3)
    x, y = columns(400, texts=False)
    with pytest.warns(IlnWarning, match="max_columns = 3") as alone:
        for event, target in zip(events(x), y, strict=True):
            one.learn_one(event, target)
    with pytest.warns(IlnWarning, match="max_columns = 3") as together:
        for start in (0, 250):
            X = pd.DataFrame(x)[start : start + 250]
            many.learn_many(X, y[start : start + 250])
    assert [str(each.message) for each in alone] == [str(each.message) for each in together]
    assert one.n_overflowed == many.n_overflowed > 0
    assert same(one.state(), many.state())


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize(
    ("field", "weight"), [("theta", 1.0), ("memory", 1.0), ("target", 1.0), ("theta", 2.0)]
)
def test_a_broken_part_heals_amid_a_table(field, weight):
    """At the event at which it would heal one by one, and to the same bits."""
    one, many = MAKERS["fast"](), MAKERS["fast"]()
    x, y = columns(900, texts=False)
    cut = {name: values[:300] for name, values in x.items()}
    for learner in (one, many):
        learner.learn_many(pl.DataFrame(cut), y[:300])
        dict(learner._engine.floats())[field].flat[0] = np.nan
    for event, target in list(zip(events(x), y, strict=True))[300:]:
        one.learn_one(event, target, weight)
    many.learn_many(pl.DataFrame(x)[300:], y[300:], weight)
    assert same(one.state(), many.state())
    if field != "memory":
        assert many.n_reset > 0


@pytest.mark.parametrize("name", ["fast", "classifier"])
def test_nothing_is_learned_from_a_bad_table(name):
    """Of labels that are missing or too few, or infinite values, not even the good rows."""
    learner = MAKERS[name]()
    for x, y in (
        ([1.0, 2.0], [1.0, None]),
        ([1.0, 2.0], [1.0]),
        ([1.0, float("inf")], [1.0, 2.0]),
    ):
        with pytest.raises(ValueError, match="row"):
            learner.learn_many(pd.DataFrame({"a": x}), y)
    assert learner.n_learned == 0


def test_numbers_as_text_are_warned_of():
    """When they are learned; a prediction repeats no warning."""
    learner, X = MAKERS["fast"](), pd.DataFrame({"temp": ["21.5", "22"]})
    with pytest.warns(IlnWarning, match="'temp' has numbers as text"):
        learner.learn_many(X, [1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.predict_many(X)


def test_the_index_of_pandas_is_kept():
    """Of series and of tables, for an empty table, too; classes keep their types."""
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=["u", "v", "w"])
    learner, classifier = MAKERS["fast"](), MAKERS["classifier"]()
    learner.learn_many(X, pd.Series([1.0, 2.0, 3.0], index=X.index))
    classifier.learn_many(X, pd.Series([True, False, True], index=X.index))
    assert learner.predict_many(X).index.tolist() == ["u", "v", "w"]
    assert classifier.predict_proba_many(X).index.tolist() == ["u", "v", "w"]
    assert classifier.predict_proba_many(X).columns.tolist() == [True, False]
    assert classifier.predict_many(X).tolist() == [classifier.predict_one({"a": a}) for a in X["a"]]
    assert len(learner.predict_many(X[:0])) == len(classifier.predict_many(X[:0])) == 0
    learner.learn_many(X[:0], [])
    assert learner.n_learned == 3


@pytest.mark.parametrize("name", ["fast", "classifier"])
def test_labels_in_another_order_are_refused(name):
    """A shuffled series of pandas would be learned with the wrong rows."""
    learner, X = MAKERS[name](), pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    y = pd.Series(label(name, [1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match="another index than X"):
        learner.learn_many(X, y.loc[[2, 0, 1]])
    learner.learn_many(X, y.loc[[2, 0, 1]].to_numpy())  # an array has no index
    learner.learn_many(X.loc[[2, 0, 1]], y.loc[[2, 0, 1]])
    assert learner.n_learned == 6


def test_before_the_first_class():
    """There are no probabilities, and no class."""
    X = pd.DataFrame({"a": [1.0, 2.0]})
    assert MAKERS["classifier"]().predict_proba_many(X).shape == (2, 0)
    assert MAKERS["classifier"]().predict_many(X).tolist() == [None, None]


@pytest.mark.filterwarnings("error")
def test_categories_of_pandas_that_are_numbers():
    """A column of the type category is one, as with its codes as texts, and not a quantity."""
    one, many = MAKERS["fast"](), MAKERS["fast"]()
    codes, y = [7, 40, 7, 9] * 30, [1.0, 5.0, 1.0, 2.0] * 30
    for code, target in zip(codes, y, strict=True):
        one.learn_one({f"zip={code}": 1.0}, target)
    many.learn_many(pd.DataFrame({"zip": pd.Categorical([None, *codes])})[1:], y)
    many.predict_many(pd.DataFrame({"zip": pd.Categorical([None])}))
    assert same(one.state(), many.state())
