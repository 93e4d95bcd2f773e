"""Where a run's predictions and dead letters go."""

from contextlib import ExitStack

from iln_stream.listeners import (
    DeadLetterWriter,
    PredictionWriter,
    TransactionalPredictionWriter,
)
from iln_stream.service.build import build_sink, build_transactional_sink, dead_letters_address
from iln_stream.service.settings import Settings
from iln_stream.streams import KafkaPartition, Sink, Source

Writers = list[DeadLetterWriter | PredictionWriter]


class Outputs:
    """The sinks of a run; its lanes share them, but for transactions, which are a lane's own.

    Parameters
    ----------
    settings
        Name the sinks.

    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._predictions: Sink | None = None
        with ExitStack() as opened:
            self._letters = build_sink(dead_letters_address(settings), settings)
            opened.callback(self._letters.close)
            if settings.predictions is not None and not settings.transactional:
                self._predictions = build_sink(settings.predictions, settings)
                opened.callback(self._predictions.close)
            self._opened = opened.pop_all()

    def writers(self, source: Source) -> Writers:
        """Return the listeners that write what comes of a source."""
        writers: Writers = [DeadLetterWriter(self._letters)]
        place = source.stream, source.partition
        if isinstance(source, KafkaPartition) and self._settings.transactional:
            sink = build_transactional_sink(self._settings, source)
            self._opened.callback(sink.close)
            writers.append(TransactionalPredictionWriter(sink, *place))
        elif self._predictions is not None:
            writers.append(PredictionWriter(self._predictions, *place))
        return writers

    def close(self) -> None:
        """Flush and close every sink, even if one fails."""
        self._opened.close()
