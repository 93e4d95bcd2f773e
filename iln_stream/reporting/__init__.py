"""The reports of a learner: loss, flags and metrics."""

from iln_stream.reporting.finding import find_metrics, find_reporter
from iln_stream.reporting.protocol import FlagSpec, MetricSpec, Report, Reporting

__all__ = ["FlagSpec", "MetricSpec", "Report", "Reporting", "find_metrics", "find_reporter"]
