"""`iln-stream doctor`: what it finds, what is missing, and its exit code."""

import importlib.metadata
import io
import socket
import sys

import pytest
from rich.console import Console
from support.embedded_log import append, settings_of
from support.kafka_topics import create_topic

from iln_stream.cli import doctor
from iln_stream.service import Service, Settings

NOBODY_LISTENS_HERE = "127.0.0.1:1"
NO_KAFKA = {"source": "-", "metrics_port": 0}


def rows(**settings):
    """Return the exit code, and for each requirement its mark and what was found."""
    screen = io.StringIO()
    given = Settings(**settings)
    code = doctor.examine(given, Console(file=screen, width=250))
    cells = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in screen.getvalue().splitlines()
        if line.startswith("│")
    ]
    return code, {name: (mark, seen) for mark, name, seen, _ in cells}


@pytest.fixture
def uninstall(monkeypatch):
    """Make a package appear not to be installed."""
    version = importlib.metadata.version

    def hide(*names):
        def version_of(name):
            if name in names:
                raise importlib.metadata.PackageNotFoundError(name)
            return version(name)

        monkeypatch.setattr(importlib.metadata, "version", version_of)

    return hide


def test_broker_that_a_run_needs(command):
    """If the settings name Kafka and no broker answers, the exit code is 1, and the last line says
    what is missing. With a file as source, or without settings, Kafka is not spoken of."""
    for given in ((), ("--metrics-port=0", "--bootstrap", NOBODY_LISTENS_HERE, "--source", "-")):
        done = command("doctor", *given)
        assert (done.code, "kafka" in done.out.lower()) == (0, False)
    done = command("doctor", "--bootstrap", NOBODY_LISTENS_HERE, "--metrics-port=0")
    assert done.code == 1
    assert "no connection" in done.out
    assert done.out.splitlines()[-1] == (
        f"missing for `iln-stream run` with these settings: Kafka at {NOBODY_LISTENS_HERE}"
    )


@pytest.mark.parametrize("output", ["predictions", "dead_letters"])
def test_broker_that_only_an_output_needs(output):
    """Outputs to Kafka need the broker, too."""
    nobody = {**NO_KAFKA, "bootstrap": NOBODY_LISTENS_HERE}
    assert rows(**nobody, **{output: "file.jsonl"})[0] == 0
    assert rows(**nobody, **{output: "kafka:topic"})[0] == 1


def test_missing_packages(command, monkeypatch):
    """If a dependency is missing, the exit code is 1, and the table names it. Settings are those of
    `run`, with the same errors."""
    assert "window (--window, ILN_WINDOW)" in command("doctor", "--window", "0").refused().err
    assert rows(**NO_KAFKA)[0] == 0
    monkeypatch.setattr(sys, "path", [])  # nothing installed can be found any more
    code, seen = rows(**NO_KAFKA)
    assert code == 1
    for name in ("river", "numpy", "numba", "pydantic"):
        assert seen[name] == ("missing", f"pip install {name}")
    assert seen["Python"][0] == "ok"


@pytest.mark.parametrize(
    ("package", "extra", "settings"),
    [
        ("pyarrow", "parquet", {"source": "events.parquet"}),
        ("fastavro", "registry", {**NO_KAFKA, "format": "avro"}),
        ("uvicorn", "api", {**NO_KAFKA, "page_port": 0}),
    ],
)
def test_missing_extra(uninstall, package, extra, settings):
    """The table names the extra of a package that the settings need, and no other."""
    uninstall(package)
    assert package not in rows(**NO_KAFKA)[1]
    code, seen = rows(**settings)
    assert (code, seen[package]) == (1, ("missing", f"pip install 'iln-stream[{extra}]'"))


def test_client_that_the_settings_name(uninstall):
    """The confluent client is required if the settings read from Kafka with it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = f"127.0.0.1:{listener.getsockname()[1]}"
        chosen = {"bootstrap": here, "kafka_client": "confluent", "metrics_port": 0}
        uninstall("confluent-kafka")
        assert rows(bootstrap=here, metrics_port=0)[0] == 0
        assert rows(**(NO_KAFKA | chosen))[0] == 0
        assert rows(**chosen)[0] == 1


def test_broker_that_answers():
    """The broker is found if any of its addresses accepts a connection; a malformed address is a
    missing broker, not a crash."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        brokers = f"{NOBODY_LISTENS_HERE}, 127.0.0.1:{listener.getsockname()[1]}"
        _, seen = rows(bootstrap=brokers)
        assert seen[f"Kafka at {brokers}"][0] == "ok"
    code, seen = rows(bootstrap=brokers)
    assert (code, seen[f"Kafka at {brokers}"][0]) == (1, "missing")
    assert rows(bootstrap="127.0.0.1:99999")[1]["Kafka at 127.0.0.1:99999"][0] == "missing"


def test_no_place_for_compiled_code(monkeypatch):
    """Without a cache for compiled code, the table names the variable that sets one."""
    monkeypatch.setattr(doctor, "cache_folder", lambda: None)
    mark, seen = rows()[1]["compiled loops"]
    assert mark == "optional"
    assert "NUMBA_CACHE_DIR" in seen


def test_the_topic_of_the_settings(broker):
    """A topic that the settings name must exist and be visible: its partitions are shown."""
    topic = create_topic(broker.bootstrap, partitions=3)
    name = f"Kafka at {broker.bootstrap}"
    here = {"bootstrap": broker.bootstrap, "metrics_port": 0}
    code, seen = rows(**here, topic=topic)
    assert (code, seen[name][0]) == (0, "ok")
    assert f"topic {topic}, partitions: 3" in seen[name][1]
    code, seen = rows(bootstrap=broker.bootstrap, source="kafka:no-such-topic")
    assert (code, seen[name][0]) == (1, "missing")
    assert "no topic 'no-such-topic'" in seen[name][1]
    code, seen = rows(**here, source=f"kafka:{topic}", labels="kafka:none", pending_events=9)
    assert (code, seen["labels"][0]) == (1, "missing")
    assert (
        "kafka:none: the run creates it" in rows(**here, predictions="kafka:none")[1]["predictions"]
    )


def test_what_the_settings_name(tmp_path):
    """Each setting that a run would stumble on has a row that says so, and the exit code is 1."""
    file = tmp_path / "file"
    file.write_text("text")
    missing = str(tmp_path / "missing")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        wrong = {
            "source": f"{missing}/events.csv",
            "labels": f"sqlite:{file}/labels.db",
            "pending_events": 10,
            "snapshots": f"{file}/state",
            "publish": "/proc/models",
            "predictions": f"{file}/predictions.jsonl",
            "dead_letters": f"sqlite:{file}/letters.db",
            "metrics_port": listener.getsockname()[1],
        }
        code, seen = rows(**wrong, warm_start=missing, kafka_secrets={"ssl_password": missing})
    named = (*(wrong.keys() - {"pending_events"}), f"warm_start {missing}")
    assert {seen[name][0] for name in (*named, "kafka_secrets.ssl_password")} == {"missing"}
    assert code == 1


def test_nothing_is_created(tmp_path):
    """What a run would create is no fault, and is not there afterwards."""
    folder = tmp_path / "new"
    right = {name: str(folder / name) for name in ("snapshots", "publish", "predictions")}
    code, seen = rows(source=f"sqlite:{folder}/log.db", metrics_port=0, **right)
    assert code == 0
    assert all("the run creates it" in seen[name][1] for name in ("source", "dead_letters", *right))
    assert list(tmp_path.iterdir()) == []


def test_snapshots_of_other_settings(tmp_path):
    """If the run would refuse its snapshots, their row gives the run's reason."""
    path = tmp_path / "log.db"
    append(path, [b'{"x": {"a": 1}, "y": 1}'])
    settings = settings_of(path)
    Service(settings).run()
    assert doctor.examine(settings, Console(file=io.StringIO())) == 0
    given = {name: getattr(settings, name) for name in settings.model_fields_set}
    code, seen = rows(**given, seed=7)
    assert (code, seen["snapshots"][0]) == (1, "missing")
    assert "was saved with other settings: seed" in seen["snapshots"][1]


def test_the_api_in_the_same_file(command, tmp_path):
    """`doctor serve` checks what a file's table [api] names, and `doctor` what `run` needs."""
    config = tmp_path / "iln.toml"
    config.write_text('source = "-"\nmetrics_port = 0\n[api]\nport = 0\ntoken_file = "tokens"\n')
    assert command("doctor", "--config", str(config)).code == 0
    done = command("doctor", "serve", "--config", str(config))
    assert (done.code, done.out.splitlines()[-1].endswith(": api.models, api.token_file")) == (
        1,
        True,
    )
    assert "iln-stream serve" in done.out.splitlines()[-1]
