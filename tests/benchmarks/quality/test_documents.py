"""Documents show the stored results, and no others."""

import re

import pytest

from benchmarks.quality.documents import DOCUMENTS, all_tables, with_tables
from benchmarks.quality.plan import cells
from benchmarks.quality.store import Store


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_tables_are_those_of_the_stored_results(document):
    """Whoever stores new results renews the tables: python -m benchmarks.quality report."""
    text = document.read_text("utf-8")
    assert re.search("quality:(overview|brief):begin", text)
    assert with_tables(text, all_tables(Store())) == text


def test_stored_results_are_of_cells_that_there_are():
    """A stream or a learner that goes takes its results with it."""
    assert set(Store()) <= set(cells())
