import copy

import pytest

from iln_stream.learners.infinite_layer.hashed_categories import (
    COLUMNS_PER_FIELD,
    MOST_FIELDS,
    OTHERS,
    YOUNG,
    Routing,
)

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")

FULL = {f"id={k}": k for k in range(COLUMNS_PER_FIELD)}
"""Columns of a field that has as many as it may have."""


def test_the_field_that_is_full_is_hashed():
    """Beyond 32 columns new categories of that field are hashed, and nothing else is."""
    routing = Routing(256)
    x = {"a": 1.0, "id=3": 1.0, "id=new": 1.0, "sky=new": 1.0, "id=half": 0.5}
    kept, names = routing.split(x, FULL)
    assert kept == {name: value for name, value in x.items() if name != "id=new"}
    assert [name.field for name in names] == ["id"]


def test_a_category_is_hashed_when_all_columns_are_taken():
    """Columns are given in the order of names; a category that finds none is hashed."""
    kept, names = Routing(2).split({"b=x": 1.0, "a": 2.0, "c": 3.0}, {})
    assert (list(kept), len(names)) == (["b=x", "a", "c"], 0)
    kept, names = Routing(2).split({"b=x": 1.0, "b=y": 1.0, "a": 2.0}, {})
    assert (list(kept), len(names)) == (["b=x", "a"], 1)


@pytest.mark.parametrize(("n", "whole"), [(YOUNG - 1, True), (YOUNG, False)])
def test_a_young_field_is_hashed_as_a_whole(n, whole):
    """Of a field that overflows early, categories with columns are hashed, too."""
    routing = Routing(256)
    _, names = routing.split({"id=new": 1.0}, FULL)
    assert routing.admit(names, n) == whole
    kept, names = routing.split({"id=3": 1.0}, FULL)
    assert (len(kept), len(names)) == ((0, 1) if whole else (1, 0))
    assert not routing.admit(names, n + 1)


def test_endless_fields_share_their_statistics():
    """Names are remembered for 64 fields; all further ones count as one."""
    routing = Routing(1)
    for k in range(200):
        _, names = routing.split({f"{k}=a": 1.0}, {"a": 0})
        routing.admit(names, 5)
    assert len(routing.fields) == MOST_FIELDS + 1
    assert routing.fields[-1] == OTHERS


def test_plain_events_are_known_by_their_number_of_names():
    """The quick test holds only without categories, with room, and for the columns last seen."""
    routing = Routing(3)
    place = {"a": 0, "b": 1}
    x = {"a": 1.0, "b": 2.0}
    assert not routing.is_plain(x, place)
    routing.split(x, place)
    assert routing.is_plain(x, place)
    assert not routing.is_plain({"a": 1.0}, place)
    assert not routing.is_plain(x, dict(place))
    assert not copy.deepcopy(routing).is_plain(x, place)
    for other in ({"a": 0, "id=3": 1}, {"a": 0, "b": 1, "c": 2}):
        routing.split(x, other)
        assert not routing.is_plain(dict.fromkeys(other, 1.0), other)
