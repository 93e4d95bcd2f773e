"""What a browser gets adds up to the whole, whatever it missed."""

import asyncio
import copy
import json
import random

import pytest
from support.live_answer import live

from iln_stream.loop.live import SampledCurves
from iln_stream.reporting import MetricSpec
from iln_stream.serving.page import Board, Flow, GrowingCurves


@pytest.fixture
def board():
    """A board that has two answers."""
    made = Board("http://learner", 10.0)
    made.update(live(20), 11.0)
    made.update(live(30), 12.0)
    return made


def test_a_new_browser_gets_everything(board):
    """The first message has all parts, and says that nothing before counts."""
    message = json.loads(board.message(0))
    (model,) = message["models"].values()
    assert message["whole"]
    assert message["run"]["models"] == ["model/0"] == list(message["models"])
    assert message["page"]["state"] == "reached"
    assert len(model["steps"]) == 30
    assert model["curves"]["events"] == [8, 16, 24]
    assert model["head"]["learner"] == "learner"


def test_another_gets_what_is_new(board):
    """Later messages have only what has changed, however many revisions were missed."""
    before = board.revision
    board.update(live(40), 13.0)
    board.update(live(50), 14.0)
    message = json.loads(board.message(before))
    (model,) = message["models"].values()
    assert not message["whole"]
    assert message.keys() == {"whole", "models"}
    assert model.keys() == {"metrics", "steps", "curves", "flow"}
    assert [step["serial"] for step in model["steps"]] == list(range(31, 51))
    assert model["curves"] == {
        "kept": 3,
        "events": [32, 40, 48],
        "series": [["iln_recent_error_ratio", [1.0, 1.0, 1.0]]],
    }


def test_a_restarted_learner_begins_anew(board):
    """A new process of the learner replaces all that was known, for every browser."""
    before = board.revision
    board.update(live(8, started_at=6.0), 15.0)
    message = json.loads(board.message(before))
    (model,) = message["models"].values()
    assert message["whole"]
    assert len(model["steps"]) == 8


def test_a_lost_learner_keeps_its_data(board):
    """Only the connection's state changes, once, with the time since when."""
    before = board.revision
    board.lost("gone", "refused", 20.0)
    board.lost("gone", "refused", 21.0)
    assert json.loads(board.message(before)) == {
        "whole": False,
        "page": {"learner": "http://learner", "state": "gone", "problem": "refused", "since": 20.0},
        "models": {},
    }
    assert len(json.loads(board.message(0))["models"]) == 1
    board.update(live(31), 25.0)
    assert json.loads(board.message(before))["page"]["since"] == 25.0


def test_it_asks_for_what_it_lacks(board):
    """The learner is asked for steps after the last one, of each model."""
    two = live(3, started_at=7.0)
    two["models"].append(copy.deepcopy(two["models"][0]) | {"partition": "1"})
    two["models"][1]["steps"].pop()
    assert Board("http://learner", 0.0).after == "0"
    assert board.after == "30"
    board.update(two, 16.0)
    assert board.after == "3,2"


def test_answers_of_another_program_are_refused(board):
    """An answer without the parts is an error, and nothing has changed."""
    before = board.revision
    for wrong in ({}, {"started_at": 5.0, "models": [{}]}, []):
        with pytest.raises((KeyError, TypeError)):
            board.update(wrong, 17.0)
    assert board.revision == before


def test_waiting_for_news():
    """A browser waits for a newer revision, not for one that it has missed."""

    async def waits():
        board = Board("http://learner", 0.0)
        board.update(live(1), 1.0)
        assert await board.newer_than(0, 0.0)
        assert not await board.newer_than(board.revision, 0.01)
        waiting = asyncio.create_task(board.newer_than(board.revision, 30.0))
        await asyncio.sleep(0)
        board.update(live(2), 2.0)
        assert await waiting

    asyncio.run(waits())


def test_rate_over_the_last_seconds():
    """The rate is that of the last five seconds: a pause is seen soon, and no burst is lost."""
    flow = Flow()
    points = [flow.point(t, min(t, 10) * 20, 0) for t in range(20)]
    assert points[0]["rate"] is None
    assert [points[t]["rate"] for t in (1, 5, 10)] == [20.0, 20.0, 20.0]
    assert points[12]["rate"] == 12.0
    assert points[15]["rate"] == 0.0
    assert [point["serial"] for point in points] == list(range(1, 21))


def test_a_restarted_learner_has_no_negative_rate():
    """A learner that resumes from an earlier snapshot has fewer events than before."""
    flow = Flow()
    flow.point(0, 1000, 0)
    assert flow.point(1, 700, 5) == {"serial": 2, "time": 1, "rate": None, "lag": 5}
    assert flow.point(2, 750, 0)["rate"] == 50.0


class Browser:
    """Keeps curves as store.js does."""

    def __init__(self):
        self.revision, self.events, self.series = 0, [], {}

    def take(self, part, revision):
        found = part.since(self.revision)
        self.revision = revision
        if found is None:
            return
        kept = found["kept"]
        first = len(self.events) - kept
        self.events = self.events[first:] + found["events"]
        before = self.series if kept else {}
        self.series = {
            tuple(name): before.get(tuple(name), [])[first:] + points
            for *name, points in found["series"]
        }


@pytest.mark.parametrize(("seed", "last"), [(0, None), (1, None), (2, None), (3, 40)])
def test_curves_add_up(seed, last):
    """Browsers that come and go, and miss revisions, have the learner's points.

    The learner thins them out several times, or keeps the last ones, and a series appears in
    between.
    """
    rng = random.Random(seed)
    learners, part, n = SampledCurves(last=last), GrowingCurves(last), 0
    weights = {"a": 0.5}
    specs = [
        MetricSpec("iln_recent_error_ratio", "gauge", "", lambda: n / 3),
        MetricSpec("iln_expert_weight", "gauge", "", lambda: dict(weights), "expert"),
    ]
    browsers, asked = [], 0
    for revision in range(1, 200):
        for _ in range(rng.randrange(200)):
            n += 1
            if n == 3000:
                weights["b"] = 0.25
            if n == learners.due:
                learners.sample(n, n, specs)
        part.update(learners.data(asked), revision)
        asked = n
        if rng.random() < 0.1:
            browsers.append(Browser())
        for browser in browsers:
            if rng.random() < 0.3:
                browser.take(part, revision)
    assert (learners.stride > 8) == (last is None)
    expected = learners.data(0)
    for browser in browsers:
        browser.take(part, 200)
        assert browser.events == expected["events"]
        assert browser.series["iln_recent_error_ratio",] == pytest.approx(
            expected["series"]["iln_recent_error_ratio"], 1e-5
        )
        for name, points in expected["series"]["iln_expert_weight"].items():
            assert browser.series["iln_expert_weight", name] == points
    assert len(browsers) > 3


def test_points_have_six_digits():
    """More digits would be sent for nothing; a missing value stays one."""
    part = GrowingCurves()
    series = {"m": [1 / 3, None]}
    part.update({"stride": 8, "serials": [8, 16], "events": [8, 16], "series": series}, 1)
    assert part.since(0)["series"] == [["m", [0.333333, None]]]
