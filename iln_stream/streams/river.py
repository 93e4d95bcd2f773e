"""Events from River's data sets and synthetic streams."""

import datetime as dt
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from river import datasets

from iln_stream.errors import SourceError
from iln_stream.streams.addresses import Scheme
from iln_stream.streams.base import IteratorSource, Source


class RiverDatasetSource(IteratorSource):
    """Returns the (x, y) pairs of a River data set, or of another iterable, as events.

    Dates and times become numbers, see `calendar`; boolean labels become -1 and +1.

    Parameters
    ----------
    dataset
        Pairs of a dict of inputs and a label.
    stream
        Name of the stream in predictions and dead letters.
    limit
        Maximum number of events. None: all; River's synthetic streams then never end.

    Examples
    --------
    >>> from river import datasets
    >>> source = RiverDatasetSource(datasets.AirlinePassengers(), "AirlinePassengers", limit=1)
    >>> source.poll(timeout=0)[0].payload["x"]
    {'month.days': -7670.0, 'month.month': 1, 'month.weekday': 5, 'month.hour': 0.0}

    """

    def __init__(
        self,
        dataset: Iterable[tuple[Mapping[Any, Any], Any]],
        stream: str,
        limit: int | None = None,
    ) -> None:
        events = ({"x": _inputs(x), "y": _label(y)} for x, y in dataset)
        super().__init__(stream, events, limit)
        self._sizes = [n for n in (getattr(dataset, "n_samples", None), limit) if n is not None]

    @property
    def lag(self) -> int | None:  # type: ignore[override]
        """Number of events still to come, None for an endless stream."""
        return max(0, min(self._sizes) - self._offset) if self._sizes else None


def calendar(name: str, moment: dt.date) -> Iterator[tuple[str, float]]:
    """Yield the inputs for a date or time: days since 1970, month, weekday and hour."""
    at = moment if isinstance(moment, dt.datetime) else dt.datetime(*moment.timetuple()[:3])
    hours = at.hour + at.minute / 60 + at.second / 3600
    yield f"{name}.days", (at.replace(tzinfo=None) - dt.datetime(1970, 1, 1)).days + hours / 24
    yield f"{name}.month", at.month
    yield f"{name}.weekday", at.weekday()
    yield f"{name}.hour", hours


def _inputs(x: Mapping[Any, Any]) -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    for key, value in x.items():
        if isinstance(value, dt.date):  # or a datetime, which is a subclass
            inputs.update(calendar(str(key), value))
        else:
            inputs[str(key)] = value
    return inputs


def _label(y: Any) -> Any:
    return 2.0 * y - 1.0 if isinstance(y, bool) else y


class RiverScheme(Scheme):
    """`river:NAME` for a data set of River, `synthetic:NAME` for a synthetic stream."""

    form = "examples"

    @property
    def is_endless(self) -> bool:
        """Whether it is a synthetic stream without a limit."""
        return self.scheme == "synthetic" and self.options.limit is None

    def check(self) -> None:
        """Refuse a name that River does not have."""
        self._dataset()

    def source(self) -> Source:
        """Open the data set or the synthetic stream."""
        return RiverDatasetSource(self._dataset(), stream=self.name, limit=self.options.limit)

    def _dataset(self) -> Any:
        module = datasets if self.scheme == "river" else datasets.synth
        names = [n for n in vars(module) if n[:1].isupper()]
        if self.name not in names:
            raise SourceError(f"source = {self.address}: River has {', '.join(sorted(names))}")
        make = getattr(module, self.name)
        # Some streams have two seeds: one for the concept and one for the draws.
        seeds = [p for p in inspect.signature(make).parameters if p.split("_")[0] == "seed"]
        dataset = make(**dict.fromkeys(seeds, self.options.seed))
        if not getattr(dataset, "is_downloaded", True):
            raise SourceError(
                f"river:{self.name} is not bundled with River: "
                f"call river.datasets.{self.name}().download() first"
            )
        return dataset
