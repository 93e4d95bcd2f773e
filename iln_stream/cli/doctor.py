"""`iln-stream doctor`: checks this machine for the requirements of iln_stream."""

import importlib.metadata
import socket
import sys
from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iln_stream.errors import IlnError
from iln_stream.kernels.cpu import BASELINES, VARIABLE, pinned
from iln_stream.kernels.jit import cache_folder, is_marked
from iln_stream.learners.warming import public_name
from iln_stream.service import Settings, build_learner, output_stream, source_stream
from iln_stream.service.streams import label_stream


class Finding(NamedTuple):
    """One requirement: whether it was found, what was found, and what needs it."""

    name: str
    found: bool
    seen: str
    needed_for: str
    essential: bool = False


def examine(settings: Settings, console: Console) -> int:
    """Print a table of what the settings need; return 1 if something that they need is missing."""
    findings = [_python(), *_packages(settings), *_cache(settings)]
    if settings.snapshots is not None:
        findings.append(_cpu_baseline())
    if _needs_broker(settings):
        findings.append(_broker(settings))
    table = Table("", "requirement")
    for name in ("found", "needed for"):
        table.add_column(name, overflow="fold")
    for finding in findings:
        mark = "[green]ok[/]" if finding.found else "[yellow]optional[/]"
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
    elif not settings.model_fields_set:
        console.print("Give the settings of a run, to check what else it needs: --config FILE")
    return int(bool(missing))


def _python() -> Finding:
    return Finding(
        "Python", sys.version_info >= (3, 11), sys.version.split()[0], "everything (3.11)", True
    )


def _packages(settings: Settings) -> Iterator[Finding]:
    wanted = {
        "river": "the learners' interface",
        "numpy": "the learners",
        "numba": "compiling the learners' loops",
        "prometheus-client": "metrics",
        "pydantic": "reading events",
    }
    for name, purpose in wanted.items():
        yield _package(name, purpose, name, essential=True)
    files, broker = (settings.source, *settings.warm_start), _needs_broker(settings)
    confluent = broker and settings.kafka_client == "confluent"
    extras = {
        "confluent-kafka": (confluent, "confluent", "Kafka"),
        "fastavro": (settings.format != "json", "registry", "reading with a schema registry"),
        "pyarrow": (any(f.endswith(".parquet") for f in files), "parquet", "reading Parquet"),
        "uvicorn": (settings.page_port is not None, "api", "the page"),
    }
    for name, (is_needed, extra, purpose) in extras.items():
        if is_needed:
            yield _package(name, purpose, f"iln-stream[{extra}]", essential=True)
    if broker and not confluent:
        yield _package("kafka-python", "Kafka", "kafka-python", essential=True)
        for codec, name in {"lz4": "lz4", "snappy": "python-snappy", "zstd": "zstandard"}.items():
            yield _package(name, f"topics compressed with {codec}", "iln-stream[compression]")


def _package(name: str, purpose: str, requirement: str, essential: bool = False) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), purpose, essential)
    except importlib.metadata.PackageNotFoundError:
        quoted = f"'{requirement}'" if "[" in requirement else requirement
        return Finding(name, False, f"pip install {quoted}", purpose, essential)


def _cache(settings: Settings) -> Iterator[Finding]:
    learner = public_name(build_learner(settings))
    folder = cache_folder()
    if learner is None:
        return
    seen = f"in {folder}"
    if folder is None:
        seen = "no writable folder: set NUMBA_CACHE_DIR to one"
    elif not is_marked(learner):
        seen = f"not yet: iln-stream warm --profile {learner}"
    is_there = folder is not None and is_marked(learner)
    yield Finding("compiled loops", is_there, seen, "starting without compiling for a minute")


def _cpu_baseline() -> Finding:
    seen = pinned() or f"not set: {VARIABLE}={'|'.join(BASELINES)}"
    purpose = "replays that give the same bits on other CPUs"
    return Finding("CPU baseline", pinned() is not None, seen, purpose)


def _needs_broker(settings: Settings) -> bool:
    """Whether the settings name Kafka; its topic is only the default where nothing is named."""
    outputs = [each for each in (settings.predictions, settings.dead_letters) if each]
    if {"source", "topic", "bootstrap"} & settings.model_fields_set:
        outputs.append(settings.source_address)
    if any(output_stream(settings, each).needs_broker for each in outputs):
        return True
    labels = label_stream(settings)
    same = labels is not None and labels.options.bootstrap == settings.bootstrap
    return labels is not None and labels.needs_broker and same


def _broker(settings: Settings) -> Finding:
    name, purpose, essential = f"Kafka at {settings.bootstrap}", "reading and writing topics", True
    for address in settings.bootstrap.split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=2):
                return _login(settings, address, Finding(name, True, "", purpose, essential))
        except (OSError, ValueError, OverflowError):
            continue
    return Finding(name, False, "no connection", purpose, essential)


def _login(settings: Settings, address: str, broker: Finding) -> Finding:
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
