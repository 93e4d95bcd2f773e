"""Latency of /predict while a learner learns, and how much that slows the learner.

Usage: python -m benchmarks.api [--profile fast] [--rate 500] [--events 10000] [--seconds 20]

- *Latency*: a process appends events to an embedded log at a rate, `iln-stream run` learns and
  publishes them, `iln-stream serve` predicts, and a process sends requests at a rate, open loop. In
  turn with it, a bare server answers the same requests at once: what the machine itself costs.
- *Slowing*: the learner learns a full log as fast as it can, alone and beside the API under load,
  in turn. On a machine with few cores it also loses what the others use; `CPU per event` tells the
  two apart.

All CPU times are shares of one core.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from benchmarks.api.feed import feed

COMMAND = [sys.executable, "-c", "from iln_stream.cli import main; main()"]
TURNS = 4
_TICKS = os.sysconf("SC_CLK_TCK")
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def main() -> None:
    """Run both parts, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--rate", type=float, default=500.0, help="requests per second")
    parser.add_argument("--events", type=float, default=10_000.0, help="learned per second")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--full", type=int, default=300_000, help="events of the full log")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures: dict[str, Any] = {"options": {**vars(options), "json": None}}
    figures["latency"] = latency(options)
    print_latency(figures["latency"])
    if options.full:
        figures["slowing"] = slowing(options)
        print_slowing(figures["slowing"])
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=1))


def latency(options: argparse.Namespace) -> dict[str, Any]:
    """Return latencies and CPU shares while events arrive at a rate."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        address = f"sqlite:{folder / 'log.db'}"
        feed(address, 1e9, 5000)  # so that there is a model
        count = int(options.events * (2 * options.seconds + 60))
        with learner(folder, options) as run, api(folder) as (serve, url):
            arguments = [address, str(options.events), str(count)]
            with process("-m", "benchmarks.api.feed", *arguments) as feeder:
                sleep(3)
                watched = {"learner": run.pid, "feeder": feeder.pid}
                before, learned = {k: cpu(p) for k, p in watched.items()}, events_learned(url)
                begun = perf_counter()
                with process("-m", "benchmarks.api.bare") as bare:
                    assert bare.stdout is not None
                    servers = {"api": url, "bare": bare.stdout.readline().strip()}
                    sent = {name: [] for name in servers}
                    for _ in range(TURNS):
                        for name, place in servers.items():
                            used = cpu(serve.pid)
                            turn = send(place, options.rate, options.seconds / TURNS)
                            turn["cpu_of_api"] = cpu(serve.pid) - used
                            sent[name].append(turn)
                took = perf_counter() - begun
                found = {f"cpu_of_{k}": (cpu(p) - before[k]) / took for k, p in watched.items()}
                found["cpu_of_load"] = statistics.mean(each["cpu"] for each in sent["api"])
                found["learned_per_second"] = (events_learned(url) - learned) / took
                found["model_age"] = get(f"{url}/model")["age_seconds"]
    for name, parts in sent.items():
        all_ = sorted(value for each in parts for value in each["latencies"])
        found[name] = {
            "rate": statistics.mean(each["rate"] for each in parts),
            "errors": sum(each["errors"] for each in parts),
            "cpu_of_api": sum(each["cpu_of_api"] for each in parts) / options.seconds,
            **{f"p{100 * q:g}_ms": quantile(all_, q) for q in (0.5, 0.9, 0.99, 0.999)},
            "max_ms": 1e3 * all_[-1],
        }
    return found


def quantile(ordered: list[float], q: float) -> float:
    """Return a quantile in milliseconds."""
    return 1e3 * ordered[min(int(q * len(ordered)), len(ordered) - 1)]


def slowing(options: argparse.Namespace) -> dict[str, Any]:
    """Return events per second and CPU per event, alone and beside the API under load."""
    found: dict[str, Any] = {"alone": [], "beside": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        feed(f"sqlite:{folder / 'log.db'}", 1e9, options.full)
        for _ in range(options.repeats):
            found["alone"].append(learn_all(folder, options))
            with api(folder) as (_, url):
                found["beside"].append(learn_all(folder, options, url))
    for kind in ("alone", "beside"):
        for i, key in enumerate(("events_per_second", "cpu_us_per_event", "cpu_share")):
            found[f"{key}_{kind}"] = statistics.median(each[i] for each in found[kind])
    return found


def learn_all(
    folder: Path, options: argparse.Namespace, url: str | None = None
) -> tuple[float, float, float]:
    """Learn the whole log; return events per second, CPU us per event and the share of a core."""
    load = None
    with learner(folder, options, "--stop-at-end", "--metrics-port", "0") as run:
        metrics = metrics_url(run)
        while learned_of(metrics) < 2000:
            sleep(0.02)
        if url is not None:
            arguments = (url, "/predict", str(options.rate), "600")
            load = subprocess.Popen([sys.executable, "-m", "benchmarks.api.load", *arguments])
            sleep(0.5)
        begun, before, first = perf_counter(), cpu(run.pid), learned_of(metrics)
        last, used, took = first, 0.0, 0.0
        while run.poll() is None:
            try:
                last = learned_of(metrics)
            except OSError:
                break
            used, took = cpu(run.pid) - before, perf_counter() - begun
            sleep(0.05)
        if load is not None:
            load.kill()
            load.wait()
    return (last - first) / took, 1e6 * used / (last - first), used / took


@contextmanager
def process(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """Run Python in a process, and end it."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, *arguments], **pipes) as it:
        try:
            yield it
        finally:
            it.kill()


@contextmanager
def learner(
    folder: Path, options: argparse.Namespace, *flags: str
) -> Iterator["subprocess.Popen[str]"]:
    """Run `iln-stream run` on the folder's log."""
    arguments = [
        *("run", "--source", f"sqlite:{folder / 'log.db'}", "--start", "earliest"),
        *("--publish", str(folder / "models")),
        *("--learner-options", json.dumps({"profile": options.profile})),
        *(flags or ("--metrics-port", "0")),
    ]
    with process(*COMMAND[1:], *arguments) as run:
        yield run


@contextmanager
def api(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run `iln-stream serve`, and wait until it is ready."""
    arguments = ("serve", "--models", str(folder / "models"), "--port", "0")
    with process(*COMMAND[1:], *arguments, "--events", f"sqlite:{folder / 'log.db'}") as serve:
        assert serve.stderr is not None
        line = next(line for line in serve.stderr if "serving http" in line)
        found = re.search(r"http://[\d.:]+", line)
        assert found is not None
        while True:
            try:
                if get(f"{found[0]}/ready")["ready"]:
                    break
            except OSError:
                sleep(0.1)
        yield serve, found[0]


def send(url: str, rate: float, seconds: float) -> dict[str, Any]:
    """Send requests from a process of its own; return its figures."""
    arguments = (url, "/predict", str(rate), str(seconds))
    command = [sys.executable, "-m", "benchmarks.api.load", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def metrics_url(run: "subprocess.Popen[str]") -> str:
    """Return the URL of the learner's metrics, from its log."""
    assert run.stderr is not None
    for line in run.stderr:
        if found := re.search(r"http://\S+/metrics", line):
            return found[0]
    raise RuntimeError("the learner ended")


def learned_of(url: str) -> float:
    """Return the number of events learned, from the learner's metrics."""
    with _DIRECT.open(url, timeout=5) as answer:
        text = answer.read().decode()
    found = re.search(r"^iln_labelled_events_total\S* (\S+)", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def events_learned(url: str) -> int:
    """Return the number of events that the published version has learned."""
    return int(get(f"{url}/model")["n_learned"])


def get(url: str) -> Any:
    """Return the JSON at a URL."""
    with _DIRECT.open(url, timeout=5) as answer:
        return json.loads(answer.read())


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def print_latency(found: dict[str, Any]) -> None:
    """Print the first part."""
    names = ("p50", "p90", "p99", "p99.9", "max")
    for kind in ("api", "bare"):
        each = found[kind]
        times = ", ".join(f"{name} {each[f'{name}_ms']:.2f} ms" for name in names)
        print(f"{kind}: {each['rate']:.0f} requests/s, {each['errors']} errors: {times}")
    print(f"learned {found['learned_per_second']:,.0f} events/s;", end=" ")
    print(f"age of the model at the end {found['model_age']:.2f} s")
    names = ("learner", "feeder", "load")
    shares = [f"{name} {found[f'cpu_of_{name}']:.0%}" for name in names]
    shares.append(f"api {found['api']['cpu_of_api']:.0%}")
    print(f"CPU: {', '.join(shares)} (without requests {found['bare']['cpu_of_api']:.0%})")


def print_slowing(found: dict[str, Any]) -> None:
    """Print the second part."""
    for kind in ("alone", "beside"):
        print(
            f"learner {kind}: {found[f'events_per_second_{kind}']:,.0f} events/s, "
            f"{found[f'cpu_us_per_event_{kind}']:.1f} us of CPU per event, "
            f"{found[f'cpu_share_{kind}']:.0%} of a core"
        )
    ratio = found["cpu_us_per_event_beside"] / found["cpu_us_per_event_alone"]
    print(f"CPU per event: {ratio:.2f} times that alone")


if __name__ == "__main__":
    main()
