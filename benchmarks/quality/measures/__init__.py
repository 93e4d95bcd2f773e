"""Measures of a learner on a stream. A measure takes a model and its events, in order."""

from benchmarks.quality.measures.classification import classification
from benchmarks.quality.measures.clock import Clock
from benchmarks.quality.measures.intervals import intervals
from benchmarks.quality.measures.regression import regression

__all__ = ["Clock", "classification", "intervals", "regression"]
