"""Tables of the streams and the learners."""

from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.learners.lags import SUFFIX
from benchmarks.quality.streams import STREAMS
from benchmarks.quality.tables.table import Table


def streams() -> Table:
    """One row per stream, with its description."""
    lines = [[f"`{s.id}`", s.group, s.about] for s in STREAMS.values()]
    return Table("streams", ["id", "group", "what"], lines, n_left=3)


def learners() -> Table:
    """One row per learner, with its settings."""
    lines = [[f"`{c.id}`", c.title, c.settings] for c in CONTENDERS.values()]
    return Table("learners", ["id", "learner", "settings"], lines, n_left=3)


def settings() -> Table:
    """One row per learner without lags that has settings other than defaults."""
    shown = (c for c in CONTENDERS.values() if not c.id.endswith(SUFFIX))
    lines = [[c.title, c.settings] for c in shown if c.settings not in ("defaults", "raw inputs")]
    return Table("settings", ["learner", "settings"], lines, n_left=2)
