"""What a kind of stream can do: each is one `Scheme`, named by the first word of an address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iln_stream.errors import SinkError, SourceError
from iln_stream.streams.base import Log, Source, Start
from iln_stream.streams.sink import Sink, TransactionalSink


@dataclass(frozen=True)
class StreamOptions:
    """What the kinds of streams may be told beside a name; each takes what it knows.

    Parameters
    ----------
    bootstrap, kafka_options, kafka_client, broker_wait
        Kafka's; see the settings of these names.
    stop_at_end
        End a log at what was its end when it was opened.
    limit
        End another source after so many events.
    target
        The label's column, where records have columns.
    seed
        Of synthetic streams.

    """

    bootstrap: str = "127.0.0.1:9092"
    kafka_options: Mapping[str, Any] = field(default_factory=dict)
    kafka_client: str = "kafka-python"
    broker_wait: float = 30.0
    stop_at_end: bool = False
    limit: int | None = None
    target: str | None = None
    seed: int = 1


class Scheme:
    """A kind of stream. Override what it can do; the rest is refused, naming the address.

    A new kind is one module with a subclass, and a line in `address.py`, or, in a package of your
    own, an entry point in the group `iln_stream.streams`.
    """

    is_log = False
    """Whether reading can go on from any offset, so that a learner can be resumed."""

    has_transactions = False
    """Whether messages and the positions that they come from can be stored in one transaction."""

    needs_start = False
    """Whether where to begin must be said: no place is the natural one."""

    def __init__(self, scheme: str, name: str, options: StreamOptions) -> None:
        self.scheme = scheme
        self.name = name
        self.options = options

    @property
    def address(self) -> str:
        """The whole address."""
        return f"{self.scheme}:{self.name}"

    @property
    def peer(self) -> str:
        """What has to be there for it, as the log names it when it is away."""
        return self.address

    @property
    def place(self) -> str:
        """The address in the one spelling that two of the same place share."""
        return self.address

    def check(self) -> None:
        """Raise what is wrong with name or options, as far as that can be told without opening."""

    def wait(self) -> None:
        """Wait until it can be opened, if that may take a while."""

    def source(self) -> Source:
        """Open it for reading, once, from its beginning."""
        raise SourceError(f"source = {self.address!r} can't be read from")

    def partitions(self) -> Sequence[int]:
        """Return the partitions of a log."""
        raise self._no_log()

    def log(self, partition: int, start: Start | None, stop_at: int | None = None) -> Log:
        """Open one partition of a log at `start`, to be read up to `stop_at` at most."""
        raise self._no_log()

    def sink(self, partition: int = 0) -> Sink:
        """Open it for writing."""
        raise SinkError(f"{self.address} can't be written to")

    def transactional_sink(self, source: Log, reader: str) -> TransactionalSink:
        """Open it for writing, in transactions with the positions of `source`."""
        raise SinkError(f"{self.address} has no transactions")

    def written(self) -> Source:
        """Open what was written to it, for reading from its beginning to where it ends now.

        Raises
        ------
        NoStreamError
            When nothing was ever written: there is no such topic or file.

        """
        raise SourceError(f"what was written to {self.address!r} can't be read again")

    def sibling(self, suffix: str) -> str:
        """Return the address beside this one whose name ends in `suffix`."""
        raise SinkError(f"{self.address!r} has no address beside it: name a file or kafka:TOPIC")

    def dead_letters(self) -> str:
        """Return the address of the dead letters of what is read here, unless another is set."""
        return "dead-letters.jsonl"

    def _no_log(self) -> SourceError:
        return SourceError(f"source = {self.address!r} is no log: reading can't go on from a place")
