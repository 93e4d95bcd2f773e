"""Logs which contender predicts from now on."""

import logging

from iln_stream.prequential import Listener, Step

log = logging.getLogger(__name__)


class ChampionLog(Listener):
    """Logs one line when another contender has become champion, by command or by evidence.

    Parameters
    ----------
    model
        Name of the model.

    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._champion: str | None = None

    def on_step(self, step: Step) -> None:
        """Compare the contender that predicted with the one before."""
        champion = step.details.contender
        if champion == self._champion or step.late:
            return
        if self._champion is not None:
            log.info(
                "%s: %s is the champion from offset %d of partition %d on; before it was %s",
                self._model, champion, step.offset, step.partition, self._champion,
            )  # fmt: skip
        self._champion = champion
