"""Records the order in which several partitions were learned, so that a resumed run repeats it."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from iln_stream.errors import SnapshotError
from iln_stream.snapshots import Header, Positions, SnapshotFolder
from iln_stream.streams import Journal, Log, Record, Run, Sequencer, after, read_journal

log = logging.getLogger(__name__)


class ArrivalOrder:
    """The journal of one reader of several partitions, as far back as its snapshots need it.

    Parameters
    ----------
    folder
        Folder of the snapshots, locked.
    epoch
        Epoch of this run.
    resumed
        Header of the snapshot from which the run resumes; None: none.
    inputs
        The partitions, each opened at the position where reading resumes.
    keep
        Number of snapshots kept.
    time_of
        As in `Sequencer`.
    source
        Folder of that snapshot, if it is another one, whose learner is taken over.

    """

    def __init__(
        self,
        folder: SnapshotFolder,
        epoch: int,
        resumed: Header | None,
        inputs: Sequence[Log],
        keep: int,
        time_of: Callable[[Record], float | None] | None = None,
        source: SnapshotFolder | None = None,
    ) -> None:
        self._partitions = [log.partitions[0] for log in inputs]
        self._kept: deque[Positions] = deque(maxlen=keep)
        if resumed is not None:
            for each in reversed((source or folder).places()):
                with suppress(SnapshotError):
                    self._keep((source or folder).read(each).header, inputs[0].topic_id)
        journals = sorted((source or folder).path.glob("*.journal"))
        # An older journal precedes a rebuild, which learned in another order and keeps no journal.
        ours = [path for path in journals if resumed and int(path.stem) >= resumed.epoch]
        written = _within(read_journal(ours[-1]), inputs) if ours else []
        needed = after(written, self._bound)
        self._journal = Journal(folder.path / f"{epoch:06}.journal", needed)
        if source is None:
            for old in journals:
                old.unlink(missing_ok=True)
        positions = {} if resumed is None else resumed.positions
        self.source = Sequencer(inputs, self._journal, after(needed, positions), time_of)

    def stored(self, header: Header) -> None:
        """Forget the order that no snapshot needs once this one is stored. Thread-safe."""
        self._kept.append(header.positions)
        self._journal.forget(self._bound)

    @property
    def _bound(self) -> Positions:
        """Positions before which none of the kept snapshots needs the order."""
        kept = list(self._kept)
        return {p: min((each.get(p, 0) for each in kept), default=0) for p in self._partitions}

    def _keep(self, header: Header, topic_id: str | None) -> None:
        if None in (header.topic_id, topic_id) or header.topic_id == topic_id:
            self._kept.append(header.positions)


def _within(runs: Sequence[Run], inputs: Sequence[Log]) -> list[Run]:
    """Return the runs that end within the log, which may have lost its end."""
    ends = {
        each.partitions[0]: each.positions[each.partitions[0]] + each.lag
        for each in inputs
        if each.lag is not None
    }
    lost = [run for run in runs if run.end > ends.get(run.partition, run.end)]
    if lost:
        log.error(
            "the log lost records that were learned; their order (%s) is dropped",
            ", ".join(f"partition {run.partition} up to {run.end}" for run in lost[:5]),
        )
    return [run for run in runs if run not in lost]
