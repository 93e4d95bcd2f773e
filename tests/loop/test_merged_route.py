"""/live of several processes as one."""

import json
from typing import Any

import pytest

from iln_stream.service.merged import merged_live_route

Answer = dict[str, Any]


class Processes:
    """Stands for processes with two partitions each, of which one may be gone."""

    def __init__(self, *partitions):
        self.partitions = partitions
        self.started_at = [1e12 + i for i in range(len(partitions))]
        self.gone = set()
        self.queries = []

    def ask(self, queries):
        self.queries = queries
        return [None if i in self.gone else self._answer(i) for i in range(len(queries))]

    def _answer(self, i):
        models = [{"partition": str(p), "state": "learning"} for p in self.partitions[i]]
        return {"started_at": self.started_at[i], "models": models}


class Client:
    """Asks the merged route."""

    def __init__(self, processes, reasons=None):
        n = len(processes.partitions)
        self._route = merged_live_route(processes.ask, n, lambda: reasons or [])

    def get(self, query=""):
        heard = []
        body = b"".join(self._route({"QUERY_STRING": query}, lambda *given: heard.extend(given)))
        return heard[0], json.loads(body)


def partitions(answer):
    return [model["partition"] for model in answer["models"]]


def test_models_are_in_the_order_of_partitions():
    """As in one process, whichever process has a partition; 10 comes after 9."""
    status, answer = Client(Processes([0, 2, 10], [1, 9])).get()
    assert status == "200 OK"
    assert partitions(answer) == ["0", "1", "2", "9", "10"]
    assert answer["state"] == "learning"


def test_each_process_gets_its_numbers():
    """The client's numbers are in the order of the answer; a process gets those of its models."""
    processes = Processes([0, 2], [1, 3])
    client = Client(processes)
    client.get()
    client.get("after=10,11,12,13")
    assert processes.queries == ["after=10,12", "after=11,13"]
    client.get("after=7")
    assert processes.queries == ["after=7,7", "after=7,7"]


def test_a_process_that_is_gone():
    """Its models stay as they were, so that the others keep their places; when it is back, clients
    see another start and begin anew."""
    processes = Processes([0, 2], [1, 3])
    client = Client(processes, ["worker 1 waits to be started again"])
    _, before = client.get()
    processes.gone = {1}
    _, meanwhile = client.get("after=1,2,3,4")
    assert partitions(meanwhile) == ["0", "1", "2", "3"]
    assert meanwhile["started_at"] == before["started_at"]
    assert meanwhile["state"] == "waiting: worker 1 waits to be started again"
    processes.gone, processes.started_at[1] = set(), 2e12
    _, after = client.get()
    assert after["started_at"] == 2e12


def test_before_any_process_answers():
    """There are no models yet, and that is no error."""
    processes = Processes([0], [1])
    processes.gone = {0, 1}
    status, answer = Client(processes).get("after=3")
    assert (status, answer["models"], answer["state"]) == ("200 OK", [], "idle")


@pytest.mark.parametrize("query", ["after=x", "after="])
def test_a_number_that_is_none(query):
    """A serial number that is none is refused with the remedy."""
    status, answer = Client(Processes([0], [1])).get(query)
    assert status == "400 Bad Request"
    assert answer["error"].startswith("after: give the serial number")
