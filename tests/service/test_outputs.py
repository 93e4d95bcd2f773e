"""`Outputs`: which sinks a run opens, and who writes to them."""

import pytest
from support.kafka_topics import create_topic, produce
from support.list_source import LIST, ListSource

from iln_stream.errors import SinkError
from iln_stream.loop import Step
from iln_stream.loop.outputs import (
    DeadLetterWriter,
    PredictionWriter,
    TransactionalPredictionWriter,
)
from iln_stream.records import DeadLetter, PredictionEncoder
from iln_stream.service import Settings, source_stream
from iln_stream.service.streams import Outputs, Reader
from iln_stream.streams import StreamPartition

STEP = Step(StreamPartition("list", 2), 7, "e", None, {}, 1.0, 0.5, 0.1)
ENCODE = PredictionEncoder("s", "m", "v")
READER = Reader("log-events", "0", (0,), 1)
LETTER = DeadLetter.of("s", 2, 9, b"?", "malformed")


def kinds(writers):
    return [type(writer) for writer in writers]


def test_dead_letters_only(tmp_path):
    """Without `predictions` a run writes dead letters only."""
    outputs = Outputs(Settings(source="e.jsonl"))
    (writer,) = outputs.writers(ListSource([]), READER, ENCODE)
    writer.on_dead_letter(LETTER)
    writer.on_step(STEP)
    outputs.close()
    assert [file.name for file in tmp_path.iterdir()] == ["dead-letters.jsonl"]
    assert len((tmp_path / "dead-letters.jsonl").read_text().splitlines()) == 1


def test_readers_share_the_sinks(tmp_path):
    """The predictions of all learners reach one file."""
    outputs = Outputs(Settings(source="e.jsonl", predictions="p.jsonl"))
    for reader in "01":
        writers = outputs.writers(ListSource([]), Reader("log-events", reader, (0,), 1), ENCODE)
        assert kinds(writers) == [DeadLetterWriter, PredictionWriter]
        writers[1].on_step(STEP)
    outputs.close()
    assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 2


def test_all_sinks_are_closed():
    """A sink that fails to flush does not keep the others from closing, and its error is raised."""
    outputs = Outputs(Settings(source="e.jsonl", predictions="/dev/full", dead_letters="d.jsonl"))
    letters, predictions = outputs.writers(ListSource([]), READER, ENCODE)
    predictions.on_step(STEP)
    with pytest.raises(SinkError, match="can't write /dev/full"):
        outputs.close()
    with pytest.raises((SinkError, ValueError)):
        letters.on_dead_letter(LETTER)


def test_transactional(broker, topic):
    """With `transactional` each reader has its own transactional sink."""
    settings = Settings(
        topic=topic,
        bootstrap=broker.bootstrap,
        predictions=f"kafka:{create_topic(broker.bootstrap)}",
        dead_letters="d.jsonl",
        transactional=True,
    )
    produce(broker.bootstrap, topic, [(None, b"0"), (None, b"1")])
    for offset in (0, 1):
        outputs = Outputs(settings)
        source = source_stream(settings).log(0, "earliest")
        writers = outputs.writers(source, READER, ENCODE)
        assert kinds(writers) == [DeadLetterWriter, TransactionalPredictionWriter]
        writers[1].on_step(Step(LIST, offset, None, None, {}, 1.0, 0.5, 0.1))
        outputs.close()
        source.close()
