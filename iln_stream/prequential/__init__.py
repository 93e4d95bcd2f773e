"""Predict, score, learn: one event at a time."""

from iln_stream.prequential.listener import Listener
from iln_stream.prequential.loop import LearnerError, PrequentialLoop
from iln_stream.prequential.recent_ids import RecentIds
from iln_stream.prequential.scores import Scores
from iln_stream.prequential.step import Step

__all__ = ["LearnerError", "Listener", "PrequentialLoop", "RecentIds", "Scores", "Step"]
