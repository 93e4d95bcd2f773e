"""Roles and types of fields, and the paths of a schema's fields."""

import pytest

from iln_stream.records.fields import FieldMapping, late_labels


def test_features_and_ignored_fields():
    """Patterns choose inputs; ignoring is stronger, and fields with a role are no inputs."""
    mapping = FieldMapping("y", features=["s_*", "user", "y"], ignore=["s_9"], id_field="user.id")
    found = [
        n for n in ("s_1", "s_9", "user.age", "user.id", "users", "y", "t") if mapping.is_feature(n)
    ]
    assert found == ["s_1", "user.age"]


def test_target_as_an_input():
    """Where the label is a later value of the target, its present value is an input."""
    assert FieldMapping("y", features=["a"], target_is_input=True).is_feature("y")
    assert not FieldMapping("y").is_feature("y")


def test_first_matching_type_counts():
    """Types are tried in their order, and `auto` is the rest."""
    mapping = FieldMapping("y", types={"a_id": "category", "a_*": "number"})
    found = [mapping.type_of(name) for name in ("a_id", "a_1", "b")]
    assert found == ["category", "number", "auto"]


def test_names_with_brackets():
    """An exact name matches whatever characters it has, and its type wins over a pattern's."""
    name = "temp [C]"
    assert FieldMapping(features=[name]).is_feature(name)
    assert not FieldMapping(ignore=[name]).is_feature(name)
    assert FieldMapping(types={"t*": "number", name: "category"}).type_of(name) == "category"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "a", "id_field": "a"}, "'a' can't be two of target"),
        ({"types": {"a": "float"}}, "a = 'float' is not among auto, number"),
        ({"time_features": ["hours"]}, "'hours' is not among hour"),
        ({"target": "y", "lags": {"y": [1]}}, "lags: 'y' is not an input: set horizon"),
        ({"ignore": ["a"], "rolling_means": {"a": [1]}}, "rolling_means: 'a' is not an input: nam"),
        ({"types": {"a": "category"}, "lags": {"a": [1]}}, "lags: 'a' has the type category"),
    ],
)
def test_contradictions(arguments, message):
    """A mapping that can't be meant is refused when it is made."""
    with pytest.raises(ValueError, match=message):
        FieldMapping(**arguments)


def test_gaps_are_no_late_labels():
    """A short file in which one column has values where another has none is one of events."""
    gaps = [{"day": i // 2, "a": None if i % 2 else i, "b": i if i % 2 else None} for i in range(9)]
    found = [late_labels(gaps[:n], "b", []) for n in (2, 4, 9)]
    assert found == [None, None, ("day", "b")]


def test_a_time_is_no_id_of_late_labels():
    """If the time of an event is as distinct as its id, and comes with the label, too."""
    both = [{"at": f"2026-01-0{i}", "tx": i} for i in range(1, 9)]
    events, labels = ([each | more for each in both] for more in ({"ad": 7}, {"paid": 1.5}))
    assert late_labels([*events, *labels], None, []) == ("tx", "paid")
