"""The learner by key as a stateful processor of Spark.

pyspark is imported on use, here and in the other modules of this folder: all else works without it.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessorHandle

    from iln_stream.spark.one_key import Message
    from iln_stream.spark.plan import KeyedPlan
    from iln_stream.spark.stored import Meta


_META = "positions STRING, n BIGINT, prior BINARY, digest BINARY, learner BINARY, n_blocks INT"
_LEARNER = "learner BINARY"
_BLOCK = "name STRING, content BINARY"

OUTPUT = (
    "key BINARY, kind STRING, partitions ARRAY<INT>, offsets ARRAY<BIGINT>, values ARRAY<BINARY>"
)
"""One row for a key's messages of a kind: a row for each message takes Spark's Python side longer
than a small learner takes to learn."""

_MOST_IN_A_ROW = 10_000


class SparkKey:
    """The state store's variables of the key that Spark has chosen; see `StoredKey`."""

    def __init__(self, handle: "StatefulProcessorHandle") -> None:
        self._meta = handle.getValueState("meta", _META)
        self._learner = handle.getValueState("learner", _LEARNER)
        self._blocks = handle.getListState("blocks", _BLOCK)

    def meta(self) -> "Meta | None":
        if (found := self._meta.get()) is None:
            return None
        from iln_stream.spark.stored import Meta

        positions, n, prior, digest, inline, n_blocks = found
        inline = None if inline is None else bytes(inline)
        return Meta(positions, n, bytes(prior), bytes(digest), inline, n_blocks)

    def learner(self) -> bytes:
        found = self._learner.get()
        return b"" if found is None else bytes(found[0])

    def blocks(self) -> Iterator[tuple[str, bytes]]:
        return ((name, bytes(content)) for name, content in self._blocks.get())

    def write_meta(self, meta: "Meta") -> None:
        self._meta.update(tuple(meta))

    def write_learner(self, data: bytes) -> None:
        self._learner.update((data,))

    def append_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        self._blocks.appendList(list(blocks))

    def replace_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        self._blocks.put(list(blocks))


class KeyedProcessor:
    """Learns the rows of each key: a `pyspark.sql.streaming.StatefulProcessor`.

    It does not derive from that class, so that this module needs no pyspark. Nor does it import the
    learners before the first row: Spark unpickles it in a process of the driver, too, only to ask
    for the state's variables.

    The rows have the columns of `iln_stream.spark.records.GATHERED`, the output those of `OUTPUT`.
    """

    def __init__(self, plan: "KeyedPlan") -> None:
        self._plan = plan

    def init(self, handle: "StatefulProcessorHandle") -> None:
        """Declare the state's variables."""
        self._stored = SparkKey(handle)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: "Iterator[Row]",
        timerValues: Any,
    ) -> "Iterator[Row]":
        """Learn a key's rows of a micro-batch; yield its predictions and dead letters."""
        from iln_stream.spark.keys import learners_of, without_key
        from iln_stream.spark.records import records_of

        group: bytes | None = None if key[0] is None else bytes(key[0])
        records = [record for row in rows for record in records_of(self._plan.stream, *row)]
        messages: Iterable[Message]
        if group is None:
            messages = map(without_key, records)
        else:
            messages = learners_of(self._plan).learn(group, self._stored, records)
        return _rows(group, messages)

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _rows(group: bytes | None, messages: "Iterable[Message]") -> "Iterator[Row]":
    from pyspark.sql import Row

    output = Row("key", "kind", "partitions", "offsets", "values")
    by_kind: dict[str, list[Message]] = {}
    for message in messages:
        by_kind.setdefault(message.kind, []).append(message)
    for kind, each in by_kind.items():
        for start in range(0, len(each), _MOST_IN_A_ROW):
            _, partitions, offsets, values = zip(*each[start : start + _MOST_IN_A_ROW], strict=True)
            yield output(group, kind, partitions, offsets, values)
