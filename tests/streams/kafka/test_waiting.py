"""`wait_for_brokers`: waiting for brokers at the start."""

import socket
import threading
import time

import pytest
from support.ports import free_port

from iln_stream.errors import SourceError
from iln_stream.streams.kafka import wait_for_brokers


def test_one_of_several_is_enough():
    """If one of several brokers accepts connections, the call does not wait for the others."""
    with socket.create_server(("127.0.0.1", 0)) as broker:
        port = broker.getsockname()[1]
        assert wait_for_brokers(f"127.0.0.1:{free_port()}, 127.0.0.1:{port}", seconds=0)


def test_no_broker():
    """The call returns False after the given time."""
    assert not wait_for_brokers(f"127.0.0.1:{free_port()}", seconds=0.3)


@pytest.mark.parametrize(
    "address", ["nonsense", "host", "host:", ":9092", "host:9092x", "host:99999"]
)
def test_an_address_that_is_none(address):
    """It is refused at once, by its name and with an example."""
    with pytest.raises(SourceError, match=f"bootstrap = .*'{address}' is no address HOST:PORT"):
        wait_for_brokers(f"127.0.0.1:{free_port()},{address}", seconds=60)


def test_broker_that_starts_later():
    """A broker that starts during the wait is found."""
    port = free_port()

    def come():
        time.sleep(0.3)
        with socket.create_server(("127.0.0.1", port)):
            done.wait(30)

    done = threading.Event()
    coming = threading.Thread(target=come)
    coming.start()
    try:
        assert wait_for_brokers(f"127.0.0.1:{port}", seconds=30)
    finally:
        done.set()
        coming.join()
