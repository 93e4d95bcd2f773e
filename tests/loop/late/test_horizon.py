"""`Horizon`: how far ahead a forecast is."""

import pytest

from iln_stream.loop import Horizon


@pytest.mark.parametrize(
    ("text", "steps", "seconds"),
    [("1", 1, None), ("24", 24, None), ("90s", None, 90.0), ("15min", None, 900.0),
     ("24h", None, 86_400.0), ("7d", None, 604_800.0)],
)  # fmt: skip
def test_written_horizons(text, steps, seconds):
    """A number is one of records, a number with a unit is a time."""
    assert Horizon.of(text) == Horizon(text, steps, seconds)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "h", "1 h", "1m", "024", "", "٣"])
def test_other_texts(text):
    """Any other text is refused with the forms that exist."""
    with pytest.raises(ValueError, match="is no horizon: give a number of records"):
        Horizon.of(text)
