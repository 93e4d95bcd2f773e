"""From named inputs to rows, and from raw scales to those that learners expect."""

from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget, RatioToLevel
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler

__all__ = ["ChangeOfTarget", "RatioToLevel", "ScaledTarget", "WinsorisedScaler"]
