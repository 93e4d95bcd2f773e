"""`LatePolicy`: bounds are checked."""

import pytest

from iln_stream.loop import LatePolicy


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"events": 0}, "events = 0 must be at least 1"),
        ({"events": 1, "seconds": 0.0}, "seconds = 0.0 must be above 0"),
        ({"events": 1, "early": -1}, "early = -1 must not be negative"),
        ({"events": 1, "expired": "learn", "seconds": 5.0}, "needs a label"),
        ({"events": 1, "label": 0.0}, "only it takes one"),
        ({"events": 1, "expired": "learn", "label": 0.0}, "needs seconds"),
    ],
)
def test_wrong_bounds(options, problem):
    """A bound that makes no sense is an error that names it."""
    with pytest.raises(ValueError, match=problem):
        LatePolicy(**options)
