"""The ten streams on which the prototypes were compared: River's own."""

from collections.abc import Iterator
from typing import Any

from river import datasets
from river.datasets import synth

from benchmarks.quality.streams.stream import Stream

N_SYNTHETIC = 3000


def _airline() -> Iterator[tuple[dict[str, Any], float]]:
    for x, y in datasets.AirlinePassengers():
        # Learners need numbers rather than dates; the month is a category, as it has no order.
        yield {"day": x["month"].toordinal(), "month": f"{x['month'].month:02}"}, y


def _signed(dataset: Any) -> Iterator[tuple[dict[str, Any], float]]:
    for x, y in dataset:
        yield x, 1.0 if y else -1.0


def _drift(drift_type: str, position: tuple[int, ...]) -> synth.FriedmanDrift:
    return synth.FriedmanDrift(drift_type=drift_type, position=position, seed=42)


TEN = (
    Stream(
        "trump-approval",
        "ten",
        "Approval ratings from five polls, 1,001 days",
        datasets.TrumpApproval,
        checksum="ee8d587a900f87f9",
    ),
    Stream(
        "chick-weights",
        "ten",
        "Weights of chicks by time, chick and diet, 578 weighings",
        datasets.ChickWeights,
        checksum="0440bf4c8137cbe0",
    ),
    Stream(
        "airline-passengers",
        "ten",
        "Monthly passengers by day and calendar month, 144 months",
        _airline,
        checksum="e8d36766f0ee88dc",
    ),
    Stream(
        "phishing-signed",
        "ten",
        "Phishing sites as ±1, 1,250 sites, 9 inputs",
        lambda: _signed(datasets.Phishing()),
        checksum="931347397268907c",
    ),
    Stream(
        "bananas-signed",
        "ten",
        "Two banana-shaped clusters as ±1, 5,300 points",
        lambda: _signed(datasets.Bananas()),
        checksum="5acad42c0ac705c4",
    ),
    Stream(
        "friedman",
        "ten",
        "River's Friedman, 10 inputs of which 5 matter, noise 1",
        lambda: synth.Friedman(seed=42),
        checksum="24ac3ec93736ecd6",
        limit=N_SYNTHETIC,
    ),
    Stream(
        "friedman-drift-gra",
        "ten",
        "The same; other inputs matter from event 1,000 to 2,000",
        lambda: _drift("gra", (1000, 2000)),
        checksum="7c44d39790a794dd",
        limit=N_SYNTHETIC,
    ),
    Stream(
        "friedman-drift-lea",
        "ten",
        "The same; two corners change at events 750, 1,500 and 2,250",
        lambda: _drift("lea", (750, 1500, 2250)),
        checksum="79ee0ebfc5604c86",
        limit=N_SYNTHETIC,
    ),
    Stream(
        "mv",
        "ten",
        "River's Mv: piecewise, 7 numbers and 3 categories",
        lambda: synth.Mv(seed=42),
        checksum="434040f253cbaab9",
        limit=N_SYNTHETIC,
    ),
    Stream(
        "planes-2d",
        "ten",
        "River's Planes2D: two planes, 10 inputs in {-1, 0, 1}",
        lambda: synth.Planes2D(seed=42),
        checksum="a97eb0e0cde8cfda",
        limit=N_SYNTHETIC,
    ),
)
