"""Metrics of a log of labels beside that of the events."""

from collections.abc import Callable, Sequence

from iln_stream.reporting import MetricSpec
from iln_stream.streams import Sequencer


def label_metrics(
    source: Sequencer, n_in_hand: Callable[[], int] = lambda: 0
) -> Sequence[MetricSpec]:
    """Return the metrics of a source's log of labels; none if it has no such log.

    Parameters
    ----------
    source
        Source of the events and the labels.
    n_in_hand
        Returns how many labels were polled and are not handled yet; they belong to the lag.

    """
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
            "Offsets from the last handled label to the end of the log of labels; the end is "
            "looked up when labels are fetched.",
            lambda: None if (lag := source.labels_lag) is None else lag + n_in_hand(),
        ),
    )
