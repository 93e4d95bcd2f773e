"""How far new challengers are with the log's history, for /ready."""

from iln_stream.prequential import Listener, Step


class WarmUpProgress(Listener):
    """Counts the events that challengers learn, while another thread reads the count.

    Parameters
    ----------
    n_challengers
        Number of challengers that learn.

    Examples
    --------
    >>> from iln_stream.listeners import WarmUpProgress
    >>> progress = WarmUpProgress(n_challengers=2)
    >>> progress.begin("linear")
    >>> progress.state
    'warming up challenger linear, 1 of 2; 0 events so far'

    """

    def __init__(self, n_challengers: int) -> None:
        self._n_challengers = n_challengers
        self._n_begun = 0
        self._name = ""
        self.n_events = 0

    @property
    def state(self) -> str:
        """What the run is doing, in one line."""
        if not self._n_begun:
            return "warming up new challengers: preparing them"
        return (
            f"warming up challenger {self._name}, {self._n_begun} of {self._n_challengers}; "
            f"{self.n_events:,} events so far"
        )

    def begin(self, name: str) -> None:
        """Note that the next challenger begins."""
        self._name, self.n_events = name, 0
        self._n_begun += 1

    def on_step(self, step: Step) -> None:
        """Count the event; a late label is none."""
        self.n_events += not step.late
