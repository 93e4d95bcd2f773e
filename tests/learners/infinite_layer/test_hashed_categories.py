"""Which names are hashed, and where to."""

import copy
from collections import Counter

import pytest

from iln_stream.learners.infinite_layer.hashed_categories import (
    COLUMNS_PER_FIELD,
    MOST_FIELDS,
    N_CELLS,
    OTHERS,
    Routing,
    field_of,
    hashed,
)

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")

FULL = {f"id={k}": k for k in range(COLUMNS_PER_FIELD)}
"""Columns of a field that has as many as it may have."""


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
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
    assert hashed("id=7\u00fc", "id") == ("id", 34414, -1.0, 915, 6, 3)


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


def test_the_field_that_is_full_is_hashed():
    """Beyond 32 columns new categories of that field are hashed, and nothing else is."""
    routing = Routing(256)
    x = {"a": 1.0, "id=3": 1.0, "id=new": 1.0, "sky=new": 1.0, "id=half": 0.5}
    kept, names, _ = routing.split(x, FULL)
    assert kept == {name: value for name, value in x.items() if name != "id=new"}
    assert [name.field for name in names] == ["id"]


def test_a_category_is_hashed_when_all_columns_are_taken():
    """Columns are given in the order of names; a category that finds none is hashed."""
    kept, names, _ = Routing(2).split({"b=x": 1.0, "a": 2.0, "c": 3.0}, {})
    assert (list(kept), len(names)) == (["b=x", "a", "c"], 0)
    kept, names, _ = Routing(2).split({"b=x": 1.0, "b=y": 1.0, "a": 2.0}, {})
    assert (list(kept), len(names)) == (["b=x", "a"], 1)


def test_endless_fields_share_their_statistics():
    """Names are remembered for 64 fields; all further ones count as one."""
    routing = Routing(1)
    for k in range(200):
        names = routing.split({f"{k}=a": 1.0}, {"a": 0}).names
        routing.admit(names, 5)
    assert len(routing.fields) == MOST_FIELDS + 1
    assert routing.fields[-1] == OTHERS


def test_plain_events_are_known_by_their_number_of_names():
    """Their columns are the ones last seen, without categories and with room for more."""
    routing = Routing(3)
    place = {"a": 0, "b": 1}
    assert routing.plain is None
    routing.split({"a": 1.0, "b": 2.0}, place)
    assert routing.plain is place
    assert copy.deepcopy(routing).plain is None
    for other in ({"a": 0, "id=3": 1}, {"a": 0, "b": 1, "c": 2}):
        routing.split(dict.fromkeys(other, 1.0), other)
        assert routing.plain is None
