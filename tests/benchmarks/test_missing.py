import pytest

from benchmarks.missing import stream, ways


@pytest.mark.parametrize("name", ["friedman", "correlated"])
def test_missing_values_are_the_same_however_they_are_missing(name):
    """The learner gets the same inputs for null, absent fields and NA in CSV as from a user."""
    records = list(stream(name, 300, 0.3))
    assert any(None in fields.values() for fields, _ in records)
    found = [[inputs(fields) for fields, _ in records] for inputs in ways().values()]
    assert found == [found[0]] * len(found)
