"""`iln-stream doctor`: checks this machine for the requirements of iln_stream."""

import importlib.metadata
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iln_stream.errors import IlnError, NoStreamError
from iln_stream.kernels.cpu import BASELINES, VARIABLE, pinned
from iln_stream.kernels.jit import cache_folder, is_marked
from iln_stream.learners.warming import public_name
from iln_stream.service import Settings, build_learner, output_stream, source_stream
from iln_stream.service.recovery import check_header, configuration, folder_of
from iln_stream.service.streams import dead_letters_address, label_stream, readers
from iln_stream.serving.settings import ApiSettings
from iln_stream.snapshots import SnapshotFolder
from iln_stream.streams import Scheme
from iln_stream.streams.sqlite.scheme import SqliteScheme


class Finding(NamedTuple):
    """One requirement: whether it was found, what was found, and what needs it."""

    name: str
    found: bool
    seen: str
    needed_for: str
    essential: bool = False


def examine(settings: Settings, console: Console, api: ApiSettings | None = None) -> int:
    """Print a table of what the settings need; return 1 if something that they need is missing.

    `api` has the settings of `iln-stream serve`, if that is to be checked, and not `run`.
    """
    python = sys.version_info >= (3, 11), sys.version.split()[0]
    findings = [Finding("Python", *python, "everything (3.11)", True)]
    findings += _of_run(settings) if api is None else _of_api(api)
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
            f"missing for `iln-stream {'run' if api is None else 'serve'}` with these settings: "
            f"{', '.join(missing)}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    elif api is None and not settings.model_fields_set:
        console.print("Give the settings of a run, to check what else it needs: --config FILE")
    return int(bool(missing))


def _of_run(settings: Settings) -> Iterator[Finding]:
    yield from _packages(settings)
    yield from _cache(settings)
    if settings.snapshots is not None:
        yield _cpu_baseline()
    answers = True
    if _needs_broker(settings):
        yield (broker := _broker(settings))
        answers = broker.found
    if settings.model_fields_set:
        yield from starmap(_tried, _named(settings, answers=answers))


def _of_api(api: ApiSettings) -> Iterator[Finding]:
    yield _package("uvicorn", "the API", "iln-stream[api]", essential=True)
    yield _tried("api.models", lambda: f"{len(list(api.models.iterdir()))} files", "predicting")
    files = {f"api.{each}": path for each in _API_FILES if (path := getattr(api, each))}
    yield from starmap(_tried, _files_and_ports(files, {"api.port": (api.host, api.port)}))


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


Attempt = Callable[[], str]


def _tried(name: str, attempt: Attempt, purpose: str) -> Finding:
    """Return whether an attempt succeeds, with what it returns, or why it fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the run gives them
            return Finding(name, True, attempt(), purpose, True)
    except (IlnError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        return Finding(name, False, why or str(error), purpose, True)


def _named(settings: Settings, *, answers: bool) -> Iterator[tuple[str, Attempt, str]]:
    """Yield what the settings name: the setting, what to try, and what needs it."""
    source = source_stream(settings)
    streams = {"source": source, "labels": label_stream(settings)}
    outputs = {"dead_letters": settings.dead_letters, "predictions": settings.predictions}
    if {"source", "topic"} & settings.model_fields_set:
        outputs["dead_letters"] = dead_letters_address(settings)
    written = {name: output_stream(settings, each) for name, each in outputs.items() if each}
    if source.needs_broker:
        del streams["source"]  # in the broker's row
    for name, stream in (streams | written).items():
        if stream is not None and (answers or not stream.needs_broker):
            is_output = name in written
            purpose = "writing" if is_output else "reading"
            creates = is_output or (isinstance(stream, SqliteScheme) and not settings.stop_at_end)
            yield name, partial(_opened, stream, creates=creates), purpose
    if settings.snapshots is not None:
        check = answers or not source.needs_broker
        yield "snapshots", partial(_resumable, settings, source, check=check), "resuming"
    if settings.publish is not None:
        yield "publish", partial(_writable, Path(settings.publish)), "publishing versions"
    files = {f"warm_start {each}": each for each in settings.warm_start}
    files |= {f"kafka_options.{n}": v for n, v in settings.kafka_options.items() if n in _FILES}
    files |= {f"kafka_secrets.{n}": v for n, v in settings.kafka_secrets.items()}
    files |= {f"registry_secrets.{n}": v for n, v in settings.registry_secrets.items()}
    host = settings.metrics_host
    ports = {"metrics_port": (host, settings.metrics_port), "page_port": (host, settings.page_port)}
    yield from _files_and_ports(files, ports)


def _files_and_ports(
    files: Mapping[str, Any], ports: Mapping[str, tuple[str, int | None]]
) -> Iterator[tuple[str, Attempt, str]]:
    for name, path in files.items():
        yield name, partial(_readable, path), "reading this file"
    for name, (host, port) in ports.items():
        if port:
            yield name, partial(_free, host, port), "listening"


_FILES = ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile")
_API_FILES = ("token_file", "tls_certificate", "tls_key", "tls_client_ca")


def _opened(stream: Scheme, *, creates: bool) -> str:
    """Look whether a stream is there, or can be created, without creating it."""
    if stream.scheme == "file":
        path = Path(stream.name)
        if not creates:
            stream.source().close()
        elif path.is_file():
            path.open("ab").close()
        return stream.address if path.exists() else _writable(path.parent)
    if not stream.is_log:
        return stream.address
    try:
        return f"{stream.address}, partitions: {len(stream.partitions())}"
    except NoStreamError:
        if not creates:
            raise
        if isinstance(stream, SqliteScheme):
            _writable(stream.path.parent)
        return f"{stream.address}: the run creates it"


def _resumable(settings: Settings, source: Scheme, *, check: bool) -> str:
    """Look whether the folder can be written to, and whether a run would refuse its snapshots."""
    assert settings.snapshots is not None
    seen = _writable(Path(settings.snapshots))
    with suppress(NoStreamError):  # the source has a row of its own
        for reader in readers(settings, source) if check else ():
            folder = folder_of(settings, source, reader)
            if folder.is_dir() and (found := SnapshotFolder(folder).stored()):
                ours = configuration(settings, reader.horizon)
                check_header(found[-1].header, ours, source, reader, folder)
    return seen


def _writable(folder: Path) -> str:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    tempfile.TemporaryDirectory(dir=there).cleanup()  # rights alone do not tell
    return str(folder) if there == folder else f"{folder}: the run creates it"


def _readable(path: str | Path) -> str:
    Path(path).open("rb").close()
    return "there"  # not the path, which may be the password itself, given by mistake


def _free(host: str, port: int) -> str:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    socket.create_server((host, port), family=family).close()
    return f"{host}:{port} is free"


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
