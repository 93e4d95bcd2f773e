"""Labels that come in records of their own, after the prediction was published."""

from iln_stream.prequential.late.early import EarlyLabels
from iln_stream.prequential.late.late_labels import LateLabels
from iln_stream.prequential.late.pending import Pending
from iln_stream.prequential.late.policy import LatePolicy
from iln_stream.prequential.late.record_clock import RecordClock
from iln_stream.prequential.late.store import PendingStore
from iln_stream.prequential.late.tokens import LearnsLate, Token

__all__ = [
    "EarlyLabels",
    "LateLabels",
    "LatePolicy",
    "LearnsLate",
    "Pending",
    "PendingStore",
    "RecordClock",
    "Token",
]
