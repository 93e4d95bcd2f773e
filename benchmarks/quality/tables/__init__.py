"""The tables that the documents show."""

from benchmarks.quality.tables.against_peers import against_peers
from benchmarks.quality.tables.classification import classification, ranking
from benchmarks.quality.tables.intervals import intervals
from benchmarks.quality.tables.listings import learners, settings, streams
from benchmarks.quality.tables.regression import brief, overview, ratios
from benchmarks.quality.tables.table import Table

__all__ = [
    "Table",
    "against_peers",
    "brief",
    "classification",
    "intervals",
    "learners",
    "overview",
    "ranking",
    "ratios",
    "settings",
    "streams",
]
