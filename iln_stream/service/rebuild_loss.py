"""What a rebuild would forget, because the log no longer holds it."""

from typing import NamedTuple

from iln_stream.errors import RefusedError
from iln_stream.service.readers import Reader
from iln_stream.snapshots import Snapshot


class Loss(NamedTuple):
    """Compares what the log holds with what the state before a rebuild had learned.

    Parameters
    ----------
    where
        Which partitions, for messages.
    n_before
        Number of events that the old state had learned or predicted; None: unknown, as no snapshot
        can be read.
    n_records
        Number of records that these events, repeats and commands were at least.
    n_later
        Number of offsets that the rebuild leaves to the next run.

    """

    where: str
    n_before: int | None
    n_records: int
    n_later: int

    @classmethod
    def of(cls, before: Snapshot | None, reader: Reader, n_later: int) -> "Loss":
        """Return the comparison with the newest readable snapshot; None: there is none."""
        many = "partitions" if len(reader.partitions) > 1 else "partition"
        where = f"{many} {', '.join(map(str, reader.partitions))}"
        if before is None:
            return cls(where, None, 0, n_later)
        counts = before.state["counts"]
        n_before = counts["scores"]["n_events"]
        # Not dead letters: with late labels, one record may become several.
        others = counts["n_repeats"] + counts.get("n_commands", 0)
        return cls(where, n_before, n_before + others, n_later)

    def refuse(self, n_held: int) -> None:
        """Refuse to forget what the log does not hold.

        Parameters
        ----------
        n_held
            Number of records that the log still holds, at most, up to the end of the rebuild.

        Raises
        ------
        RefusedError
            When the old state learned more.

        """
        if n_held + self.n_later >= self.n_records:
            return
        raise RefusedError(
            f"{self.where}: the model has learned {self.n_before} events, and of its "
            f"{self.n_records} or more records the log holds only {n_held}, from where learning "
            "begins: a rebuild would forget the others for ever. The model was not changed. Keep "
            "it, with the settings that it was learned with (--accept-loss skips records that were "
            "deleted before it learned them); or forget it, with `iln-stream rebuild --forget`"
        )

    def learned_again(self, n_events: int) -> str:
        """Return a sentence on a completed rebuild that learned `n_events`."""
        before = "can not be read" if self.n_before is None else f"had {self.n_before}"
        return f"{self.where}: learned {n_events} events; the state before {before}"
