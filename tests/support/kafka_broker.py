"""A real one-node Apache Kafka for the tests.

It is, in this order: the running broker that ILN_TEST_BOOTSTRAP names, a container of an image
the local Docker engine already has, or a Java process whose jars Maven fetches once.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import fcntl
import os
import random
import re
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self
from xml.etree import ElementTree

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

_RESOURCES = Path(__file__).parent / "kafka"
_POM = _RESOURCES / "pom.xml"
KAFKA_VERSION = ElementTree.parse(_POM).findtext(".//{*}kafka.version", "")
DOCKER_IMAGE = f"apache/kafka:{KAFKA_VERSION}"

_OLDEST_JAVA = 17
_START_DEADLINE_SECONDS = 60.0
_STOP_DEADLINE_SECONDS = 20.0
_FETCH_DEADLINE_SECONDS = 900.0
_PORT_ATTEMPTS = 5

# Below the range the kernel gives to outgoing connections: a client that keeps reconnecting to a
# stopped broker could otherwise be given the broker's port as its own and so hold it.
_PORTS = range(15000, 32000)
_PORT_TAKEN = re.compile(r"address already in use|port is already allocated", re.IGNORECASE)

_JVM_TUNED_FOR_START = ("-Xmx512M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class KafkaBrokerError(RuntimeError):
    """The test broker cannot be had, did not start, or cannot do what was asked of it."""


def server_properties(
    *,
    node_id: int,
    listen_host: str,
    broker_port: int,
    controller_port: int,
    data_folder: str,
    overrides: Mapping[str, str],
) -> dict[str, str]:
    """The whole server.properties of a one-node broker reached at 127.0.0.1:broker_port."""
    return {
        "process.roles": "broker,controller",
        "node.id": str(node_id),
        "controller.quorum.voters": f"{node_id}@127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": (
            f"PLAINTEXT://{listen_host}:{broker_port},CONTROLLER://127.0.0.1:{controller_port}"
        ),
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{broker_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": data_folder,
        "auto.create.topics.enable": "false",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # A killed broker may register again only when its old session is over: 9 s by default.
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "500",
        **overrides,
    }


class KafkaBroker:
    """One broker, started on free loopback ports with its data below `folder`.

    `overrides` are added to server.properties. Data and ports outlive stop(), kill() and
    restart(); close() ends the broker and deletes its data.
    """

    def __init__(self, folder: Path, overrides: Mapping[str, str] | None = None) -> None:
        self._overrides = dict(overrides or {})
        self._bootstrap = os.environ.get("ILN_TEST_BOOTSTRAP", "")
        self._home = None if self._bootstrap else _find_home(folder)
        # Random, so that a broker of other tests which took our port is not mistaken for ours.
        self._node_id = random.SystemRandom().randrange(1, 1_000_000)
        self._ports: tuple[int, int] | None = None
        self._running = False
        if self._home is None and self._overrides:
            raise _needs_own_broker("overrides of server.properties")
        atexit.register(self.close)

    @property
    def bootstrap(self) -> str:
        """The host:port to give to clients; known once the broker was started."""
        if not self._bootstrap:
            raise KafkaBrokerError("The broker has no address before its first start().")
        return self._bootstrap

    def start(self) -> None:
        """Start the broker and return when it answers; on a running one only check that."""
        if self._running or self._home is None:
            self._wait_until_it_answers(self.bootstrap)
        elif self._ports is not None:
            self._launch(self._home, self._ports)
        else:
            self._launch_on_free_ports(self._home)

    def stop(self) -> None:
        """Shut the broker down in good order."""
        if self._home is not None and self._running:
            self._home.stop()
            self._running = False

    def kill(self) -> None:
        """End the broker with SIGKILL, so that it writes nothing more."""
        if self._home is None:
            raise _needs_own_broker("kill()")
        if self._running:
            self._home.kill()
            self._running = False

    def restart(self) -> None:
        """Stop the broker if it runs and start it on its old data and ports."""
        if self._home is None:
            raise _needs_own_broker("restart()")
        self.stop()
        self.start()

    def close(self) -> None:
        """End the broker and delete its data; its log file stays."""
        atexit.unregister(self.close)
        self.stop()
        if self._home is not None:
            self._home.discard_data()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _launch_on_free_ports(self, home: _Home) -> None:
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            ports = _free_ports()
            try:
                self._launch(home, ports)
            except KafkaBrokerError as error:
                home.discard_data()
                if attempt == _PORT_ATTEMPTS or not _PORT_TAKEN.search(str(error)):
                    raise
            else:
                self._ports = ports
                return

    def _launch(self, home: _Home, ports: tuple[int, int]) -> None:
        broker_port, controller_port = ports
        home.launch(
            server_properties(
                node_id=self._node_id,
                listen_host=home.listen_host,
                broker_port=broker_port,
                controller_port=controller_port,
                data_folder=home.data_folder,
                overrides=self._overrides,
            ),
            broker_port,
        )
        bootstrap = f"127.0.0.1:{broker_port}"
        try:
            self._wait_until_it_answers(bootstrap)
        except BaseException:
            home.kill()
            raise
        self._bootstrap = bootstrap
        self._running = True

    def _wait_until_it_answers(self, bootstrap: str) -> None:
        home = self._home
        deadline = time.monotonic() + _START_DEADLINE_SECONDS
        while not self._is_ready(_answering_nodes(bootstrap)):
            exited = home is not None and home.has_exited()
            if exited or time.monotonic() > deadline:
                problem = "exited" if exited else f"gave no answer in {_START_DEADLINE_SECONDS:g} s"
                log = f"; the end of its log:\n{home.log_tail()}" if home else ""
                raise KafkaBrokerError(f"The Kafka broker at {bootstrap} {problem}{log}")
            time.sleep(0.05)

    def _is_ready(self, nodes: set[int]) -> bool:
        return bool(nodes) if self._home is None else nodes == {self._node_id}


class _Home(Protocol):
    """Where a broker of our own runs."""

    listen_host: str
    data_folder: str

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None: ...
    def has_exited(self) -> bool: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...
    def discard_data(self) -> None: ...
    def log_tail(self) -> str: ...


def _find_home(folder: Path) -> _Home:
    if _docker_has_image():
        return _DockerHome()
    java = _java_17_or_newer()
    if java and (_jar_folder().is_dir() or shutil.which("mvn")):
        return _JavaHome(folder, java)
    raise KafkaBrokerError(
        "These tests need a real Apache Kafka: install Java 17 (or newer) and Maven, or a Docker "
        f"engine that has the image {DOCKER_IMAGE}. Or set ILN_TEST_BOOTSTRAP to the host:port "
        "of a running broker."
    )


class _JavaHome:
    """Kafka as a child process on this machine's Java."""

    listen_host = "127.0.0.1"

    def __init__(self, folder: Path, java: str) -> None:
        self.data_folder = str(folder / "data")
        self._java = java
        self._properties_file = folder / "server.properties"
        self._log_file = folder / "broker.log"
        self._log_start = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None:
        self._properties_file.parent.mkdir(parents=True, exist_ok=True)
        self._properties_file.write_text(
            "".join(f"{name}={value}\n" for name, value in properties.items())
        )
        java = self._java_command(_fetched_jars())
        if not Path(self.data_folder, "meta.properties").exists():
            self._format_data_folder(java)
        with self._log_file.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [*java, "kafka.Kafka", str(self._properties_file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watcher = _run_when_this_process_dies(["kill", "-KILL", str(self._process.pid)])

    def has_exited(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_DEADLINE_SECONDS)
            self.kill()

    def kill(self) -> None:
        if self._watcher is not None:
            _call_off(self._watcher)
            self._watcher = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def discard_data(self) -> None:
        shutil.rmtree(self.data_folder, ignore_errors=True)

    def log_tail(self) -> str:
        with self._log_file.open("rb") as log:
            log.seek(self._log_start)
            return _last_lines(log.read().decode(errors="replace"))

    def _java_command(self, jars: Path) -> list[str]:
        log_configuration = (_RESOURCES / "log4j.properties").as_uri()
        return [
            self._java,
            *_JVM_TUNED_FOR_START,
            f"-Dlog4j.configuration={log_configuration}",
            "-cp",
            str(jars / "*"),
        ]

    def _format_data_folder(self, java: Sequence[str]) -> None:
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        formatting = ["kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}"]
        _output_of([*java, *formatting, "--config", str(self._properties_file)])


class _DockerHome:
    """Kafka in a container of the local Docker engine."""

    listen_host = "0.0.0.0"
    data_folder = "/var/lib/kafka/data"

    def __init__(self) -> None:
        self._container = f"iln-test-kafka-{uuid.uuid4().hex[:12]}"
        self._watcher: subprocess.Popen[bytes] | None = None

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None:
        if self._watcher is None:
            # A started container is kept over stop and kill: the data is in it.
            self._watcher = _run_when_this_process_dies(self._removal())
            creation = ["create", "--name", self._container]
            creation += ["--publish", f"127.0.0.1:{broker_port}:{broker_port}"]
            creation += ["--env", "KAFKA_HEAP_OPTS=-Xmx512M"]
            for name, value in properties.items():
                creation += ["--env", f"{_docker_variable(name)}={value}"]
            self._docker(*creation, DOCKER_IMAGE)
        self._docker("start", self._container)

    def has_exited(self) -> bool:
        return self._docker("inspect", "-f", "{{.State.Running}}", self._container) != "true"

    def stop(self) -> None:
        self._docker("stop", "--time", str(int(_STOP_DEADLINE_SECONDS)), self._container)

    def kill(self) -> None:
        if not self.has_exited():
            self._docker("kill", "--signal", "KILL", self._container)

    def discard_data(self) -> None:
        if self._watcher is not None:
            _call_off(self._watcher)
            self._watcher = None
            self._docker(*self._removal()[1:])

    def log_tail(self) -> str:
        return _last_lines(self._docker("logs", self._container))

    def _removal(self) -> list[str]:
        return ["docker", "rm", "--force", "--volumes", self._container]

    @staticmethod
    def _docker(*arguments: str) -> str:
        return _output_of(["docker", *arguments])


def _docker_variable(property_name: str) -> str:
    """The image's name for a property: '.', '_' and '-' become one, two and three underscores."""
    name = property_name.replace("_", "__").replace("-", "___").replace(".", "_")
    return f"KAFKA_{name.upper()}"


def _docker_has_image() -> bool:
    try:
        return bool(_output_of(["docker", "image", "inspect", DOCKER_IMAGE]))
    except KafkaBrokerError:
        return False


def _java_17_or_newer() -> str | None:
    java_home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{java_home}/bin") if java_home else None
    java = java or shutil.which("java")
    if java is None:
        return None
    version = re.search(r'version "(\d+)', _output_of([java, "-version"]))
    return java if version and int(version[1]) >= _OLDEST_JAVA else None


def _jar_folder() -> Path:
    cache = os.environ.get("ILN_CACHE")
    root = Path(cache) if cache else Path.home() / ".cache" / "iln_stream"
    return root.absolute() / f"kafka-{KAFKA_VERSION}"


def _fetched_jars() -> Path:
    """The folder with Kafka's jars; a folder of that name is always whole."""
    jars = _jar_folder()
    if jars.is_dir():
        return jars
    jars.parent.mkdir(parents=True, exist_ok=True)
    with (jars.parent / f"{jars.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jars.is_dir():
            partial = jars.parent / f"{jars.name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            _fetch_jars_with_maven(partial)
            partial.rename(jars)
    return jars


def _fetch_jars_with_maven(destination: Path) -> None:
    maven = ["mvn", "--quiet", "--batch-mode", "--file", str(_POM)]
    copying = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
    target = f"-DoutputDirectory={destination}"
    _output_of([*maven, *copying, target], _FETCH_DEADLINE_SECONDS)


def _output_of(command: Sequence[str], deadline: float = _START_DEADLINE_SECONDS) -> str:
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=deadline,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KafkaBrokerError(f"{command[0]} did not run to its end: {error}") from error
    if result.returncode:
        output = _last_lines(result.stdout)
        raise KafkaBrokerError(f"{' '.join(command)}\nfailed and said:\n{output}")
    return result.stdout.strip()


def _answering_nodes(bootstrap: str) -> set[int]:
    """The brokers that are ready to serve, as the one at `bootstrap` lists them."""
    host, _, port = bootstrap.split(",", maxsplit=1)[0].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=2).close()
        with KafkaAdminClient(bootstrap_servers=bootstrap, bootstrap_timeout_ms=5000) as admin:
            brokers = admin.describe_cluster()["brokers"]
            return {broker["broker_id"] for broker in brokers if not broker.get("is_fenced")}
    except (OSError, KafkaError):
        return set()


def _run_when_this_process_dies(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Unlike PR_SET_PDEATHSIG this does not fire when only the starting *thread* ends."""
    return subprocess.Popen(
        ["sh", "-c", 'read -r _; exec "$@"', "sh", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _call_off(watcher: subprocess.Popen[bytes]) -> None:
    watcher.kill()
    with watcher:  # closes the pipe and waits
        pass


def _free_ports() -> tuple[int, int]:
    candidates = random.SystemRandom().sample(_PORTS, k=200)
    broker_port, controller_port, *_ = filter(_is_free, candidates)
    return broker_port, controller_port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _last_lines(text: str, count: int = 40) -> str:
    return "\n".join(text.splitlines()[-count:])


def _needs_own_broker(what: str) -> KafkaBrokerError:
    return KafkaBrokerError(
        f"{what} needs a broker of our own, but ILN_TEST_BOOTSTRAP names one that is only borrowed."
    )
