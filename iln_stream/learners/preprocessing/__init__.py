"""From named inputs to rows, and from raw scales to those that learners expect."""

from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler

__all__ = ["ScaledTarget", "WinsorisedScaler"]
