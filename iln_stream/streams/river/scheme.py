"""Schemes for River's data sets and synthetic streams."""

import inspect
from typing import Any

from river import datasets

from iln_stream.errors import SourceError
from iln_stream.streams.base import Source
from iln_stream.streams.river.dataset import RiverDatasetSource
from iln_stream.streams.scheme import Scheme


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
        self.check()
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
