"""Streams whose targets are classes."""

import bz2
from collections.abc import Iterator

from river import datasets

from benchmarks.quality.streams.data_folder import data_file
from benchmarks.quality.streams.stream import Stream

N_ADULT = 8000
N_ADULT_COLUMNS = 123


def _adult() -> Iterator[tuple[dict[str, float], bool]]:
    with bz2.open(data_file("adult.trn.bz2"), "rt", encoding="ascii") as lines:
        for line in lines:
            label, *ones = line.split()
            x = dict.fromkeys(map(str, range(N_ADULT_COLUMNS)), 0.0)
            x.update({cell.split(":")[0]: 1.0 for cell in ones})
            yield x, float(label) > 0


CLASSES = (
    Stream(
        "phishing",
        "classes",
        "1,250 phishing sites, 9 inputs, 2 classes",
        datasets.Phishing,
        checksum="842ac28d600c5a68",
    ),
    Stream(
        "bananas",
        "classes",
        "Two banana-shaped clusters, 5,300 points, 2 inputs, 2 classes",
        datasets.Bananas,
        checksum="6ad12d95b9e3be80",
    ),
    Stream(
        "image-segments",
        "classes",
        "2,310 patches of outdoor images, 18 inputs, 7 classes",
        datasets.ImageSegments,
        checksum="52ecfde8d0b089ce",
    ),
    Stream(
        "adult",
        "classes",
        "UCI adult, the first 8,000 rows of the training file, 123 binary inputs, 2 classes",
        _adult,
        checksum="7faa85609b5c1887",
        limit=N_ADULT,
    ),
)
