"""/live of a real run: equals /metrics, and is the same after a kill and a restart."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.embedded_log import append, settings_of
from support.running_command import Command
from support.saved_state import saved
from support.web import ask

from iln_stream.loop import Listener, Step
from iln_stream.service import Service, Settings


def event(number: int) -> bytes:
    if number % 50 == 49:
        return b'{"x": {"a": NaN}, "y": 1}'
    x = {"a": number % 7 / 7, "b": number % 3}
    return json.dumps({"x": x, "y": number % 5, "id": f"e{number}"}).encode()


def fill(path: Path, first: int, count: int) -> None:
    append(path, [event(number) for number in range(first, first + count)])


def settings(path: Path, **more: object) -> Settings:
    return settings_of(path, **{"metrics_port": 0, "prediction_intervals": (), **more})


def asked(n: int, given: Settings) -> tuple[dict[str, Any], str]:
    """Run a service, and return what /live and /metrics say at the n-th event."""
    pages = []

    class Asking(Listener):
        n_steps = 0

        def on_step(self, step: Step) -> None:
            self.n_steps += 1
            if self.n_steps == n:
                url = str(service.metrics_url)
                pages.extend(ask(each)[1] for each in (url.replace("/metrics", "/live"), url))

    service = Service(given, listeners=[Asking()])
    service.run()
    return json.loads(pages[0]), pages[1]


def scraped(page: str) -> dict[tuple[str, str | None], float]:
    """Return the samples of the model in a scrape, named as in /live."""
    found = {}
    first = ("version", "measure", "over", "bound", "of")
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if "model" not in sample.labels:
                continue
            others_first = [sample.labels[name] for name in first if name in sample.labels]
            own = sample.labels.keys() - {*first, "model", "partition"}
            *others, last = [*others_first, *(sample.labels[name] for name in own)] or [None]
            found["/".join([sample.name, *others]), last] = sample.value
    return found


@pytest.mark.parametrize(
    ("source", "learner"),
    [("river:TrumpApproval", "infinite-layer"), ("river:Phishing", "infinite-layer-classifier")],
)
def test_equals_metrics(source, learner):
    """What /live says at an event is what a scrape says then, of regression and classification."""
    live, page = asked(300, Settings(source=source, learner=learner, limit=300, metrics_port=0))
    (model,) = live["models"]
    flat = {}
    for name, value in model["metrics"].items():
        if isinstance(value, dict):
            flat.update({(name, label): v for label, v in value.items()})
        else:
            flat[name, None] = value
    samples = scraped(page)
    names = {name for name, _ in samples}
    assert {"iln_events_total", "iln_expert_weight", "iln_input_relevance_ratio"} < names
    clock = {("iln_last_progress_timestamp_seconds", None)}
    assert {key: v for key, v in flat.items() if v is not None and key not in clock} == {
        key: v for key, v in samples.items() if key not in clock and key[0] in model["metrics"]
    }
    histograms = {name.rsplit("_", 1)[0] for name in names - model["metrics"].keys()}
    assert histograms == set(model["histograms"])
    assert model["n"] == 300
    assert len(model["steps"]) == 256
    assert model["task"] == ("regression" if source.endswith("Approval") else "classification")
    last = model["steps"][-1]
    assert (last["serial"], last["offset"]) == (300, 299)
    assert (last["p"] is None) == (model["task"] == "regression")


def test_what_a_page_needs(path, monkeypatch):
    """A run with dead letters and snapshots shows both, with reasons, places and sizes."""
    fill(path, 0, 500)
    monkeypatch.setattr("iln_stream.service.recovery.SNAPSHOT_EVENTS", 100)
    live, _ = asked(480, settings(path))
    assert live["state"] == "learning"
    (model,) = live["models"]
    assert model["source"] == f"sqlite:{path}"
    assert [letter["offset"] for letter in model["dead_letters"]][:2] == [49, 99]
    assert model["dead_letters"][0]["reason"].startswith("x.a: expected a finite number")
    assert model["dead_letters"][0]["payload"] == event(49).decode()
    assert model["checkpoints"]
    assert model["checkpoints"][0]["positions"] == {"log-events:0": 0}
    assert all(each["bytes"] > 0 and each["seconds"] >= 0 for each in model["checkpoints"])
    curves = model["curves"]
    assert curves["serials"] == list(range(8, 481, 8))
    assert len(curves["series"]["iln_error/mae/window"]["model"]) == len(curves["serials"])


def shown(running: Command) -> dict[str, Any]:
    """Return what /live says of the model, without what depends on clocks or on the process."""
    status, text = running.answer("/live")
    assert status == 200
    (model,) = json.loads(text)["models"]
    of_process = ("checkpoints", "histograms", "state")
    metrics = {n: v for n, v in model["metrics"].items() if not re.search("snapshot|progress", n)}
    return {name: v for name, v in model.items() if name not in of_process} | {"metrics": metrics}


@pytest.mark.thorough
def test_the_same_after_a_kill(path, tmp_path):
    """After SIGKILL and a restart /live shows the same, to the last bit: metrics, curves, steps and
    dead letters."""
    fill(path, 0, 1300)
    run = ["run", "--source", f"sqlite:{path}", "--learner", "pool", "--metrics-port", "0"]
    run += ["--snapshots", "state"]

    def all_learned(now):
        return now.get("iln_events_total", 0) + now.get("iln_dead_letters_total", 0) >= 1300

    with Command(tmp_path, *run) as first:
        first.wait_for_metrics(all_learned)
        before = shown(first)
        first.kill()
    at = saved(path.parent / "state", "log-events").header.positions["log-events", 0]
    assert at < 1300  # so that some of it is learned again
    with Command(tmp_path, *run) as second:
        second.wait_for_metrics(all_learned)
        assert shown(second) == before
        _, text = second.answer("/live")
        assert json.loads(text)["models"][0]["checkpoints"][0]["positions"]["log-events:0"] <= at
        assert second.terminate() == 0, second.said


def test_bad_requests(path):
    """A serial number that is none is refused with the remedy, and so is another method."""
    fill(path, 0, 20)
    running = Service(settings(path))
    running.serve_metrics()
    url = running.metrics_url.replace("/metrics", "/live")
    for wrong in ("after=x", "after=", "after=1,y"):
        status, said = ask(f"{url}?{wrong}")
        assert (status, "after: give the serial number" in said) == (400, True)
    assert ask(url, "POST", b"{}")[0] == 405
    assert json.loads(ask(f"{url}?after=3")[1])["models"][0]["n"] == 0
    assert json.loads(ask(url)[1])["state"].startswith(("learning", "waiting: compiling"))
    running.close()


@pytest.mark.parametrize(
    ("metrics_host", "expected"), [("127.0.0.1", 421), ("::1", 421), ("0.0.0.0", 200)]
)
def test_other_hosts(path, metrics_host, expected):
    """On loopback a request must name this machine, so that no web page reads ids and labels under
    a name of its own; where other machines may ask, names of this one are not known."""
    fill(path, 0, 20)
    running = Service(settings(path, metrics_host=metrics_host))
    running.serve_metrics()
    url = running.metrics_url.replace("/metrics", "/live").replace("0.0.0.0", "127.0.0.1")
    try:
        hosts = ("evil.example", "evil.example:9108", "127.0.0.1.evil.example")
        assert {ask(url, Host=host)[0] for host in hosts} == {expected}
        hosts = ("127.0.0.1", "LocalHost:9108", "[::1]:9108")
        assert {ask(url, Host=host)[0] for host in hosts} == {200}
        assert ask(url.replace("/live", "/metrics"), Host="prometheus.example")[0] == 200
    finally:
        running.close()


@pytest.mark.parametrize("more", [{"live": False}, {"metrics_port": None}])
def test_off(path, more):
    """Without /live there is no route, and snapshots have no state of it."""
    fill(path, 0, 20)
    running = Service(settings(path, **more))
    running.serve_metrics()
    if running.metrics_url is not None:
        assert ask(running.metrics_url.replace("/metrics", "/live"))[0] == 404
    running.run()
    assert saved(path.parent / "state", "log-events").state["live"] is None
