"""The sinks of predictions and dead letters."""

from contextlib import ExitStack
from typing import cast

from iln_stream.events import PredictionEncoder
from iln_stream.listeners import (
    DeadLetterWriter,
    PredictionWriter,
    TransactionalPredictionWriter,
)
from iln_stream.service.addresses import dead_letters_address, is_transactional, output_stream
from iln_stream.service.readers import Reader, kind_of
from iln_stream.service.settings import Settings
from iln_stream.streams import Log, Sink, Source

Writers = list[DeadLetterWriter | PredictionWriter]


class Outputs:
    """The sinks of a run. Learners share them, except that each has its own transactional sink.

    Parameters
    ----------
    settings
        Name the sinks (`predictions`, `dead_letters`); `transactional` decides how predictions are
        published (`is_transactional`).
    n_partitions
        Number of partitions of the source.

    """

    def __init__(self, settings: Settings, n_partitions: int = 1) -> None:
        self._settings = settings
        self._predictions: Sink | None = None
        self._transactional = is_transactional(settings)
        with ExitStack() as opened:
            self._letters = output_stream(settings, dead_letters_address(settings)).sink()
            opened.callback(self._letters.close)
            if settings.predictions is not None and not self._transactional:
                stream = output_stream(settings, settings.predictions)
                self._predictions = stream.partitioned_sink(n_partitions)
                opened.callback(self._predictions.close)
            self._opened = opened.pop_all()

    def writers(self, source: Source, reader: Reader, encode: PredictionEncoder) -> Writers:
        """Return the listeners that write a reader's predictions and dead letters.

        Of the readers of several horizons only one writes the records that can't be read.
        """
        only_of_learner = not reader.writes_unreadable
        writers: Writers = [DeadLetterWriter(self._letters, only_of_learner=only_of_learner)]
        if self._transactional:
            assert self._settings.predictions is not None
            stream = output_stream(self._settings, self._settings.predictions)
            log = cast(Log, source)
            sink = stream.transactional_sink(log, reader.name, kind_of(reader.horizon))
            self._opened.callback(sink.close)
            writers.append(TransactionalPredictionWriter(sink, encode, log.stream, log.ends))
        elif self._predictions is not None:
            writers.append(PredictionWriter(self._predictions, encode))
        return writers

    def close(self) -> None:
        """Flush and close every sink, even if one fails."""
        self._opened.close()
