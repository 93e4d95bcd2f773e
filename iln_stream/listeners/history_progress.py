"""How far a run is with its files of history, for /ready and /metrics."""

from collections.abc import Sequence

from iln_stream.prequential import Listener, Step
from iln_stream.reporting import MetricSpec


class HistoryProgress(Listener):
    """Counts the events of files of history, while another thread reads the count.

    Parameters
    ----------
    n_files
        Number of files.

    Examples
    --------
    >>> from iln_stream.listeners import HistoryProgress
    >>> progress = HistoryProgress(n_files=2)
    >>> progress.begin("january.csv")
    >>> progress.state
    'learning the history: january.csv, file 1 of 2; 0 events so far'

    """

    def __init__(self, n_files: int) -> None:
        self._n_files = n_files
        self._n_begun = 0
        self._name = ""
        self.n_events = 0

    @property
    def state(self) -> str:
        """What the run is doing, in one line."""
        if not self._n_begun:
            return "learning the history: preparing the learner and the files"
        return (
            f"learning the history: {self._name}, file {self._n_begun} of {self._n_files}; "
            f"{self.n_events:,} events so far"
        )

    def begin(self, name: str) -> None:
        """Note that the next file begins."""
        self._name = name
        self._n_begun += 1

    def on_step(self, step: Step) -> None:
        """Count the event; a late label is none."""
        self.n_events += not step.late

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the count."""
        return (
            MetricSpec(
                "iln_history_events_total",
                "counter",
                "Events of history files that this run has predicted and learned.",
                lambda: self.n_events,
                of_process=True,
            ),
        )
