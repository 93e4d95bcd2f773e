"""docs/fields.md does what it says."""

import re
import tomllib

import pytest
from support.document import blocks, run_shell_blocks


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Run the page's commands in one folder; return folder and outputs."""
    folder = tmp_path_factory.mktemp("fields")
    return folder, run_shell_blocks("fields.md", folder)


def test_the_proposal_is_that_of_the_page(said):
    """`inspect-source` proposes the settings that the page shows."""
    folder, _ = said
    shown = blocks("fields.md", "toml")[0]
    proposed = (folder / "learn.toml").read_text(encoding="utf-8")
    assert tomllib.loads(proposed) == tomllib.loads(shown)


def test_the_proposal_learns_every_record(said):
    """With these settings each record is predicted and learned."""
    folder, outputs = said
    assert "3 events, 0 dead letters" in outputs[1]
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    assert [re.search(r'"id":"(.*?)"', line)[1] for line in lines] == ["o-1", "o-2", "o-3"]


def test_the_spreadsheet_of_the_page(said):
    """The page's CSV file of another country is found out and learned."""
    folder, outputs = said
    assert "3 events, 0 dead letters" in outputs[2]
    proposed = tomllib.loads((folder / "shops.toml").read_text(encoding="utf-8"))
    assert proposed == {
        "source": "shops.csv", "separator": ";", "decimal": ",", "date_order": "dmy",
        "target": "Turnover", "time_field": "Day", "time_features": ["hour", "weekday"],
        "types": {"Outside Temp": "number", "Zip": "category"},
    }  # fmt: skip


def test_the_decoder_of_the_page(said):
    """The page's function reads its format, and the line that it can't read is a dead letter."""
    folder, outputs = said
    assert "2 events, 1 dead letters" in outputs[3]
    assert "decoder = our_format:pairs failed: ValueError" in (
        folder / "dead-letters.jsonl"
    ).read_text(encoding="utf-8")
