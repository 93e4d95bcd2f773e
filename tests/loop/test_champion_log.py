"""`ChampionLog`: a promotion is a line in the run's log."""

import logging

from support.list_source import LIST

from iln_stream.loop import Details, Step
from iln_stream.loop.logs import ChampionLog


def step(offset, contender, late=False):
    details = Details(contender=contender)
    return Step(LIST, offset, None, None, {}, 1.0, 0.5, 0.1, (), late, details=details)


def test_a_new_champion_is_logged_once(caplog):
    """Whoever reads the log sees which learner predicts, and since when; a late label says what
    predicted long ago."""
    champions = ChampionLog("orders")
    with caplog.at_level(logging.INFO):
        for each in [
            *(step(0, "fast"), step(1, "fast"), step(2, "linear"), step(3, "linear")),
            *(step(4, "fast", late=True), step(5, "fast")),
        ]:
            champions.on_step(each)
    assert caplog.messages == [
        "orders: linear is the champion from offset 2 of list:0 on; before it was fast",
        "orders: fast is the champion from offset 5 of list:0 on; before it was linear",
    ]
