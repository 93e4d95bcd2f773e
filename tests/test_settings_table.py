"""The documents' settings match the settings."""

import importlib.util
from pathlib import Path

import pytest

from iln_stream.service import SETTING_GROUPS, Settings

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script():
    """docs/settings_table.py, which is not part of the package."""
    spec = importlib.util.spec_from_file_location("settings_table", ROOT / "docs/settings_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_documents_are_current(script):
    """The tables in the documents are what the script generates."""
    names = [file.name for file in script.TABLES]
    assert names == ["settings.md", "http_api.md", "page.md", "spark.md"]
    for file, kind in script.TABLES.items():
        text = file.read_text(encoding="utf-8")
        for marker in (script.BEGIN, script.END):
            assert text.count(marker) == 1, f"{file} needs exactly one {marker}"
        assert script.rewritten(text, kind) == text, f"{file} is out of date: run make docs"


def test_each_setting_is_in_one_group():
    """No setting is left out of the documents and of --help's groups, or is there twice."""
    grouped = [name for names in SETTING_GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(Settings.model_fields)


def test_a_row_for_each_setting(script):
    """A setting's row has flag, variable, key and description."""
    for name, field in Settings.model_fields.items():
        row = script.table(Settings, [name]).splitlines()[2]
        assert row.startswith(f"| `--{name.replace('_', '-')}` | `ILN_{name.upper()}` | `{name}` |")
        assert row.endswith(f"{field.description} |")
        assert row.count("|") == 6


def test_only_the_tables_are_rewritten(script):
    """Only the text between the markers changes, and a second run changes nothing."""
    text = f"before\n{script.BEGIN}\nold\n{script.END}\nafter\n"
    once = script.rewritten(text)
    assert once == f"before\n{script.BEGIN}\n{script.tables()}\n{script.END}\nafter\n"
    assert script.rewritten(once) == once


@pytest.mark.parametrize("text", ["", "<!-- settings:begin -->", "<!-- settings:end -->"])
def test_document_without_markers(script, text):
    """A document without markers is an error that names them."""
    with pytest.raises(SystemExit, match=r"the document has no place for settings"):
        script.rewritten(text)
