"""Sixty series in one stream, forecast 24 hours ahead: `python -m benchmarks.series --seeds 3`.

The hourly series have levels apart by a factor of 1,000, a day and a week of their own, and drift;
twelve begin later. The same learner forecasts them by the setting `series`; by series, but without
the ratio to their levels; and behind an upstream program that makes lags and means by series and
joins each label with its event. WAPE, the sum of |errors| divided by that of the values, is of all
forecasts after the first quarter of the hours; the value one week before the forecast time, of
those forecasts that have it. `--memory` runs the service on 300 series, and reports its peak.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed.report import versions
from iln_stream.learners.infinite_layer import InfiniteLayerRegressor
from iln_stream.learners.preprocessing import RatioToLevel
from iln_stream.loop import Forecasts, Horizon, Regression
from iln_stream.loop.stepper import Stepper
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_table_row
from iln_stream.records.time_inputs import TimeFeatures
from iln_stream.streams import Record, StreamPartition

AHEAD, WEEK, HOUR = 24, 168, 3_600.0
LAGS = [1, 2, 3, 22, 23, 24, 48, 120, 143, 144, 145, 168]
MEANS = [24, 168]
TIMES = ("hour", "weekday")
BEGIN = 1_767_571_200.0
"""A Monday."""


class Sale(NamedTuple):
    """What a shop sold of an article within an hour."""

    hour: int
    shop: str
    article: str
    sold: float

    @property
    def fields(self) -> dict[str, Any]:
        """The record."""
        at = BEGIN + HOUR * self.hour
        return {"at": at, "shop": self.shop, "article": self.article, "sold": self.sold}


def sales(hours: int, n_series: int, seed: int) -> Iterator[Sale]:
    """Yield the sales of all series, hour by hour."""
    rng = np.random.default_rng(seed)
    levels = rng.permutation(3.0 * 1_000.0 ** np.linspace(0.0, 1.0, n_series))
    begins = np.zeros(n_series, int)
    later = rng.choice(n_series, n_series // 5, replace=False)
    begins[later] = rng.integers(hours // 3, 2 * hours // 3, len(later))
    phase, depth = rng.normal(0.0, 1.0, n_series), rng.uniform(0.4, 1.0, n_series)
    of_day, drift = rng.normal(0.0, 0.25, (n_series, 7)), np.zeros(n_series)
    for hour in range(hours):
        drift = 0.99 * drift + rng.normal(0.0, 0.05, n_series)
        shape = depth * np.sin(2.0 * math.pi * (hour % 24 - 6.0 - phase) / 24.0)
        means = levels * np.exp(shape + of_day[:, hour // 24 % 7] + drift)
        sold = rng.poisson(means * rng.gamma(10.0, 0.1, n_series))
        for i in np.flatnonzero(begins <= hour):
            yield Sale(hour, f"s{i // 10}", f"a{i % 10}", float(sold[i]))


Forecast = tuple[int, tuple[str, str], float, float]
"""Hour in which it was made, series, forecast and value."""


def by_series(learner: Any, stream: list[Sale]) -> Iterator[Forecast]:
    """Yield the forecasts of a run with the setting `series`."""
    mapping = FieldMapping(
        target="sold", time_field="at", time_features=TIMES, series=("shop", "article"),
        types={"shop": "category", "article": "category"}, target_is_input=True,
        lags={"sold": LAGS}, rolling_means={"sold": MEANS},
    )  # fmt: skip
    decode = MappedDecoder(mapping, parse_table_row)
    late = Forecasts(Horizon.of(str(AHEAD)), Regression(), several=True)
    stepper, place = Stepper(learner, Regression()), StreamPartition("sales", 0)
    for offset, sale in enumerate(stream):
        example = decode(sale.fields, None)
        record = Record(offset, None, place)
        for step in late.outcomes(record, example, stepper):
            if step.late:
                yield sale.hour - AHEAD, (sale.shop, sale.article), step.y_pred, step.y
        decode.accept(example.time)


def upstream(learner: Any, stream: list[Sale]) -> Iterator[Forecast]:
    """Yield the forecasts behind a program that makes lags and means by series."""
    past: dict[tuple[str, str], deque[float]] = defaultdict(lambda: deque(maxlen=WEEK + 1))
    waiting: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
    of_time = TimeFeatures(TIMES)
    for sale in stream:
        key = sale.shop, sale.article
        values, waits = past[key], waiting[key]
        if len(waits) == AHEAD:
            x, token, y_pred = waits.popleft()
            learner.learn_token(x, token, sale.sold)
            yield sale.hour - AHEAD, key, y_pred, sale.sold
        values.append(sale.sold)
        before = list(values)
        x = {"sold": sale.sold, f"shop={sale.shop}": 1.0, f"article={sale.article}": 1.0}
        x |= {f"lag_{k}": before[-k - 1] for k in LAGS if k < len(before)}
        x |= {f"mean_{k}": sum(before[-k:]) / len(before[-k:]) for k in MEANS}
        x |= of_time(sale.fields["at"])
        y_pred, token = learner.predict_token(x)
        waits.append((x, token, y_pred))


def weekly(_: Any, stream: list[Sale]) -> Iterator[Forecast]:
    """Yield the values of the same hour one week before."""
    past: dict[tuple[str, str], list[float]] = defaultdict(list)
    for sale in stream:
        values = past[sale.shop, sale.article]
        values.append(sale.sold)
        if len(values) > WEEK:
            key = sale.shop, sale.article
            yield sale.hour - AHEAD, key, values[-1 - WEEK], sale.sold


def wape(found: list[Forecast]) -> float:
    """Return the sum of |errors| divided by that of the values."""
    return sum(abs(y_pred - y) for *_, y_pred, y in found) / sum(y for *_, y in found)


def compared(profile: str, hours: int, n_series: int, seed: int) -> dict[str, float]:
    """Return the WAPE of each way, and ours of the forecasts that exist a week before, too."""
    ways: dict[str, tuple[Callable[[Any, list[Sale]], Iterator[Forecast]], Any]] = {
        "series": (by_series, lambda own: RatioToLevel(own, "sold", "sold.level")),
        "series, without ratios": (by_series, lambda own: own),
        "upstream program": (upstream, lambda own: own),
        "week before": (weekly, lambda own: own),
    }
    stream, found = list(sales(hours, n_series, seed)), {}
    of_ours: list[Forecast] = []
    for name, (forecasts, wrap) in ways.items():
        learner = wrap(InfiniteLayerRegressor(profile=profile, seed=1))
        scored = [each for each in forecasts(learner, stream) if each[0] >= hours // 4]
        found[name] = wape(scored)
        of_ours = of_ours or scored
        if name == "week before":
            known = {each[:2] for each in scored}
            found["series, as week before"] = wape([each for each in of_ours if each[:2] in known])
        groups = defaultdict(list)
        for each in scored:
            groups[each[1]].append(each)
        found[f"{name}, mean of series"] = float(np.mean([wape(each) for each in groups.values()]))
        both = f"{found[name]:.3f}, mean of series {found[f'{name}, mean of series']:.3f}"
        print(f"seed {seed}  {name:<24} {both}", flush=True)
    return found


def peak(profile: str, hours: int, n_series: int) -> float:
    """Return the peak memory of the service on so many series, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lines = [json.dumps(sale.fields) + "\n" for sale in sales(hours, n_series, 0)]
        (place / "sales.jsonl").write_text("".join(lines))
        lags, means = json.dumps({"sold": LAGS}), json.dumps({"sold": MEANS})
        arguments = [
            *("run", "--source", "sales.jsonl", "--target", "sold", "--time-field", "at"),
            *("--series", "shop,article", "--horizon", str(AHEAD), "--time-features", "hour"),
            *("--lags", lags, "--rolling-means", means, "--profile", profile),
            *("--metrics-port", "0"),
        ]
        command = [sys.executable, "-m", "iln_stream", *arguments]
        subprocess.run(command, cwd=folder, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=600)
    parser.add_argument("--series", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--json", help="write the results here")
    given = parser.parse_args()
    if given.memory:
        print(f"{peak(given.profile, given.hours, given.series):.0f} MB")
        return
    runs = [compared(given.profile, given.hours, given.series, seed) for seed in range(given.seeds)]
    medians = {name: float(np.median([run[name] for run in runs])) for name in runs[0]}
    print(json.dumps(medians, indent=1))
    if given.json:
        sizes = {name: getattr(given, name) for name in ("hours", "series", "seeds", "profile")}
        results = {"versions": versions(), **sizes, "wape": medians, "runs": runs}
        Path(given.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
