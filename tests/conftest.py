"""Real Kafka brokers, topics on them, what is made durable, and the order of the files."""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chaos.logs import EmbeddedLog, KafkaLog, TestedLog
from hypothesis import settings
from support.kafka_broker import KafkaBroker, KafkaBrokerError
from support.kafka_topics import create_topic
from support.running_command import Command, Start
from support.schema_registry import SchemaRegistry

settings.register_profile("untimed", deadline=None)  # machines are busy
settings.register_profile("quick", deadline=None, max_examples=25)  # of `make test-quick`
settings.load_profile("untimed")

_LONG = {
    *("bits", "chaos", "demo", "jit", "page", "services", "site", "warm", "end_to_end", "failures"),
    *("pages", "two_topics", "healer", "kafka", "endurance", "worker_processes"),
}
"""Files and folders whose tests take long or wait. They come first, so that at the end no process
is alone with one of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the order within files stays."""

    def is_short(item: pytest.Item) -> bool:
        names = {part.removeprefix("test_") for part in item.path.with_suffix("").parts}
        return _LONG.isdisjoint(names)

    items.sort(key=is_short)


def pytest_collection_finish() -> None:
    """Leave the collected tests and all modules out of garbage collections: they made each of
    River's checks of memory take over a second."""
    _freeze()


@pytest.hookimpl(trylast=True)  # once the file's own fixtures are gone
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Leave out what a file's tests have imported and compiled, too."""
    if nextitem is not None and nextitem.path != item.path:
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """The broker that all tests share; whoever asks for it without a Kafka at hand fails."""
    with KafkaBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchemaRegistry]:
    """The schema registry that the tests share; a test that stops it starts it again."""
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(scope="session")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """The broker that tests may stop and kill."""
    try:
        running = KafkaBroker(tmp_path_factory.mktemp("kafka"), borrow=False)
    except KafkaBrokerError as error:
        if "ILN_TEST_BOOTSTRAP" in os.environ:
            pytest.skip(f"ILN_TEST_BOOTSTRAP's broker is not ours to stop. {error}")
        raise
    with running:
        yield running


@pytest.fixture
def stoppable(own_broker: KafkaBroker) -> Iterator[KafkaBroker]:
    """A running broker that the test may stop and kill; it runs again afterwards."""
    own_broker.start()
    yield own_broker
    own_broker.start()


@pytest.fixture
def topic(broker: KafkaBroker) -> str:
    """An empty topic with one partition, on the shared broker."""
    return create_topic(broker.bootstrap)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `iln-stream` processes, and kills those that still run after the test."""
    with ExitStack() as started:
        yield lambda *arguments, under=(): started.enter_context(
            Command(tmp_path, *arguments, under=under)
        )


@pytest.fixture
def make_log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., TestedLog]]:
    """Return a function that creates an empty log: `embedded` or `kafka`, with some partitions."""
    made: list[TestedLog] = []

    def make(kind: str, partitions: int = 1) -> TestedLog:
        if kind == "embedded":
            made.append(EmbeddedLog(tmp_path / "log.db", partitions))
        else:
            bootstrap = request.getfixturevalue("broker").bootstrap
            made.append(KafkaLog(bootstrap, "chaos", partitions))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path, bytes | None]]:
    """The calls that make files durable, in order: (name of the call, path, content then)."""
    calls: list[tuple[str, Path, bytes | None]] = []
    fsync, rename = os.fsync, Path.rename

    def record_fsync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        calls.append(("fsync", path, None if path.is_dir() else path.read_bytes()))
        fsync(descriptor)

    def record_rename(partial: Path, final: Path) -> Path:
        calls.append(("rename", final, partial.read_bytes()))
        return rename(partial, final)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(Path, "rename", record_rename)
    return calls
