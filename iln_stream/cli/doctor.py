"""`iln-stream doctor`: checks this machine for the requirements of iln_stream."""

import importlib.metadata
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iln_stream.errors import IlnError
from iln_stream.kernels.cpu import BASELINES, VARIABLE, pinned
from iln_stream.kernels.jit import cache_folder, is_marked
from iln_stream.learners.warming import PUBLIC
from iln_stream.service import output_stream, source_stream
from iln_stream.service.settings import StreamSettings
from iln_stream.service.streams import label_stream

_ANSWER_WITHIN_SECONDS = 5.0
"""Timeout for the Docker engine, which may hang."""


class Finding(NamedTuple):
    """One requirement: whether it was found, what was found, and what needs it."""

    name: str
    found: bool
    seen: str
    needed_for: str
    essential: bool = False


def examine(settings: StreamSettings, console: Console) -> int:
    """Print a table of requirements; return 1 if one that the settings need is missing, else 0."""
    findings = [
        _python(),
        *_packages(),
        *_extras(settings),
        _cache(),
        _cpu_baseline(),
        _broker(settings),
        _program("java", "a local Kafka broker: `make kafka` and the tests (17 or newer)"),
        _program("mvn", "downloading that broker's jars, once"),
        _docker(),
        _program("prometheus", "the monitoring tests (which download it on Debian)"),
    ]
    table = Table("", "requirement", "found", "needed for")
    for finding in findings:
        mark = "[green]ok[/]" if finding.found else "[yellow]missing[/]"
        if finding.essential and not finding.found:
            mark = "[red]missing[/]"
        table.add_row(mark, *map(escape, (finding.name, finding.seen, finding.needed_for)))
    console.print(table)
    missing = [each.name for each in findings if each.essential and not each.found]
    if missing:
        console.print(
            f"missing for `iln-stream run` with these settings: {', '.join(missing)}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    return int(bool(missing))


def _python() -> Finding:
    return Finding(
        "Python", sys.version_info >= (3, 11), sys.version.split()[0], "everything (3.11)", True
    )


def _packages() -> Iterator[Finding]:
    wanted = {
        "river": "the learners' interface",
        "numpy": "the learners",
        "numba": "compiling the learners' loops",
        "kafka-python": "learning from Kafka",
        "prometheus-client": "metrics",
        "pydantic": "reading events",
    }
    for name, purpose in wanted.items():
        yield _package(name, purpose, name, essential=True)


def _extras(settings: StreamSettings) -> Iterator[Finding]:
    yield _package("matplotlib", "the demo's picture", "iln-stream[demo]")
    yield _package(
        "confluent-kafka",
        "reading from Kafka faster (--kafka-client confluent)",
        "iln-stream[confluent]",
        essential=source_stream(settings).needs_broker and settings.kafka_client == "confluent",
    )
    yield _package(
        "fastavro",
        "reading topics with a schema registry (--format avro or json-schema)",
        "iln-stream[registry]",
        essential=settings.format != "json",
    )
    yield _package("pyarrow", "reading Parquet files", "iln-stream[parquet]")
    for codec, name in {"lz4": "lz4", "snappy": "python-snappy", "zstd": "zstandard"}.items():
        yield _package(
            name,
            f"reading topics compressed with {codec}, by kafka-python",
            "iln-stream[compression]",
        )
    yield _package("onnx", "saving networks as ONNX (`export`)", "iln-stream[onnx]")


def _package(name: str, purpose: str, requirement: str, essential: bool = False) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), purpose, essential)
    except importlib.metadata.PackageNotFoundError:
        quoted = f"'{requirement}'" if "[" in requirement else requirement
        return Finding(name, False, f"pip install {quoted}", purpose, essential)


def _cache() -> Finding:
    name, purpose = "compiled loops", "starting without compiling: `iln-stream warm` does it ahead"
    folder = cache_folder()
    if folder is None:
        seen = "no writable folder: set NUMBA_CACHE_DIR to one"
        return Finding(name, False, seen, purpose)
    cold = [each for each in PUBLIC if not is_marked(each)]
    seen = f"for {len(PUBLIC) - len(cold)} of {len(PUBLIC)} learners"
    if cold:
        seen += f", not for {', '.join(cold)}"
    return Finding(name, len(cold) < len(PUBLIC), f"{seen}, in {folder}", purpose)


def _cpu_baseline() -> Finding:
    seen = pinned() or f"not set: {VARIABLE}={'|'.join(BASELINES)}"
    purpose = "replays that give the same bits on other CPUs"
    return Finding("CPU baseline", pinned() is not None, seen, purpose)


def _broker(settings: StreamSettings) -> Finding:
    name, purpose = f"Kafka at {settings.bootstrap}", "`run` from Kafka, `replay` (--bootstrap)"
    addresses = settings.source_address, settings.predictions, settings.dead_letters
    essential = any(each and output_stream(settings, each).needs_broker for each in addresses)
    labels = label_stream(settings)
    if labels is not None and labels.options.bootstrap == settings.bootstrap:
        essential = essential or labels.needs_broker
    for address in settings.bootstrap.split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=2):
                return _login(settings, address, Finding(name, True, "", purpose, essential))
        except (OSError, ValueError, OverflowError):
            continue
    return Finding(name, False, "no connection", purpose, essential)


def _login(settings: StreamSettings, address: str, broker: Finding) -> Finding:
    """Return the finding for a broker that listens; log in if the settings say how."""
    seen = f"{address} accepts connections"
    source = source_stream(settings)
    try:
        if settings.kafka_options or settings.kafka_secrets:
            output_stream(settings, settings.topic_address).log_in()
            seen = f"{address} accepts the login in kafka_options, kafka_secrets"
        if source.needs_broker and {"source", "topic"} & settings.model_fields_set:
            seen += f"; topic {source.name}, partitions: {len(source.partitions())}"
    except IlnError as error:
        return broker._replace(found=False, seen=str(error))
    return broker._replace(seen=seen)


def _docker() -> Finding:
    name, purpose = "docker", "the whole stack, `docker compose up`"
    if shutil.which("docker") is None:
        return Finding(name, False, "not on PATH", purpose)
    try:
        # Without an engine the client is useless.
        asked = subprocess.run(
            ["docker", "version", "--format", "{{.Server.Version}}"],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ANSWER_WITHIN_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        answer = ""
    else:
        answer = asked.stdout.strip() if asked.returncode == 0 else ""
    if not answer:
        return Finding(name, False, "client only, no engine", purpose)
    return Finding(name, True, f"engine {answer}", purpose)


def _program(name: str, purpose: str) -> Finding:
    path = shutil.which(name)
    return Finding(name, path is not None, path or "not on PATH", purpose)
