import pytest

from iln_stream.learners.infinite_layer.hashed_categories import DistinctNames, hashed


@pytest.mark.parametrize(("n", "error"), [(0, 0.0), (10, 0.05), (3_000, 0.1), (100_000, 0.1)])
def test_distinct_names_are_estimated(n, error):
    """A name that comes again counts once, from none to more names than there are cells."""
    names = DistinctNames()
    for k in range(n):
        for _ in range(1 + (k < 100)):
            names.add(hashed(f"id={k}", "id"))
    assert names.estimate == pytest.approx(n, rel=error)
