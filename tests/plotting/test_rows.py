from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from support.prediction_message import message

from iln_stream.errors import IlnError
from iln_stream.plotting import read_rows
from iln_stream.records import read_prediction


def test_a_row_of_a_loop():
    """All that a dict may have is read, levels as numbers, times as POSIX seconds."""
    time = datetime(2026, 1, 1, tzinfo=UTC)
    (row,) = read_rows([{"y_pred": 2.0, "y": 3.0, "intervals": {"0.9": (1, 4)}, "time": time}])
    assert (row.y_pred, row.y, row.intervals, row.is_class) == (2.0, 3.0, {0.9: (1, 4)}, False)
    assert row.time == 1767225600.0


@pytest.mark.parametrize("unknown", [float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_an_unknown_label_of_a_table(unknown):
    """pandas says unknown by nan or NA: such a row has no error, which would spoil the mean."""
    (row,) = read_rows([{"y_pred": 1.0, "y": unknown}])
    assert row.y is None


def test_a_class_of_a_loop():
    """A class comes with the probability of the predicted one."""
    (row,) = read_rows([{"y_pred": "cat", "y": None, "probabilities": {"cat": 0.7, "dog": 0.3}}])
    assert (row.y_pred, row.y, row.p, row.is_class) == ("cat", None, 0.7, True)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (3.0, "must be a dict with y_pred and y, not 3.0"),
        ({"y": 3.0}, "must be a dict with y_pred and y"),
        ({"y_pred": 1.0, "y": 1.0, "interval": (0, 2)}, "but not interval"),
        ({"y_pred": 1.0, "y": 1.0, "time": datetime(2026, 1, 1)}, "has no time zone"),
        ({"y_pred": 1.0, "y": 1.0, "time": "noon"}, "not 'noon'"),
    ],
)
def test_a_wrong_row_is_refused(row, said):
    """The error names the field, and what it must be."""
    with pytest.raises(IlnError, match=said):
        list(read_rows([row]))


def test_a_file_of_messages(tmp_path):
    """A file has a message a line, and may have blank lines."""
    first = message(4, y_pred=12.5, y=13.0)
    second = message(5, y=2.0, time=60.0, intervals={"0.5": [0.0, 2.0], "0.9": [-1.0, 3.0]})
    (tmp_path / "p.jsonl").write_text(f"{first}\n\n{second}\n")
    first, second = read_rows(tmp_path / "p.jsonl")
    assert (first.y_pred, first.y, first.intervals) == (12.5, 13.0, {})
    assert (second.y, second.time, second.intervals[0.9]) == (2.0, 60.0, (-1.0, 3.0))


def test_classes_true_and_one_are_two(tmp_path):
    """The probability is that of the predicted class, not of one that is equal in Python."""
    probabilities = [{"class": 1, "p": 0.2}, {"class": True, "p": 0.8}]
    (row,) = read_rows([read_prediction(message(y_pred=True, probabilities=probabilities))])
    assert row.p == 0.8


def test_a_forecast_is_at_the_time_that_it_is_for():
    """Its time is that of the value that it forecasts."""
    given = message(time=60.0, horizon="1h", horizon_time=3660.0)
    (row,) = read_rows([read_prediction(given)])
    assert (row.time, row.horizon) == (3660.0, "1h")


def test_a_repeat_is_one_row(tmp_path):
    """A prediction that a run wrote again after a crash counts once; other horizons are others."""
    lines = [message(0), message(1), message(1), message(1, horizon="2"), message(2)]
    (tmp_path / "p.jsonl").write_text("\n".join(lines) + "\n")
    rows = list(read_rows(tmp_path / "p.jsonl"))
    assert [(row.place[2], row.horizon) for row in rows] == [
        (0, None), (1, None), (1, "2"), (2, None),
    ]  # fmt: skip


def test_a_last_line_that_is_being_written(tmp_path):
    """The incomplete last line of a run that goes on is left out; a complete one counts."""
    for last, n in ((message(1)[:50], 1), (message(1), 2)):
        (tmp_path / "p.jsonl").write_text(f"{message(0)}\n{last}")
        assert len(list(read_rows(tmp_path / "p.jsonl"))) == n


def test_another_file_is_refused(tmp_path):
    """The error names the line and the setting that writes such a file, or the missing file."""
    (tmp_path / "p.jsonl").write_text(f'{message(0)}\n{{"x": {{}}, "y": 1.0}}\n')
    with pytest.raises(IlnError, match=r"p\.jsonl, line 2 is not a prediction.* predictions = "):
        list(read_rows(str(tmp_path / "p.jsonl")))
    with pytest.raises(IlnError, match=r"none\.jsonl: No such file"):
        list(read_rows(tmp_path / "none.jsonl"))
