"""The consoles that commands share."""

import pytest
from rich.table import Table

from iln_stream.cli.command import output

LONG = "a reason of many words " * 20


@pytest.fixture
def shown(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)

    def show():
        table = Table("reason")
        table.add_row(LONG)
        output().print(table)
        return capsys.readouterr().out

    return show


def test_a_table_in_a_file_is_not_cut(shown):
    """Somebody searches a file for a text, which must not be broken after 80 columns."""
    assert LONG.strip() in shown()


def test_a_width_that_the_user_chose_is_kept(shown, monkeypatch):
    """`COLUMNS` is the usual variable for it."""
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, shown().splitlines())) == 60
