"""How far ahead a forecast is."""

import re
from typing import NamedTuple

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_WRITTEN = re.compile(rf"([1-9][0-9]{{0,8}})({'|'.join(_UNITS)})?")


class Horizon(NamedTuple):
    """How far ahead a forecast is: a number of records, or a time.

    Parameters
    ----------
    text
        As it is written: `24` is 24 records, `24h` are 24 hours.
    steps
        Number of records; None: it is a time.
    seconds
        Time in seconds; None: it is a number of records.

    """

    text: str
    steps: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, text: str) -> "Horizon":
        """Return the horizon that is written so.

        Raises
        ------
        ValueError
            When the text is none.

        Examples
        --------
        >>> from iln_stream.prequential.late import Horizon
        >>> Horizon.of("24"), Horizon.of("15min").seconds
        (Horizon(text='24', steps=24, seconds=None), 900.0)

        """
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise ValueError(
                f"{text!r} is no horizon: give a number of records, such as 24, or a time with one "
                "of the units s, min, h and d, such as 24h"
            )
        number, unit = found.groups()
        if unit is None:
            return cls(text, steps=int(number))
        return cls(text, seconds=int(number) * _UNITS[unit])
