"""The examples in docs/using.md work."""

import doctest
from pathlib import Path


def test_every_line_of_the_page():
    """The page's examples run as printed."""
    page = Path(__file__).parents[1] / "docs" / "using.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried > 20
