"""`LiveModel`: remembers the latest of one learner, bounded, and the same after a restart."""

import json
import threading
from typing import NamedTuple

import pytest
from river import linear_model
from support.list_source import LIST, ListSource

from iln_stream.loop import Details, Regression, Step
from iln_stream.loop.live import (
    MOST_COMMANDS,
    MOST_LETTERS,
    MOST_PROMOTIONS,
    MOST_STEPS,
    About,
    LiveModel,
)
from iln_stream.loop.metrics import ModelMetrics
from iln_stream.records import DeadLetter
from iln_stream.state import pack


class Command(NamedTuple):
    """What the loop reports of a command, in part."""

    partition: int
    offset: int
    contender: str


def made():
    learner = linear_model.LinearRegression()
    watched = ModelMetrics(learner, ListSource([]), "m", Regression(), 10)
    live = LiveModel(watched)
    live.about = About("regression", "file.jsonl", "linear", "v1")
    return watched, live


def run(watched, live, begin, end):
    """Report the steps of these numbers to both, with some letters and commands between.

    Another contender predicts from every hundredth step on; each fourth is of a late label.
    """
    for n in range(begin, end):
        details = Details((), None, f"c{n // 100 % 3}") if n % 4 else Details()
        step = Step(
            LIST, n, str(n), None, {}, 1.0, 1.0 / (n + 1), 0.5, ended=1e9 * n, details=details
        )
        for listener in (watched, live):
            listener.on_step(step)
        if n % 5 == 0:
            live.on_dead_letter(DeadLetter.of("s", 0, n, b"?", "malformed"))
        if n % 9 == 0:
            live.on_command(Command(0, n, "linear"))


def test_serial_numbers():
    """The steps after a serial number are those that a client has not seen."""
    watched, live = made()
    run(watched, live, 0, 10)
    data = live.data(after=7)
    assert [step["serial"] for step in data["steps"]] == [8, 9, 10]
    assert (data["n"], data["model"], data["version"]) == (10, "m", "v1")
    assert [(c["serial"], c["contender"]) for c in data["commands"]] == [
        (1, "linear"),
        (10, "linear"),
    ]


def test_no_point_of_a_curve_is_lost():
    """A client that asks for what is new gets each point once, although steps come while the answer
    is made."""

    class Busy(LiveModel):
        def _rows(self, after=0):
            run(watched, self, self.n, self.n + 11)
            found = super()._rows(after)
            run(watched, self, self.n, self.n + 9)
            return found

    watched, _ = made()
    live = Busy(watched)
    live.about = About("regression", "file.jsonl", "linear", "v1")
    after, serials = 0, []
    for _ in range(40):
        data = live.data(after)
        serials += data["curves"]["serials"]
        after = data["steps"][-1]["serial"]
    assert serials == list(range(8, after + 1, 8))


def test_metrics_are_those_of_a_scrape():
    """The metrics are current, also between two batches of counts."""
    watched, live = made()
    run(watched, live, 0, 123)
    metrics = live.data(0)["metrics"]
    assert metrics["iln_events_total"] == 123.0
    assert metrics["iln_running_mae"] == watched.scores.running_error
    assert metrics["iln_baseline_mae"]["last_value"] == 0.0


def test_bounded():
    """After many events it holds a bounded number of each, and the JSON stays small."""
    watched, live = made()
    run(watched, live, 0, 3000)
    data = live.data(0)
    names = ("steps", "dead_letters", "commands", "promotions")
    counts = [len(data[name]) for name in names]
    assert counts == [MOST_STEPS, MOST_LETTERS, MOST_COMMANDS, MOST_PROMOTIONS]
    assert len(json.dumps(data)) < 300_000


@pytest.mark.parametrize("at", [0, 3, 1001])
def test_continues_from_a_state(at):
    """A run that is killed and resumed shows and saves the same as one that was not."""
    whole = made()
    run(*whole, 0, 1500)
    before = made()
    run(*before, 0, at)
    resumed = made()
    for new, old in zip(resumed, before, strict=True):
        new.restore(old.state())
    run(*resumed, at, 1500)
    ours, theirs = resumed[1].data(0), whole[1].data(0)
    for changing in ("metrics", "histograms"):
        del ours[changing], theirs[changing]
    assert ours == theirs
    assert pack(resumed[1].state())[1] == pack(whole[1].state())[1]


def test_promotions():
    """A promotion is noted at the first step that the new champion predicted; neither the first
    champion nor a late label, which no contender predicts, is a promotion."""
    watched, live = made()
    run(watched, live, 0, 350)
    assert live.data(0)["promotions"] == [
        {"serial": 102, "events": 102, "contender": "c1"},  # number 100 is of a late label
        {"serial": 202, "events": 202, "contender": "c2"},
        {"serial": 302, "events": 302, "contender": "c0"},
    ]


def test_state_of_the_loop():
    """It is learning after a step, idle after a poll that returned nothing, ended at the end."""
    watched, live = made()
    assert live.doing == "learning"
    run(watched, live, 0, 1)
    live.on_idle()
    assert live.doing == "idle"
    run(watched, live, 1, 2)
    assert live.doing == "learning"
    live.end()
    assert live.data(0)["state"] == "ended"


def test_standings():
    """The contenders of a contest are shown as JSON values, with the champion's version."""

    class Standing(NamedTuple):
        name: str
        status: str
        lower: float

    _, live = made()
    live.standings = lambda: (Standing("linear", "champion", float("-inf")),)
    row = {"name": "linear", "status": "champion", "lower": None, "version": None}
    assert live.data(0)["contenders"] == [row]
    assert live.data(0)["version"] == "v1"
    live.versions = {"linear": "v2"}
    assert live.data(0)["contenders"] == [{**row, "version": "v2"}]
    assert live.data(0)["version"] == "v2"


def test_numbers_while_steps_come():
    """While another thread adds steps, each step that is read has its own number."""
    _, live = made()
    ended = threading.Event()

    def add():
        n = 0
        while not ended.is_set():
            live.on_step(Step(LIST, n, None, None, {}, 1.0, 1.0, 0.0))
            n += 1

    adding = threading.Thread(target=add)
    adding.start()
    try:
        for _ in range(200):
            steps = live.data(0)["steps"]
            assert all(step["serial"] == step["offset"] + 1 for step in steps)
    finally:
        ended.set()
        adding.join()
    assert live.n > 200
