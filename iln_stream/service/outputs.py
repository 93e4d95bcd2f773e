"""Where a run's predictions and dead letters go."""

from contextlib import ExitStack

from iln_stream.listeners import DeadLetterWriter, PredictionWriter
from iln_stream.prequential import Listener
from iln_stream.service.build import build_sink, dead_letters_address
from iln_stream.service.settings import Settings
from iln_stream.sources import Source


class Outputs:
    """The sinks that all lanes of a run share.

    Parameters
    ----------
    settings
        Name the sinks.

    """

    def __init__(self, settings: Settings) -> None:
        with ExitStack() as opened:
            self._letters = build_sink(dead_letters_address(settings), settings)
            opened.callback(self._letters.close)
            self._predictions = None
            if settings.predictions is not None:
                self._predictions = build_sink(settings.predictions, settings)
                opened.callback(self._predictions.close)
            self._opened = opened.pop_all()

    def writers(self, source: Source) -> list[Listener]:
        """Return the listeners that write what comes of a source."""
        writers: list[Listener] = [DeadLetterWriter(self._letters)]
        if self._predictions is not None:
            writers.append(PredictionWriter(self._predictions, source.stream, source.partition))
        return writers

    def flush(self) -> None:
        """Return when all that was written is stored; raise SinkError otherwise."""
        self._letters.flush()
        if self._predictions is not None:
            self._predictions.flush()

    def close(self) -> None:
        """Flush and close every sink, even if one fails."""
        self._opened.close()
