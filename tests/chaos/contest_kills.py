"""Kills the learner repeatedly while contenders are promoted, by command and by evidence."""

import json
import shutil
from pathlib import Path

from support import contenders

from chaos.learner_kills import Outcome, Plan, kill_learners
from chaos.logs import TestedLog
from chaos.stream import KeyedRecord, event
from iln_stream.records import promotion

_CHALLENGERS = {
    "linear": {"learner": "support.contenders:linear"},
    "mean": {"learner": "support.contenders:mean"},
    "pool": {"learner": "pool", "learner_options": {"size": 16}},
    "failing": {"learner": "support.contenders:Failing", "on_failure": "restart"},
}

_OFTEN = 400
"""Records from one promotion to the next."""

_FIRST = 4_000
"""Until then a challenger is promoted by evidence: the first champion predicts a constant."""

_NAMES = ("mean", "pool", "nobody", "failing", "linear", "mixture")


def with_promotions(number: int) -> KeyedRecord:
    """Return an event, or now and then a promotion, some of a contender that there is not."""
    if number >= _FIRST and number % _OFTEN == 0:
        return None, promotion(_NAMES[number // _OFTEN % len(_NAMES)])
    return event(number)


def kill_contests(log: TestedLog, folder: Path, plan: Plan) -> Outcome:
    """Feed a contest events and promotions, and kill it as planned: see `kill_learners`."""
    (folder / "support").mkdir()
    shutil.copy(contenders.__file__, folder / "support")  # the learner's process imports it
    return kill_learners(
        log,
        folder,
        plan,
        of_both=(
            *("--learner", "support.contenders:Constant", "--snapshot-pickle"),
            *("--learner-options", "{}"),
            *("--challengers", json.dumps(_CHALLENGERS), "--mixture"),
            *("--promotion", "evidence"),
        ),
        record=with_promotions,
    )
