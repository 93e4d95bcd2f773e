"""Labels that come after the prediction was published, in a record of their own or a later one."""

from iln_stream.prequential.late.early import EarlyLabels
from iln_stream.prequential.late.forecasts import Forecasts
from iln_stream.prequential.late.horizon import Horizon
from iln_stream.prequential.late.late_labels import LateLabels
from iln_stream.prequential.late.pending import Pending
from iln_stream.prequential.late.policy import LatePolicy
from iln_stream.prequential.late.record_clock import RecordClock
from iln_stream.prequential.late.store import PendingStore
from iln_stream.prequential.late.tokens import LearnsLate, Token

__all__ = [
    "EarlyLabels",
    "Forecasts",
    "Horizon",
    "LateLabels",
    "LatePolicy",
    "LearnsLate",
    "Pending",
    "PendingStore",
    "RecordClock",
    "Token",
]
