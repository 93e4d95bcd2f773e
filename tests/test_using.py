"""The Python examples of the documents work."""

import doctest

import pytest
from support.document import DOCS


@pytest.mark.parametrize(("name", "at_least"), [("using.md", 20), ("river.md", 10)])
def test_every_line_of_the_page(name, at_least):
    """The page's examples run as printed."""
    page = DOCS / name
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried > at_least
