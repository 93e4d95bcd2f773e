"""docs/forecasts.md does what it says."""

import json
import re

import pytest
from support.document import blocks, run_shell_blocks


def block(language):
    (text,) = blocks("forecasts.md", language)
    return text


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the page's commands in one folder; return it, and what they said."""
    folder = tmp_path_factory.mktemp("forecasts")
    (said,) = run_shell_blocks("forecasts.md", folder)
    return folder, said


def test_each_record_has_the_messages_of_the_page(ran):
    """Each record has one message for each horizon, with the fields that the page shows."""
    folder, _ = ran
    sent = [json.loads(line) for line in (folder / "forecasts.jsonl").read_text().splitlines()]
    assert sorted((each["offset"], each["horizon"]) for each in sent) == sorted(
        (i, horizon) for i in range(2000) for horizon in ("1", "6", "24")
    )
    (last,) = (each for each in sent if (each["offset"], each["horizon"]) == (1999, "24"))
    shown = json.loads(block("json"))
    assert last | {"y_pred": 0.0} == shown | {"y_pred": 0.0, "model": last["model"]}
    assert last["model"]["name"] == shown["model"]["name"]
    assert last["y_pred"] == pytest.approx(shown["y_pred"], abs=3.0)


def test_the_end_names_the_error_of_each_horizon(ran):
    """The last lines have the horizon and the error, which is below that of the last value."""
    _, said = ran
    for horizon in (1, 6, 24):
        (mae, baseline) = re.search(
            rf"{horizon} ahead, .*2000 events, 0 dead letters; .*MAE ([\d.]+) \(.*? ([\d.]+)\)",
            said,
        ).groups()
        assert float(mae) < float(baseline)


def test_at_most_five_settings():
    """The page's way in needs no more than five settings."""
    toml = re.search(r"<<END\n(.*?)END\n", block("sh"), re.DOTALL)[1]
    assert len(toml.splitlines()) <= 5


def test_without_the_service():
    """The page's loop scores each forecast, and predicts better than the last value."""
    names = {}
    exec(block("python"), names)
    values, mae = names["values"], names["mae"]
    last = [abs(later - now) for now, later in zip(values, values[12:], strict=False)]
    assert mae.get() < sum(last) / len(last)
    assert not names["published"]
