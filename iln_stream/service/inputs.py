"""Opens what a reader reads: its partitions, and those of labels, as one source."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from iln_stream.service.labels import label_stream, time_of_records
from iln_stream.service.readers import Reader
from iln_stream.service.settings import Settings
from iln_stream.streams import LabelPartition, Log, Scheme, Sequencer, Start, label_partition


def open_inputs(
    settings: Settings,
    stream: Scheme,
    reader: Reader,
    start: Callable[[int], Start | None],
    stop_at: Callable[[int], int | None] = lambda _: None,
) -> list[Log]:
    """Open each partition of a reader.

    Parameters
    ----------
    settings
        Settings of the run.
    stream
        Log of the events.
    reader
        Partitions to open.
    start, stop_at
        Return where to start reading a partition, and where to stop; see `Scheme.log`.

    """
    with ExitStack() as opened:
        inputs: list[Log] = []
        for number in reader.all_partitions:
            log = open_one(settings, stream, number, start(number), stop_at(number))
            opened.callback(log.close)
            inputs.append(log)
        opened.pop_all()
    return inputs


def open_one(
    settings: Settings, stream: Scheme, number: int, start: Start | None, stop_at: int | None = None
) -> Log:
    """Open a partition of the log of events or, if the number is negative, of labels."""
    if number >= 0:
        return stream.log(number, start, stop_at=stop_at)
    labels = label_stream(settings)
    assert labels is not None
    return LabelPartition(labels.log(label_partition(number), start, stop_at=stop_at))


def one_source(settings: Settings, stream: Scheme, inputs: Sequence[Log]) -> Log:
    """Return partitions as one source, whose order is not kept."""
    if len(inputs) == 1:
        return inputs[0]
    return Sequencer(inputs, time_of=time_of_records(settings, stream))


def place(number: int) -> str:
    """Return a partition's name for messages.

    Examples
    --------
    >>> from iln_stream.service.inputs import place
    >>> place(2), place(-1)
    ('partition 2', 'partition 0 of labels')

    """
    return (
        f"partition {number}" if number >= 0 else f"partition {label_partition(number)} of labels"
    )
