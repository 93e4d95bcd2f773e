"""Forecasts of two series at several horizons: `ILN_DATA=FOLDER python -m benchmarks.forecasts`.

At each record, every contender predicts the value some records later, from all values up to the
present one, and then goes on. The error is the mean absolute one over the same records for all:
those after the first two seasons.
"""

import argparse
import csv
import datetime as dt
import gzip
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from river import datasets, linear_model, optim, preprocessing, time_series

from benchmarks.quality.streams.data_folder import data_file
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget
from iln_stream.loop import Forecasts, Horizon, Listener, PrequentialLoop, Regression, Step
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.streams.river import RiverDatasetSource

Rows = list[dict[str, Any]]
Forecast = NDArray[np.float64]
"""For each record the prediction of the value that many records later."""


class Series(NamedTuple):
    """A series, and how its records become inputs."""

    name: str
    rows: Rows
    target: str
    horizons: Sequence[int]
    season: int
    mapping: Mapping[str, Any]
    known_ahead: Callable[[Mapping[str, Any]], dict[str, float]]
    """Inputs of SNARIMAX that are known for the time that is forecast."""
    models: Mapping[str, Callable[[], Any]]
    """River's models for time series."""


def airline() -> Series:
    """Return the passengers of airlines by month, 1949 to 1960."""
    rows = [{"month": x["month"].timestamp(), "passengers": y} for x, y in _airline()]
    return Series(
        "AirlinePassengers", rows, "passengers", (1, 6, 12), 12,
        {
            "target": "passengers", "time_field": "month", "time_features": ["day_of_year"],
            "lags": {"passengers": list(range(1, 13))}, "rolling_means": {"passengers": [12]},
        },
        lambda _: {},
        {
            # The orders of River's documentation, the usual ones for this series, and the best of
            # fifteen variants.
            "SNARIMAX(0,0,0)(3,0,6)12, linear regression": lambda: time_series.SNARIMAX(
                p=0, d=0, q=0, m=12, sp=3, sq=6, regressor=_regressor(110.0, 0.1)
            ),
            "SNARIMAX(1,1,1)(1,1,1)12": lambda: time_series.SNARIMAX(
                p=1, d=1, q=1, m=12, sp=1, sd=1, sq=1
            ),
            "SNARIMAX(3,0,3)(1,1,1)12, linear regression": lambda: time_series.SNARIMAX(
                p=3, d=0, q=3, m=12, sp=1, sd=1, sq=1, regressor=_regressor(110.0, 0.3)
            ),
            "HoltWinters (multiplicative)": lambda: time_series.HoltWinters(
                alpha=0.3, beta=0.1, gamma=0.6, seasonality=12, multiplicative=True
            ),
        },
    )  # fmt: skip


def _airline() -> Iterator[tuple[dict[str, dt.datetime], float]]:
    for x, y in datasets.AirlinePassengers():
        yield {"month": x["month"].replace(tzinfo=dt.UTC)}, float(y)


def bikes() -> Series:
    """Return the bikes that were rented by hour, 2011 and 2012."""
    rows: Rows = []
    with gzip.open(data_file("bikes_hourly.csv.gz"), "rt", encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened):
            day = dt.datetime.strptime(row["dteday"], "%m/%d/%Y").replace(tzinfo=dt.UTC)
            inputs = ("workingday", "weathersit", "temp", "hum", "windspeed", "cnt")
            time = day.timestamp() + 3600.0 * int(row["hr"])
            rows.append({"time": time, **{name: float(row[name]) for name in inputs}})

    def known(row: Mapping[str, Any]) -> dict[str, float]:
        hour, works = int(row["time"] // 3600) % 24, row["workingday"]
        hours = {f"hour {i}": float(i == hour) for i in range(24)}
        return hours | {f"working {name}": works * value for name, value in hours.items()}

    return Series(
        "bikes_hourly", rows, "cnt", (1, 6, 24), 168,
        {
            "target": "cnt", "time_field": "time", "time_features": ["hour", "weekday"],
            "lags": {"cnt": [*range(1, 25), 144, 162, 167]}, "rolling_means": {"cnt": [24, 168]},
        },
        known,
        {
            # The best of about forty variants on the first 4,000 records; some diverge.
            "SNARIMAX(3,0,0), with the hour": lambda: time_series.SNARIMAX(
                p=3, d=0, q=0, regressor=_regressor(0.0, 0.1, 0.001)
            ),
            "SNARIMAX(2,0,2)(2,1,1)168": lambda: time_series.SNARIMAX(
                p=2, d=0, q=2, m=168, sp=2, sd=1, sq=1
            ),
            "SNARIMAX(2,0,2)(2,1,1)168, with the hour": lambda: time_series.SNARIMAX(
                p=2, d=0, q=2, m=168, sp=2, sd=1, sq=1, regressor=_regressor(0.0, 0.1, 0.001)
            ),
        },
    )  # fmt: skip


def _regressor(intercept: float, intercept_lr: float, lr: float = 0.01) -> Any:
    return preprocessing.StandardScaler() | linear_model.LinearRegression(
        intercept_init=intercept, optimizer=optim.SGD(lr), intercept_lr=intercept_lr
    )


class _Scored(Listener):
    """Notes the predictions that were scored."""

    def __init__(self, forecast: Forecast, horizon: int) -> None:
        self._forecast, self._horizon = forecast, horizon

    def on_step(self, step: Step) -> None:
        if step.late:
            self._forecast[step.offset - self._horizon] = step.y_pred


def ours(series: Series, profile: str, *, change: bool) -> dict[int, Forecast]:
    """Return the forecasts of our learners, one a horizon, by the service's own loop."""
    found = {}
    for horizon in series.horizons:
        found[horizon] = np.full(len(series.rows), np.nan)
        learner: Any = InfiniteLayerRegressor(profile=profile, seed=1)  # type: ignore[arg-type]
        if change:
            learner = ChangeOfTarget(learner, series.target)
        mapping = FieldMapping(**series.mapping, target_is_input=True)
        PrequentialLoop(
            RiverDatasetSource([(row, None) for row in series.rows], series.name),
            learner,
            [_Scored(found[horizon], horizon)],
            late=Forecasts(Horizon(str(horizon), steps=horizon), Regression()),
            decoder=MappedDecoder(mapping, lambda payload: payload["x"]),  # type: ignore[index, call-overload, arg-type, return-value]
        ).run()
    return found


def rivers(series: Series, model: Any, *, with_inputs: bool) -> dict[int, Forecast]:
    """Return the forecasts of a model of River's for time series."""
    rows, most = series.rows, max(series.horizons)
    found = {horizon: np.full(len(rows), np.nan) for horizon in series.horizons}
    known = [series.known_ahead(row) for row in rows] if with_inputs else []
    for i, row in enumerate(rows):
        if with_inputs:
            model.learn_one(row[series.target], known[i])
            ahead = known[i + 1 : i + 1 + most]
            predicted = model.forecast(len(ahead), ahead) if ahead else []
        else:
            model.learn_one(row[series.target])
            try:
                predicted = model.forecast(most)
            except (IndexError, TypeError, ValueError):  # HoltWinters, in its first season
                continue
        for horizon in series.horizons:
            if horizon <= len(predicted):
                found[horizon][i] = predicted[horizon - 1]
    return found


def persistence(series: Series, season: int) -> dict[int, Forecast]:
    """Return the last known values of the same phase of a season; of season 1, the present ones."""
    y = np.array([row[series.target] for row in series.rows])
    found = {}
    for horizon in series.horizons:
        back = -horizon % season
        found[horizon] = np.concatenate([np.full(back, np.nan), y[: len(y) - back]])
    return found


def contenders(series: Series) -> Iterator[tuple[str, Callable[[], dict[int, Forecast]]]]:
    """Yield the names of all that forecast, and functions that do it."""
    for change in (False, True):
        for profile in ("accurate", "fast"):
            name = f"InfiniteLayerRegressor, {profile}{', of the change' if change else ''}"
            yield name, partial(ours, series, profile, change=change)
    for name, make in series.models.items():
        yield name, partial(rivers, series, make(), with_inputs="with the" in name)
    for season in sorted({min(24, series.season), series.season}, reverse=True):
        yield f"seasonal persistence, {season} records", partial(persistence, series, season)
    yield "persistence", partial(persistence, series, 1)


def main() -> None:
    """Print a table for each series."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", choices=["airline", "bikes"], nargs="*")
    parser.add_argument("--events", type=int, help="Only the first so many records.")
    arguments = parser.parse_args()
    made = {"airline": airline, "bikes": bikes}
    packages = ", ".join(f"{name} {version(name)}" for name in ("river", "numpy", "numba"))
    print(f"Python {platform.python_version()}, {packages}")
    for name in arguments.series or made:
        series = made[name]()
        series = series._replace(rows=series.rows[: arguments.events])
        y = np.array([row[series.target] for row in series.rows])
        begin = 2 * series.season
        print(f"\n{series.name}: {len(y)} records, scored from record {begin} on\n")
        print(f"| MAE | {' | '.join(map(str, series.horizons))} ahead | s |")
        print(f"|---|{'---:|' * (len(series.horizons) + 1)}")
        for contender, forecasts in contenders(series):
            started = perf_counter()
            found = forecasts()
            seconds = perf_counter() - started
            errors = [
                np.mean(np.abs(found[h][begin : len(y) - h] - y[begin + h :]))
                for h in series.horizons
            ]
            cells = " | ".join(f"{error:.2f}" for error in errors)
            print(f"| {contender} | {cells} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
