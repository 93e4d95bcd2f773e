"""The README's table of settings matches the settings."""

import importlib.util
from pathlib import Path

import pytest

from iln_stream.service import Settings

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
    assert names == ["README.md", "http_api.md", "page.md", "spark.md"]
    for file, kind in script.TABLES.items():
        text = file.read_text(encoding="utf-8")
        for marker in (script.BEGIN, script.END):
            assert text.count(marker) == 1, f"{file} needs exactly one {marker}"
        assert script.rewritten(text, kind) == text, (
            f"{file}'s table of settings is out of date: run python docs/settings_table.py"
        )


def test_a_row_for_each_setting(script):
    """Each setting has one row, with flag, variable, key and description."""
    rows = script.table().splitlines()[2:]
    assert len(rows) == len(Settings.model_fields)
    for row, (name, field) in zip(rows, Settings.model_fields.items(), strict=True):
        assert row.startswith(f"| `--{name.replace('_', '-')}` | `ILN_{name.upper()}` | `{name}` |")
        assert row.endswith(f"{field.description} |")
        assert row.count("|") == 6


def test_only_the_table_is_rewritten(script):
    """Only the text between the markers changes, and a second run changes nothing."""
    text = f"before\n{script.BEGIN}\nold\n{script.END}\nafter\n"
    once = script.rewritten(text)
    assert once == f"before\n{script.BEGIN}\n{script.table()}\n{script.END}\nafter\n"
    assert script.rewritten(once) == once


@pytest.mark.parametrize("text", ["", "<!-- settings:begin -->", "<!-- settings:end -->"])
def test_readme_without_markers(script, text):
    """A README without markers is an error that names them."""
    with pytest.raises(SystemExit, match=r"README\.md has no place for the table"):
        script.rewritten(text)
