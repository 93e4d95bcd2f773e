import subprocess
import sys
from collections import Counter

import pytest

from iln_stream.learners.infinite_layer.hashed_categories import N_CELLS, field_of, hashed


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("id=7", 1.0, "id"),
        ("id=a=b", 1, "id"),
        ("id=", True, "id"),
        ("id=7", 0.0, None),
        ("id=7", float("nan"), None),
        ("id", 1.0, None),
        (("id=7",), 1.0, None),
        (7, 1.0, None),
    ],
)
def test_categories_are_names_of_texts(name, value, field):
    """A category is a text with "=" whose value is 1; numbers of such a name stay numbers."""
    assert field_of(name, value) == field


def test_a_hash_is_the_same_in_every_process():
    """Restored learners find their cells again: Python's own hash differs by process."""
    code = (
        "from iln_stream.learners.infinite_layer.hashed_categories import hashed;"
        "print(*hashed('id=7\\u00fc', 'id'))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert printed.split() == [str(each) for each in hashed("id=7\u00fc", "id")]


def test_hashes_are_spread_evenly():
    """Cells, signs and ranks are those of random bits; a lone surrogate is a name, too."""
    names = [hashed(f"id={k}", "id") for k in range(20_000)]
    assert len({name.cell for name in names}) == pytest.approx(
        N_CELLS * (1.0 - (1.0 - 1.0 / N_CELLS) ** 20_000), rel=0.02
    )
    assert abs(sum(name.sign for name in names)) < 600
    ranks = Counter(name.rank for name in names)
    assert ranks[1] == pytest.approx(10_000, rel=0.05)
    assert ranks[3] == pytest.approx(2_500, rel=0.1)
    assert hashed("id=\ud800", "id").rank >= 1
