"""A real one-node Apache Kafka for the tests.

It is, in this order: the running broker that ILN_TEST_BOOTSTRAP names, a container of an image
the local Docker engine already has, or a Java process whose jars Maven fetches once.

`python -m support.kafka_broker` runs one of its own in the foreground, as `make kafka` does.
"""

import argparse
import atexit
import contextlib
import os
import random
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from support.cache import cache
from support.kafka_docker import DOCKER_IMAGE, DockerHome, docker_has_image
from support.kafka_home import KAFKA_VERSION, START_DEADLINE_SECONDS, Home, KafkaBrokerError
from support.kafka_java import JARS, JavaHome, java_17_or_newer
from support.ports import free_ports

_PORT_ATTEMPTS = 5

_PORT_TAKEN = re.compile(r"address already in use|port is already allocated", re.IGNORECASE)


class KafkaBroker:
    """One broker, started on a free loopback port, or on `port`, with its data below `folder`.

    `overrides` are added to server.properties, where `{broker_port}` and `{controller_port}` stand
    for the ports; `borrow=False` leaves ILN_TEST_BOOTSTRAP aside.
    Data and ports outlive stop(), kill() and restart(); close() ends the broker and deletes its
    data.
    """

    def __init__(
        self,
        folder: Path,
        overrides: Mapping[str, str] | None = None,
        port: int | None = None,
        *,
        borrow: bool = True,
    ) -> None:
        self._overrides = dict(overrides or {})
        self._bootstrap = os.environ.get("ILN_TEST_BOOTSTRAP", "") if borrow else ""
        self._home = None if self._bootstrap else _find_home(folder)
        # Random, so that a broker of other tests which took our port is not mistaken for ours.
        self._node_id = random.SystemRandom().randrange(1, 1_000_000)
        self._wanted_port = port
        self._ports: tuple[int, int] | None = None
        self._running = False
        if self._home is None and self._overrides:
            raise _needs_own_broker("overrides of server.properties")
        atexit.register(self.close)

    @property
    def bootstrap(self) -> str:
        """Address (host:port) for clients, known after the start."""
        if not self._bootstrap:
            raise KafkaBrokerError("The broker has no address before its first start().")
        return self._bootstrap

    def start(self) -> None:
        """Start the broker and wait until it answers; only check a running one."""
        if self._running or self._home is None:
            self._wait_until_it_answers(self.bootstrap)
        elif self._ports is not None:
            self._launch(self._home, self._ports)
        else:
            self._launch_on_free_ports(self._home)

    def stop(self) -> None:
        """Shut the broker down cleanly."""
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

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Suspend the broker with its connections open, like one that is too slow."""
        if self._home is None:
            raise _needs_own_broker("paused()")
        self._home.pause(True)
        try:
            yield
        finally:
            self._home.pause(False)

    def restart(self) -> None:
        """Stop the broker if it runs, and start it with the same data and ports."""
        if self._home is None:
            raise _needs_own_broker("restart()")
        self.stop()
        self.start()

    def wait(self) -> None:
        """Wait while the broker runs; raise if it ends by itself."""
        while self._home is None or not self._home.has_exited():
            time.sleep(1)
        raise self._did_not_go_on(self._home, self.bootstrap, "exited")

    def close(self) -> None:
        """End the broker and delete its data; its log file stays."""
        atexit.unregister(self.close)
        self.stop()
        if self._home is not None:
            self._home.discard_data()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _launch_on_free_ports(self, home: Home) -> None:
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            ports = _free_ports(self._wanted_port)
            try:
                self._launch(home, ports)
            except KafkaBrokerError as error:
                home.discard_data()
                if attempt == _PORT_ATTEMPTS or not _PORT_TAKEN.search(str(error)):
                    raise
            else:
                self._ports = ports
                return

    def _launch(self, home: Home, ports: tuple[int, int]) -> None:
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
        deadline = time.monotonic() + START_DEADLINE_SECONDS
        while not self._is_ready(_answering_nodes(bootstrap)):
            exited = home is not None and home.has_exited()
            if exited or time.monotonic() > deadline:
                problem = "exited" if exited else f"gave no answer in {START_DEADLINE_SECONDS:g} s"
                raise self._did_not_go_on(home, bootstrap, problem)
            time.sleep(0.05)

    @staticmethod
    def _did_not_go_on(home: Home | None, bootstrap: str, problem: str) -> KafkaBrokerError:
        log = f"; the end of its log:\n{home.log_tail()}" if home else ""
        return KafkaBrokerError(f"The Kafka broker at {bootstrap} {problem}{log}")

    def _is_ready(self, nodes: set[int]) -> bool:
        return bool(nodes) if self._home is None else nodes == {self._node_id}


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
        # Some tests write records of years ago, which must outlive the check every five minutes.
        "log.retention.ms": "-1",
        # A killed broker may register again only when its old session is over: 9 s by default.
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "500",
        **{
            name: value.format(broker_port=broker_port, controller_port=controller_port)
            for name, value in overrides.items()
        },
    }


def _find_home(folder: Path) -> Home:
    if docker_has_image():
        return DockerHome()
    java = java_17_or_newer()
    if java and ((cache() / JARS).is_dir() or shutil.which("mvn")):
        return JavaHome(folder, java)
    raise KafkaBrokerError(
        "These tests need a real Apache Kafka: install Java 17 (or newer) and Maven, or a Docker "
        f"engine that has the image {DOCKER_IMAGE}. Or set ILN_TEST_BOOTSTRAP to the host:port "
        "of a running broker."
    )


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


def _free_ports(wanted: int | None) -> tuple[int, int]:
    """Return a port for the broker, by default a free one, and one for its controller."""
    own, controller_port = free_ports(2)
    if wanted is None:
        return own, controller_port
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", wanted), timeout=2):
        raise KafkaBrokerError(
            f"Something listens on 127.0.0.1:{wanted} already; use --port (make kafka PORT=9192)."
        )
    return wanted, controller_port


def _needs_own_broker(what: str) -> KafkaBrokerError:
    return KafkaBrokerError(
        f"{what} needs a broker of our own, but ILN_TEST_BOOTSTRAP names one that is only borrowed."
    )


def main() -> int:
    """Run a broker in the foreground until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="support.kafka_broker", description=main.__doc__)
    parser.add_argument("--port", type=int, default=9092, help="port on 127.0.0.1 (9092)")
    port = parser.parse_args().port
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"Starting Apache Kafka {KAFKA_VERSION} (its jars are fetched once) ...", flush=True)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="iln-kafka-") as folder,
            KafkaBroker(
                Path(folder), {"auto.create.topics.enable": "true"}, port, borrow=False
            ) as broker,
        ):
            print(f"Kafka listens on {broker.bootstrap} until Ctrl-C; its data goes with it.")
            sys.stdout.flush()
            broker.wait()
    except KeyboardInterrupt:
        return 0
    except KafkaBrokerError as error:
        print(error, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
