"""What a browser gets adds up to the whole, whatever it missed."""

import random

import pytest

from iln_stream.loop.live import Curves as LearnersCurves
from iln_stream.reporting import MetricSpec
from iln_stream.serving.page import Curves, Tail, Whole


def test_a_value_is_sent_when_it_has_changed():
    """A whole part is sent to browsers that are older than its last change."""
    part = Whole()
    part.update({"a": 1}, 3)
    part.update({"a": 1}, 4)
    assert [part.since(revision) for revision in (0, 2, 3, 4)] == [{"a": 1}, {"a": 1}, None, None]


def test_items_are_sent_once():
    """Items that the learner repeats are skipped; a browser gets those newer than its revision."""
    part = Tail(3)
    part.update([{"serial": 1}, {"serial": 2}], 1)
    part.update([{"serial": 2}, {"serial": 3}, {"serial": 4}], 2)
    assert part.last == 4
    assert part.since(0) == [{"serial": 2}, {"serial": 3}, {"serial": 4}]
    assert part.since(1) == [{"serial": 3}, {"serial": 4}]
    assert part.since(2) is None


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
        self.events = self.events[:kept] + found["events"]
        before = self.series if kept else {}
        self.series = {
            tuple(name): before.get(tuple(name), [])[:kept] + points
            for *name, points in found["series"]
        }


@pytest.mark.parametrize("seed", range(20))
def test_curves_add_up(seed):
    """Browsers that come and go, and miss revisions, have the learner's points.

    The learner thins them out several times, and a series appears in between.
    """
    rng = random.Random(seed)
    learners, part, n = LearnersCurves(), Curves(), 0
    weights = {"a": 0.5}
    specs = [
        MetricSpec("iln_drift", "gauge", "", lambda: n / 3),
        MetricSpec("iln_expert_weight", "gauge", "", lambda: dict(weights), "expert"),
    ]
    browsers, last = [], 0
    for revision in range(1, 200):
        for _ in range(rng.randrange(200)):
            n += 1
            if n == 3000:
                weights["b"] = 0.25
            if n == learners.due:
                learners.sample(n, n, specs)
        part.update(learners.data(last), revision)
        last = n
        if rng.random() < 0.1:
            browsers.append(Browser())
        for browser in browsers:
            if rng.random() < 0.3:
                browser.take(part, revision)
    assert learners.stride > 8
    expected = learners.data(0)
    for browser in browsers:
        browser.take(part, 200)
        assert browser.events == expected["events"]
        assert browser.series["iln_drift",] == pytest.approx(expected["series"]["iln_drift"], 1e-5)
        for name, points in expected["series"]["iln_expert_weight"].items():
            assert browser.series["iln_expert_weight", name] == points
    assert len(browsers) > 3


def test_points_have_six_digits():
    """More digits would be sent for nothing; a missing value stays one."""
    part = Curves()
    series = {"m": [1 / 3, None]}
    part.update({"stride": 8, "serials": [8, 16], "events": [8, 16], "series": series}, 1)
    assert part.since(0)["series"] == [["m", [0.333333, None]]]
