"""Rates by the clock."""

from iln_stream.serving.page import Flow


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
