"""/live: the latest of one learner, its rows, and the answer for all models."""

import json
import math
import threading
from typing import NamedTuple

import pytest
from river import linear_model
from support.list_source import LIST, ListSource

from iln_stream.loop import Classification, Details, Regression, Step
from iln_stream.loop.live import (
    LONGEST,
    MOST_COMMANDS,
    MOST_ENTRIES,
    MOST_LETTERS,
    MOST_PROMOTIONS,
    MOST_STEPS,
    About,
    LiveModel,
    cut,
    live_route,
    plain,
    row_of_letter,
    row_of_step,
)
from iln_stream.loop.metrics import ModelMetrics
from iln_stream.records import Command, DeadLetter
from iln_stream.state import pack

CLASSES = Classification()


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
            live.on_command(Command("list", 0, n, None, "promote", "linear"))


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
    assert metrics["iln_error/mae/all"]["model"] == watched.scores.running_error
    assert metrics["iln_error/mae/window"]["last_value"] == 0.0


def test_bounded():
    """After many events it holds a bounded number of each, and the JSON stays small."""
    watched, live = made()
    run(watched, live, 0, 3000)
    data = live.data(0)
    names = ("steps", "dead_letters", "commands", "promotions")
    counts = [len(data[name]) for name in names]
    assert counts == [MOST_STEPS, MOST_LETTERS, MOST_COMMANDS, MOST_PROMOTIONS]
    assert len(json.dumps(data)) < 300_000


def test_continues_from_a_state():
    """A run that is killed and resumed shows and saves the same as one that was not."""
    whole = made()
    run(*whole, 0, 1500)
    before = made()
    run(*before, 0, 1001)
    resumed = made()
    for new, old in zip(resumed, before, strict=True):
        new.restore(old.state())
    run(*resumed, 1001, 1500)
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


def test_curves_of_classes_before_one_is_known():
    """The points of classes have no label, also if the label came before any prediction."""
    watched = ModelMetrics(linear_model.LogisticRegression(), ListSource([]), "m", CLASSES, 10)
    live = LiveModel(watched)
    live.about = About("classification", "file.jsonl", "linear", "v1")
    for n in range(256):
        step = Step(LIST, n, None, 60.0 * n, {}, "low", {}, 0.0)
        watched.on_step(step)
        live.on_step(step)
    found = live.data(0)
    assert found["curves"]["series"]["step"].keys() == {"time"}
    assert found["recent"]["serials"] == [256]
    assert found["calibration"] is None


def test_standings():
    """Contenders are JSON values, with the champion's version and the whole reason of a failure."""

    class Standing(NamedTuple):
        name: str
        status: str
        lower: float
        last_failure: str

    _, live = made()
    why = "KeyError: " + 90 * "wind "
    live.standings = lambda: (Standing("linear", "champion", float("-inf"), why),)
    row = {"name": "linear", "status": "champion", "lower": None, "version": None}
    row["last_failure"] = why
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


def step(**values):
    made = Step(LIST, 7, "a", 5.0, {"x": 1.0}, 1.0, 2.0, 0.5, ("shrunk",), False, 0.1, 9.0)
    return made._replace(**values)


def test_step():
    """A row has what the page shows of a step, and not its inputs."""
    of_shop = step(x={"n": 1.0, "shop=b=1": 1.0}, details=Details(((1.0, 3.0), (0.0, 4.0))))
    row = row_of_step(3, of_shop, ["shop"])
    assert row == {
        "serial": 3, "stream": "list", "partition": 0, "offset": 7, "id": "a", "time": 5.0,
        "series": ["b=1"], "y": 1.0, "y_pred": 2.0, "p": None, "interval": [1.0, 3.0], "loss": 0.5,
        "flags": ["shrunk"], "late": False, "delay": None, "contender": None,
    }  # fmt: skip


def test_most_probable_class():
    """Of probabilities, the row has the most probable class, in its own type, and its own one."""
    row = row_of_step(1, step(y=True, y_pred={False: 0.25, True: 0.75}))
    assert (row["y"], row["y_pred"], row["p"]) == (True, True, 0.75)
    row = row_of_step(1, step(y=None, y_pred={}))
    assert (row["y_pred"], row["p"]) == (None, None)


def test_rows_are_json():
    """Numbers that are not finite are null, and long texts are cut."""
    row = row_of_step(1, step(event_id="i" * 999, loss=math.inf, y="c" * 999, delay=math.nan))
    assert len(row["id"]) == len(row["y"]) == LONGEST
    assert json.loads(json.dumps(row, allow_nan=False))["loss"] is None


def test_letter():
    """A dead letter shows an excerpt of its payload only."""
    row = row_of_letter(4, DeadLetter.of("s", 0, 9, b"p" * 9999, "r" * 9999))
    assert (row["serial"], row["offset"], len(row["payload"])) == (4, 9, LONGEST)
    assert len(row["reason"]) == LONGEST


def test_plain():
    """Whatever a contest or a metric returns becomes a bounded JSON value."""
    many = dict.fromkeys(range(1000), math.nan)
    assert len(plain(many)) == len(plain(list(range(1000)))) == MOST_ENTRIES
    assert plain({"a": (1, None, math.inf)}) == {"a": [1, None, None]}
    assert plain(object()).startswith("<object")
    assert cut("ab") == "ab"


def stepped(n_steps=0):
    _, live = made()
    for n in range(n_steps):
        live.on_step(Step(LIST, n, None, None, {}, 1.0, 1.0, 0.0))
    return live


def ask(models, query="", reasons=()):
    """Return the status, the headers and the JSON of an answer."""
    heard = []
    application = live_route(lambda: models, lambda: reasons)
    body = b"".join(application({"QUERY_STRING": query}, lambda *given: heard.extend(given)))
    status, headers = heard
    return status, dict(headers), json.loads(body)


@pytest.mark.parametrize(
    ("states", "reasons", "expected"),
    [
        (["learning", "idle", "ended"], [], "learning"),
        (["idle", "ended"], [], "idle"),
        (["ended", "ended"], [], "ended"),
        ([], ["learning the history"], "waiting: learning the history"),
        (["learning"], ["a", "b"], "waiting: a; b"),
    ],
)
def test_state(states, reasons, expected):
    """The process waits if it has a reason; else it does what the busiest of its models does."""
    models = [stepped() for _ in states]
    for model, state in zip(models, states, strict=True):
        if state == "idle":
            model.on_idle()
        elif state == "ended":
            model.end()
    assert ask(models, reasons=reasons)[2]["state"] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("", [5, 3]), ("after=2", [3, 1]), ("after=2,0", [3, 3]), ("after=4", [1, 0])],
)
def test_after(query, expected):
    """A number is for all models; several numbers are for one each."""
    models = ask([stepped(5), stepped(3)], query)[2]["models"]
    assert [len(model["steps"]) for model in models] == expected


@pytest.mark.parametrize("query", ["after=x", "after=", "after=1&after=2", "after=1,,2"])
def test_bad_number(query):
    """A serial number that is none is refused with the remedy."""
    status, _, found = ask([stepped(5)], query)
    assert status == "400 Bad Request"
    assert found["error"].startswith("after: give the serial number")


def test_each_answer_has_its_own_headers():
    """The server adds the length to the headers of an answer, which must not reach the next."""
    application = live_route(list, list)
    heard = []
    for _ in range(2):
        application({}, lambda status, headers: heard.append(headers))
        heard[-1].append(("Content-Length", "1"))
    assert [name for name, _ in heard[1]].count("Content-Length") == 1
