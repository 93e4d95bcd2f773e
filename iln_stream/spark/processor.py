"""The learner by key as a stateful processor of Spark."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from iln_stream.spark.keys import learners_of, without_key
from iln_stream.spark.one_key import Message
from iln_stream.spark.plan import Plan
from iln_stream.spark.stored import Meta
from iln_stream.streams import Record

_META = StructType(
    [
        StructField("positions", StringType()),
        StructField("n", LongType()),
        StructField("prior", BinaryType()),
        StructField("digest", BinaryType()),
        StructField("learner", BinaryType()),
        StructField("n_blocks", IntegerType()),
    ]
)
_LEARNER = StructType([StructField("learner", BinaryType())])
_BLOCK = StructType([StructField("name", StringType()), StructField("content", BinaryType())])

OUTPUT = StructType(
    [
        StructField("key", BinaryType()),
        StructField("kind", StringType()),
        StructField("partitions", ArrayType(IntegerType())),
        StructField("offsets", ArrayType(LongType())),
        StructField("values", ArrayType(BinaryType())),
    ]
)
"""One row for a key's messages of a kind: a row for each message takes Spark's Python side longer
than a small learner takes to learn."""

_MOST_IN_A_ROW = 10_000

_Output = Row("key", "kind", "partitions", "offsets", "values")


class SparkKey:
    """The state store's variables of the key that Spark has chosen; see `StoredKey`."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._meta = handle.getValueState("meta", _META)
        self._learner = handle.getValueState("learner", _LEARNER)
        self._blocks = handle.getListState("blocks", _BLOCK)

    def meta(self) -> Meta | None:
        """Return the small part; None: the key is new."""
        found = self._meta.get()
        return None if found is None else meta_of(found)

    def learner(self) -> bytes:
        """Return the learner's bytes if they are not inline."""
        found = self._learner.get()
        return b"" if found is None else bytes(found[0])

    def blocks(self) -> Iterator[tuple[str, bytes]]:
        """Return all blocks that were appended, by name."""
        return ((name, bytes(content)) for name, content in self._blocks.get())

    def write_meta(self, meta: Meta) -> None:
        """Replace the small part."""
        self._meta.update(tuple(meta))

    def write_learner(self, data: bytes) -> None:
        """Replace the learner's bytes."""
        self._learner.update((data,))

    def append_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Append blocks; those that are there stay as they are."""
        self._blocks.appendList(list(blocks))

    def replace_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Replace the list of blocks."""
        self._blocks.put(list(blocks))


def meta_of(row: Iterable[Any]) -> Meta:
    """Return the small part of a key's state from a row of the store."""
    positions, n, prior, digest, inline, n_blocks = row
    inline = None if inline is None else bytes(inline)
    return Meta(positions, n, bytes(prior), bytes(digest), inline, n_blocks)


class KeyedProcessor(StatefulProcessor):
    """Learns the rows of each key.

    The rows have the columns of `iln_stream.spark.query.ROWS`, the output those of `OUTPUT`.

    Parameters
    ----------
    plan
        What to learn and how.

    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state's variables."""
        self._stored = SparkKey(handle)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Learn a key's rows of a micro-batch; yield its predictions and dead letters."""
        group: bytes | None = None if key[0] is None else bytes(key[0])
        records = [record_of(*row) for row in rows]
        messages: Iterable[Message]
        if group is None:
            messages = map(partial(without_key, self._plan.stream), records)
        else:
            messages = learners_of(self._plan).learn(group, self._stored, records)
        return _rows(group, messages)

    def close(self) -> None:
        """Do nothing: nothing is open."""


def record_of(
    group: bytes | None,
    partition: int,
    offset: int,
    milliseconds: int,
    value: bytes | None,
    key: bytes | None = None,
) -> Record:
    """Return a row as the service's sources return it; the key is the group unless it is given."""
    own = group if key is None else key
    text = None if own is None else own.decode(errors="surrogateescape")
    return Record(offset, value, partition, milliseconds / 1000, text)


def _rows(group: bytes | None, messages: Iterable[Message]) -> Iterator[Row]:
    by_kind: dict[str, list[Message]] = {}
    for message in messages:
        by_kind.setdefault(message.kind, []).append(message)
    for kind, each in by_kind.items():
        for start in range(0, len(each), _MOST_IN_A_ROW):
            _, partitions, offsets, values = zip(*each[start : start + _MOST_IN_A_ROW], strict=True)
            yield _Output(group, kind, list(partitions), list(offsets), list(values))
