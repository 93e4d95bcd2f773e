"""`guessed_notation`: decimal commas, and the order of day and month."""

import pytest

from iln_stream.records.inspection import guessed_notation


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["21,5", "3", "-1,25"], ","),
        (["1.250,00", "980,50"], ","),
        (["1,250", "12,500"], "."),  # thousands, or decimals: nobody knows
        (["21.5", "3"], "."),
        (["21,5", "warm"], "."),
        (["21,5"] * 9 + ["warm"], ","),
        (["21.5"] * 9 + ["1,5"], "."),
        (["1", "2"], "."),
    ],
)
def test_decimals(texts, decimal):
    """A comma is taken as decimal only where most texts are such numbers."""
    assert guessed_notation({"a": text} for text in texts).decimal == decimal


def test_most_fields_decide():
    """If fields contradict each other, the usual notation wins a tie, and the majority else."""
    assert guessed_notation([{"a": "1,5", "b": "2.25"}]).decimal == "."
    assert guessed_notation([{"a": "1,5", "b": "2.25", "c": "3,5"}]).decimal == ","


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["31.12.2026", "NA", "1.1.2027 14:30"], "dmy"),
        (["01.02.2026"], "dmy"),
        (["31/12/2026", "01/02/2026"], "dmy"),
        (["12/31/2026", "01/02/2026"], "mdy"),
        (["01/02/2026"], "ymd"),
        (["31/12/2026", "12/31/2026"], "ymd"),
        (["31.12.2026", "later"], "ymd"),
        (["31.12.2026"] * 9 + ["later"], "dmy"),
        (["2026-12-31"], "ymd"),
    ],
)
def test_orders(texts, order):
    """Day or month above 12, or dots, tell the order; otherwise it stays the usual one."""
    assert guessed_notation({"a": text} for text in texts).date_order == order
