"""Rewrites the table in docs/restart.md: which settings a running deployment may change.

What needs a rebuild is read from the code: a setting that changes the configuration stored in a
snapshot (`service/recovery.py`) makes a run refuse that snapshot.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generated import rewritten_part

from iln_stream.service import SETTING_GROUPS, Settings
from iln_stream.service.learners import OF_CONTEST
from iln_stream.service.recovery import configuration

PAGE = Path(__file__).parent / "restart.md"

OF_FOLDER = ("source", "topic", "partitions", "learner_per", "horizon", "snapshots")
"""Settings that name the folders of snapshots: with another value a run looks elsewhere."""

OF_FIRST_RUN = ("start", "warm_start", "warm_start_fields")
"""Settings that a run with a snapshot does not use, but a rebuild does."""

BASE: dict[str, Any] = {
    "target": "y",
    "id_field": "id",
    "pending_events": 10,
    "labels": "kafka:labels",
    "challengers": {"one": {"learner": "pool"}},
}
"""Settings of a run in which every other setting can matter."""

OTHER: dict[str, Any] = {
    "labels": "kafka:other",
    "labels_settings": {"target": "other"},
    "challengers": {"one": {"learner": "pool", "seed": 7}},
    "horizon": ("6",),
    "learner_options": {"other": 1},
    "profile": "fast",
}
"""Other values of settings that are parsed; of the rest, any value shows that it is stored."""


def rebuilt() -> set[str]:
    """Return the settings that change the configuration of a snapshot."""
    base = Settings(**BASE)
    before = configuration(base)
    found = set()
    for name in Settings.model_fields:
        changed = base.model_copy(update={name: OTHER.get(name, "another value")})
        if configuration(changed) != before:
            found.add(name)
    return found


def classes() -> dict[str, list[str]]:
    """Return all settings by what a change of them means, in the order of settings.md."""
    stored = rebuilt()
    found: dict[str, list[str]] = {each: [] for each in MEANINGS}
    for name in (name for names in SETTING_GROUPS.values() for name in names):
        if name in OF_FOLDER:
            kind = "another model"
        elif name in OF_CONTEST:
            kind = "special rules"
        elif name in stored:
            kind = "needs a rebuild"
        elif name in OF_FIRST_RUN:
            kind = "no effect"
        else:
            kind = "may change"
        found[kind].append(name)
    return found


MEANINGS = {
    "needs a rebuild": "the run refuses the snapshot, names the setting, and ends with exit code 2",
    "another model": "these settings name the folder of the snapshots",
    "special rules": "see [challengers that come and go]"
    "(champion_and_challengers.md#challengers-that-come-and-go)",
    "no effect": "the run resumes from its snapshot and does not use them; a rebuild does",
    "may change": "the run resumes with the new value",
}


def table() -> str:
    """Return the settings as a table."""
    rows = ["| change | what happens | settings |", "|---|---|---|"]
    for kind, names in classes().items():
        rows.append(f"| **{kind}** | {MEANINGS[kind]} | {_listed(names)} |")
    return "\n".join(rows)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def rewritten(text: str) -> str:
    """Return the page's text with the table between its markers brought up to date."""
    return rewritten_part(text, "changes", table())


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
