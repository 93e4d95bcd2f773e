"""RecordInputs in River pipelines."""

import datetime as dt
import math
import pickle

import pandas as pd
import pytest

from iln_stream import RecordInputs
from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

MESSY = {
    "at": dt.datetime(2026, 1, 5, 12, tzinfo=dt.UTC),
    "zip": 89073,
    "price": "21,50",
    "sky": "clear",
    "open": True,
    "wind": math.nan,
    "rain": "NA",
    "note": None,
    "user": {"age": 3},
    "id": "a-17",
}


def inputs() -> RecordInputs:
    return RecordInputs(
        types={"zip": "category", "price": "number"},
        ignore=["id"],
        decimal=",",
        time_field="at",
        time_features=["weekday"],
    )


def test_each_kind_of_value() -> None:
    """Numbers, categories and a time are inputs; what is missing or ignored is not."""
    found = inputs().transform_one(MESSY)
    assert (found.pop("time.weekday.sin"), found.pop("time.weekday.cos")) == pytest.approx(
        (math.sin(math.pi / 7), math.cos(math.pi / 7))
    )
    assert found == {"zip=89073": 1.0, "price": 21.5, "sky=clear": 1.0, "open": 1.0, "user.age": 3}


def test_in_a_pipeline() -> None:
    """A learner behind it learns records as they are, and as it learns prepared inputs."""
    pipeline = inputs() | InfiniteLayerRegressor("fast", seed=1)
    alone = InfiniteLayerRegressor("fast", seed=1)
    for n in range(20):
        record = {**MESSY, "zip": n % 3, "price": f"{n},5"}
        pipeline.learn_one(record, n % 3)
        alone.learn_one(inputs().transform_one(record), n % 3)
    assert pipeline.predict_one(MESSY) == alone.predict_one(inputs().transform_one(MESSY))


def test_copies() -> None:
    """River clones the steps of pipelines, and users pickle them."""
    for copied in (inputs().clone(), pickle.loads(pickle.dumps(inputs()))):
        assert copied.transform_one(MESSY) == inputs().transform_one(MESSY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"types": {"a": "colour"}}, "types: a = 'colour' is not among"),
        ({"decimal": ";"}, "^decimal = "),
        ({"date_order": "mixed"}, "^date_order = "),
        ({"null_values": "NA"}, "^null_values = "),
        ({"ignore": 5}, "^ignore = "),
        ({"types": [("a", "number")]}, "^types = "),
        ({"time_features": ["hour"]}, "time_features: set time_field"),
        ({"crosses": ["zone*hour"]}, "crosses: set time_field"),
        ({"time_features": ["since_last"], "time_field": "t"}, "'since_last' depends on the event"),
        ({"time_features": ["month"], "time_field": "t"}, "'month' is not among"),
    ],
)
def test_wrong_arguments(arguments, message: str) -> None:
    """A wrong argument is refused when the transformer is made, with the field and the remedy."""
    with pytest.raises(ValueError, match=message):
        RecordInputs(**arguments)


def test_a_value_of_another_type() -> None:
    """A value that does not have its type is refused, with the field, as is what is no record."""
    with pytest.raises(ValueError, match="zip: expected a finite number"):
        RecordInputs(types={"zip": "number"}).transform_one({"zip": "unknown"})
    with pytest.raises(ValueError, match="give a record"):
        RecordInputs().transform_one([1, 2])


def test_dates_of_another_order():
    """Dates with the year last are read in the order that the error of the others names."""
    how = {"time_field": "at", "time_features": ["hour"]}
    record = {"at": "31.01.2026 06:00", "a": 1}
    with pytest.raises(ValueError, match="set date_order to dmy"):
        RecordInputs(**how).transform_one(record)
    found = RecordInputs(**how, date_order="dmy").transform_one(record)
    assert found["time.hour.sin"] == pytest.approx(1.0)


def test_missing_values_of_pandas():
    """NA and NaT are missing, like None; the first can't even be compared. A number as text is not
    coerced in silence."""
    with pytest.warns(IlnWarning, match="the text '7' is taken as a number"):
        assert RecordInputs().transform_one({"a": "7"}) == {"a": 7.0}
    assert RecordInputs().transform_one({"a": pd.NA, "b": pd.NaT, "c": 1}) == {"c": 1.0}
