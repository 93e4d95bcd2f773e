"""The documents' settings match the settings."""

import re

import pytest
import settings_table as script
from generated import markers, rewritten_part
from typer.testing import CliRunner

from iln_stream.cli.app import app
from iln_stream.service import SETTING_GROUPS, Settings

BEGIN, END = markers("settings")


def test_documents_are_current():
    """The tables in the documents are what the script generates."""
    names = [file.name for file in script.TABLES]
    assert names == ["settings.md", "http_api.md", "page.md", "spark.md"]
    for file, kind in script.TABLES.items():
        text = file.read_text(encoding="utf-8")
        for marker in (BEGIN, END):
            assert text.count(marker) == 1, f"{file} needs exactly one {marker}"
        assert script.rewritten(text, kind) == text, f"{file} is out of date: run make docs"


def test_each_setting_is_in_one_group():
    """No setting is left out of the documents and of --help's groups, or is there twice."""
    grouped = [name for names in SETTING_GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(Settings.model_fields)


def test_the_basic_settings():
    """The help shows what the code marks as basic first, and so does the document."""
    shown = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "200"}).output
    _, basic, _ = re.split(r"╭─ (?!Options)", shown, maxsplit=2)
    document = (script.DOCS / "settings.md").read_text(encoding="utf-8")
    section = document.split("\n## Basic\n")[1].split("\n## ")[0]
    flags = [f"--{name.replace('_', '-')}" for name in SETTING_GROUPS["Basic"]]
    assert len(flags) == 15
    assert re.findall(r"^│ +(--[\w-]+)", basic, re.M) == flags
    assert re.findall(r"^\| `(--[\w-]+)`", section, re.M) == flags


def test_a_row_for_each_setting():
    """A setting's row has flag, variable, key and description."""
    for name, field in Settings.model_fields.items():
        row = script.table(Settings, [name]).splitlines()[2]
        assert row.startswith(f"| `--{name.replace('_', '-')}` | `ILN_{name.upper()}` | `{name}` |")
        assert row.endswith(f"{field.description} |")
        assert row.count("|") == 6


def test_only_the_part_is_rewritten():
    """Only the text between the markers changes, and a second run changes nothing."""
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    once = rewritten_part(text, "settings", "new")
    assert once == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert rewritten_part(once, "settings", "new") == once


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}{BEGIN}"])
def test_document_without_markers(text):
    """A document without markers is an error that names them."""
    with pytest.raises(SystemExit, match=r"the document has no place for settings: <!-- settings:"):
        rewritten_part(text, "settings", "new")
