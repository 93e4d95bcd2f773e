"""Which records a rebuild has read again: it has learned those that had become dead letters."""

from iln_stream.service.labels import label_stream
from iln_stream.service.readers import readers
from iln_stream.service.recovery import folder_of
from iln_stream.service.settings import Settings
from iln_stream.snapshots import SnapshotFolder
from iln_stream.streams import Scheme, label_partition


class ReadAgain:
    """The offset before which a rebuild has read each partition, by the newest snapshots.

    A rebuild writes no dead letters. A letter of a record that it has read is therefore older than
    the model, which has learned the record if the settings now fit.

    Parameters
    ----------
    settings
        Settings of the run. Without `snapshots` there was no rebuild.
    stream
        The source of the run.

    """

    def __init__(self, settings: Settings, stream: Scheme) -> None:
        self._before: dict[tuple[str, int], int] = {}
        if settings.snapshots is None:
            return
        labels = label_stream(settings)
        for reader in readers(settings, stream):
            folder = folder_of(settings, stream, reader)
            found = SnapshotFolder(folder).stored() if folder.is_dir() else []
            for partition, offset in found[-1].header.rebuilt.items() if found else ():
                key = stream.name, partition
                if partition < 0 and labels is not None:
                    key = labels.name, label_partition(partition)
                self._before[key] = max(offset, self._before.get(key, 0))

    def has(self, stream: str, partition: int, offset: int) -> bool:
        """Return whether a rebuild has read the record."""
        return offset < self._before.get((stream, partition), 0)
