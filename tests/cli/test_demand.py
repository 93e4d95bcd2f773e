"""The endless stream of the demo."""

from itertools import islice

from iln_stream.cli.demo import SEASON, demand


def test_a_seed_names_one_stream():
    """The same seed gives the same events, another seed others."""
    first, again, other = (list(islice(demand(seed), 50)) for seed in (1, 1, 2))
    assert first == again
    assert [event["y"] for event in first] != [event["y"] for event in other]


def test_the_city_changes_between_seasons():
    """The same inputs mean other labels in another season, so that a learner has to adapt."""
    events = list(islice(demand(1), 2 * SEASON))

    def mean(part, hour):
        chosen = [e["y"] for e in part if int(e["id"][2:]) % 24 == hour]
        return sum(chosen) / len(chosen)

    before, after = events[:SEASON], events[SEASON:]
    shapes = [[mean(part, hour) - mean(part, 3) for hour in range(24)] for part in (before, after)]
    assert max(abs(a - b) for a, b in zip(*shapes, strict=True)) > 3.0
