"""Rows: bounded JSON values of steps and dead letters."""

import json
import math

from support.list_source import LIST

from iln_stream.loop import Details, Step
from iln_stream.loop.live import LONGEST, MOST_ENTRIES, cut, plain, row_of_letter, row_of_step
from iln_stream.records import DeadLetter


def step(**values):
    made = Step(LIST, 7, "a", 5.0, {"x": 1.0}, 1.0, 2.0, 0.5, ("shrunk",), False, 0.1, 9.0)
    return made._replace(**values)


def test_step():
    """A row has what the page shows of a step, and not its inputs."""
    row = row_of_step(3, step(details=Details(((1.0, 3.0), (0.0, 4.0)))))
    assert row == {
        "serial": 3, "stream": "list", "partition": 0, "offset": 7, "id": "a", "time": 5.0,
        "y": 1.0, "y_pred": 2.0, "p": None, "interval": [1.0, 3.0], "loss": 0.5,
        "flags": ["shrunk"], "late": False, "delay": None, "contender": None,
    }  # fmt: skip


def test_most_probable_class():
    """Of probabilities, the row has the most probable class, in its own type, and its own one."""
    row = row_of_step(1, step(y=True, y_pred={False: 0.25, True: 0.75}))
    assert (row["y"], row["y_pred"], row["p"]) == (True, True, 0.75)
    row = row_of_step(1, step(y=None, y_pred={}))
    assert (row["y_pred"], row["p"]) == (None, None)


def test_rows_are_json():
    """Numbers that are not finite are null, and long texts are cut."""
    row = row_of_step(1, step(event_id="i" * 999, loss=math.inf, y="c" * 999, delay=math.nan))
    assert len(row["id"]) == len(row["y"]) == LONGEST
    assert json.loads(json.dumps(row, allow_nan=False))["loss"] is None


def test_letter():
    """A dead letter shows an excerpt of its payload only."""
    row = row_of_letter(4, DeadLetter.of("s", 0, 9, b"p" * 9999, "r" * 9999))
    assert (row["serial"], row["offset"], len(row["payload"])) == (4, 9, LONGEST)
    assert len(row["reason"]) == LONGEST


def test_plain():
    """Whatever a contest or a metric returns becomes a bounded JSON value."""
    many = dict.fromkeys(range(1000), math.nan)
    assert len(plain(many)) == len(plain(list(range(1000)))) == MOST_ENTRIES
    assert plain({"a": (1, None, math.inf)}) == {"a": [1, None, None]}
    assert plain(object()).startswith("<object")
    assert cut("ab") == "ab"
