"""docs/restart.md and the options of learners say what the code does."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from support.document import DOCS
from support.embedded_log import append
from support.saved_state import saved

from iln_stream.errors import RefusedError
from iln_stream.service import Service, Settings, SettingsError
from iln_stream.service.learners import build_learner
from iln_stream.service.recovery import Recovery
from iln_stream.service.streams import readers, source_stream

CHANGING = runpy.run_path(str(DOCS / "changing_table.py"))
OPTIONS = runpy.run_path(str(DOCS / "learner_options_table.py"))

OTHER: dict[str, Any] = {
    "snapshot_seconds": 1.0,
    "snapshot_keep": 2, "snapshot_pickle": True, "publish": "models", "version_days": 1.0,
    "predictions": "sqlite:log.db#other", "prediction_intervals": (0.5,),
    "prediction_contributions": 1, "transactional": False, "dead_letters": "letters.jsonl",
    "live": False, "window": 3, "model": "another", "log_level": "debug",
    "log_format": "json",
}  # fmt: skip
"""Other values of settings that may change, as far as a run of an embedded log has them."""


def settings(folder: Path, **more: Any) -> Settings:
    """Return settings of a run in which as many settings as possible can matter."""
    here = f"sqlite:{folder / 'log.db'}"
    return Settings(
        **{
            **CHANGING["BASE"], "source": here, "labels": f"{here}#labels", "challengers": {},
            "snapshots": str(folder / "state"),
            "stop_at_end": True, "metrics_port": None, "predictions": f"{here}#predictions",
            **more,
        }
    )  # fmt: skip


@pytest.fixture
def learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a run has saved a snapshot."""
    monkeypatch.chdir(tmp_path)
    append(tmp_path / "log.db", [b'{"id": "%d", "a": %d}' % (n, n % 7) for n in range(20)])
    labels = [b'{"id": "%d", "y": %d}' % (n, n % 5) for n in range(20)]
    append(tmp_path / "log.db", labels, "labels")
    Service(settings(tmp_path)).run()
    return tmp_path


@pytest.mark.thorough
def test_what_needs_a_rebuild_is_refused(learned: Path) -> None:
    """A run refuses the snapshot if any of the settings that the page lists is another one."""
    base = settings(learned)
    stream = source_stream(base)
    (reader,) = readers(base, stream)
    names = CHANGING["classes"]()["needs a rebuild"]
    assert {"learner", "target", "recent_ids", "pending_events", "labels"} < set(names)
    for name in names:
        value = CHANGING["OTHER"].get(name, "another value")
        with pytest.raises(RefusedError, match="was saved with other settings"):
            Recovery(base.model_copy(update={name: value}), stream, reader)


@pytest.mark.thorough
def test_what_may_change_is_no_reason_to_refuse(learned: Path) -> None:
    """A run resumes with other values of the settings that the page calls free."""
    may_change = set(CHANGING["classes"]()["may change"])
    assert set(OTHER) <= may_change
    append(learned / "log.db", [b'{"id": "20", "a": 3}'])
    append(learned / "log.db", [b'{"id": "20", "y": 1}'], "labels")
    Service(settings(learned, **OTHER)).run()
    assert saved(learned / "state", "log-events").n_events == 21


def test_every_learner_has_its_options() -> None:
    """Each named learner has a section, and no option lacks a meaning; the options and defaults of
    the page build the learner, and an unknown one is refused."""
    for page, names in OPTIONS["pages"]().items():
        for name in names:
            assert f"\n### {name}\n" in page.read_text("utf-8")
            assert all(each.meaning for each in OPTIONS["options"](name)), name
    for name in ("infinite-layer", "infinite-layer-classifier", "pool"):
        options = {each.name: each.default for each in OPTIONS["options"](name)}
        build_learner(Settings(learner=name, learner_options=options))
        with pytest.raises(SettingsError, match=r"learner, learner_options: .*unheard"):
            build_learner(Settings(learner=name, learner_options={"unheard": 1}))
