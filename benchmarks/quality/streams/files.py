"""Four larger streams, read from the folder that ILN_DATA names."""

import csv
import gzip
from collections.abc import Iterator

from benchmarks.quality.streams.data_folder import data_file
from benchmarks.quality.streams.stream import Stream

N_EVENTS = 8000
"""The first 8,000 rows: nearly all that three of the four have."""


def _rows(
    name: str, target: str, leave_out: tuple[str, ...] = ()
) -> Iterator[tuple[dict[str, float], float]]:
    with gzip.open(data_file(f"{name}.csv.gz"), "rt", encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened):
            # Some lines end in a comma, which makes a last cell without a name or a value.
            x = {k: float(v) for k, v in row.items() if k and k not in leave_out}
            yield x, x.pop(target)


FILES = (
    Stream(
        "bikes-hourly",
        "files",
        "UCI bike sharing in time order, the first 8,000 hours, 12 inputs",
        lambda: _rows("bikes_hourly", "cnt", ("instant", "dteday", "casual", "registered")),
        checksum="3c66e96675c186a0",
        limit=N_EVENTS,
    ),
    Stream(
        "kin8nm",
        "files",
        "DELVE robot arm, 8 inputs, nonlinear, little noise",
        lambda: _rows("kin8nm", "y"),
        checksum="8055d89b2e115278",
        limit=N_EVENTS,
    ),
    Stream(
        "bank32nh",
        "files",
        "DELVE bank queues, 32 inputs, noisy",
        lambda: _rows("bank32nh", "rej"),
        checksum="fc6025136109817e",
        limit=N_EVENTS,
    ),
    Stream(
        "2dplanes",
        "files",
        "Artificial planes, 10 inputs",
        lambda: _rows("2dplanes", "y"),
        checksum="28bb05b79590e4d1",
        limit=N_EVENTS,
    ),
)
