"""Metrics of a log of labels beside that of the events."""

from collections.abc import Sequence

from iln_stream.reporting import MetricSpec
from iln_stream.streams import Sequencer


def label_metrics(source: Sequencer) -> Sequence[MetricSpec]:
    """Return the metrics of a source's log of labels; none if it has no such log."""
    labels = source.labels
    if labels is None:
        return ()
    return (
        MetricSpec(
            "iln_labels_connected",
            "gauge",
            "1 while the log of labels is connected, 0 while its broker is unreachable.",
            lambda: float(labels.connected),
        ),
        MetricSpec(
            "iln_labels_lag",
            "gauge",
            "Offsets between the learner and the end of the log of labels at the last poll.",
            lambda: source.labels_lag,
        ),
    )
