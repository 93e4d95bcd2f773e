"""Runs of a champion and challengers, on an embedded log."""

import importlib
import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from support.embedded_log import append, messages, settings_of, values
from support.saved_state import saved

from iln_stream.errors import RefusedError, SnapshotError
from iln_stream.learners.contest import ContestRegressor
from iln_stream.service import Service, Settings, SettingsError, promote, rebuild
from iln_stream.snapshots import learner_of, load

LINEAR = {"learner": "support.contenders:linear"}
MEAN = {"learner": "support.contenders:mean"}
SMALL = {"learner": "pool", "learner_options": {"size": 16}}


def event(number: int) -> bytes:
    draw = random.Random(number)
    x = {"a": draw.uniform(-1, 1), "b": draw.uniform(-1, 1)}
    fields = {"x": x, "y": 3 * x["a"] - x["b"] + draw.gauss(0, 0.1), "id": str(number)}
    return json.dumps(fields).encode()


def fill(path: Path, first: int, count: int) -> None:
    append(path, [event(number) for number in range(first, first + count)])


def settings(path: Path, **more: Any) -> Settings:
    given = {
        "predictions": f"sqlite:{path}#predictions",
        "snapshot_pickle": True,
        "challengers": {"linear": LINEAR, "mean": MEAN},
    }
    return settings_of(path, **{**given, **more})


def contest(path: Path, folder: str = "state") -> ContestRegressor:
    found = learner_of(saved(path.parent / folder, "log-events").state["learner"], True)
    assert isinstance(found, ContestRegressor)
    return found


def test_each_champion_predicts_as_it_would_alone(path: Path) -> None:
    """A promoted challenger predicts with its own version, and the old champion comes back; other
    contenders change neither the predictions nor the version."""
    own = settings(path)
    fill(path, 0, 50)
    promote(own, "linear")
    fill(path, 50, 50)
    promote(own, "pool")
    fill(path, 100, 50)
    Service(own).run()
    found = messages(path)
    names = [each["contender"] for each in found]
    assert names == ["pool"] * 50 + ["linear"] * 50 + ["pool"] * 50
    for name, learner in (("pool", {}), ("linear", {**LINEAR, "learner_options": {}})):
        alone = {"challengers": {}, "snapshots": None, "predictions": f"sqlite:{path}#{name}"}
        Service(settings(path, **alone, **learner)).run()
        for ours, theirs in zip(found, messages(path, name), strict=True):
            if ours["contender"] == name:
                assert ours["y_pred"] == theirs["y_pred"]
                assert ours["model"]["version"] == theirs["model"]["version"]
    assert len({each["model"]["version"] for each in found}) == 2


def test_challengers_are_published(path: Path) -> None:
    """With the setting, each prediction has what the others predict: what they publish as
    champions, also of an event whose label comes later."""
    fill(path, 0, 50)
    late = json.loads(event(50))
    label = {"id": late["id"], "y": late.pop("y")}
    append(path, [json.dumps(each).encode() for each in (late, label)])
    fill(path, 51, 9)
    found = {}
    for name in ("pool", "linear"):
        if name != "pool":
            shutil.rmtree(path.parent / "state")
        more = {"predictions": f"sqlite:{path}#{name}", "pending_events": 5}
        named = {"pool": SMALL, "linear": LINEAR}
        others = {each: options for each, options in named.items() if each != name}
        learner = {"learner_options": {}, **named[name], "challengers": others}
        Service(settings(path, prediction_challengers=True, **learner, **more)).run()
        found[name] = messages(path, name)
    for ours, theirs in zip(*found.values(), strict=True):
        assert ours["challengers"] == {"linear": theirs["y_pred"]}
        assert theirs["challengers"] == {"pool": ours["y_pred"]}


def test_promotions_by_command_and_evidence_are_repeated(path: Path) -> None:
    """A run in pieces, one in a go, and a rebuild end with the same state and predictions."""
    own = settings(
        path,
        learner=MEAN["learner"],
        learner_options={},
        promotion="evidence",
        challengers={"linear": LINEAR, "other": SMALL},
        mixture=True,
        metrics_port=0,  # so that /live is saved, too
    )
    for number in range(4):
        fill(path, 300 * number, 300)
        if number == 2:
            promote(own, "mean")
        Service(own).run()
    pieces = saved(path.parent / "state", "log-events")
    assert contest(path).n_promotions["evidence"] > 0
    assert contest(path).n_promotions["command"] == 1
    assert {"mean", "other"} == {each["contender"] for each in pieces.state["live"]["promotions"]}
    whole = own.model_copy(
        update={"snapshots": str(path.parent / "whole"), "predictions": f"sqlite:{path}#whole"}
    )
    Service(whole).run()
    assert messages(path, "whole") == messages(path)
    assert len({each["contender"] for each in messages(path)}) > 1
    assert saved(path.parent / "whole", "log-events").bits == pieces.bits
    rebuild(own)
    assert saved(path.parent / "state", "log-events").bits == pieces.bits


def test_a_new_challenger_learns_the_history(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A challenger that is added to a resumed run has learned what it would have learned alone, and
    the snapshot has it at once."""
    caplog.set_level("INFO", "iln_stream")
    fill(path, 0, 100)
    Service(settings(path, challengers={"mean": MEAN})).run()
    before = saved(path.parent / "state", "log-events")
    own = settings(path)
    Service(own).close()
    after = saved(path.parent / "state", "log-events")
    assert after.header.positions == before.header.positions
    assert after.header.configuration["challengers"].keys() == {"mean", "linear"}
    assert any("challenger linear has learned 100 events" in text for text in caplog.messages)
    alone = settings(
        path,
        learner=LINEAR["learner"],
        learner_options={},
        challengers={},
        snapshots=str(path.parent / "alone"),
        predictions=None,
    )
    Service(alone).run()
    linear = learner_of(saved(path.parent / "alone", "log-events").state["learner"], True)
    x = {"a": 0.3, "b": -0.7}
    assert contest(path).contenders["linear"].predict_one(x) == linear.predict_one(x)
    standings = {each.name: each for each in contest(path).standings()}
    assert (standings["linear"].n_scored, standings["mean"].n_scored) == (0, 100)


def test_a_run_of_one_learner_gets_challengers(path: Path) -> None:
    """A learner that ran alone goes on as the champion, and challengers come and go."""
    fill(path, 0, 50)
    Service(settings(path, challengers={})).run()
    fill(path, 50, 50)
    Service(settings(path, promotion="evidence")).run()
    fill(path, 100, 50)
    Service(settings(path, challengers={"mean": MEAN}, promotion="evidence")).run()
    assert list(contest(path).contenders) == ["pool", "mean"]
    fill(path, 150, 50)
    Service(settings(path, challengers={})).run()
    assert list(contest(path).contenders) == ["pool"]
    whole = settings(path, challengers={}, snapshots=None, predictions=f"sqlite:{path}#whole")
    Service(whole).run()
    found = messages(path)
    assert [each.pop("contender", None) for each in found[:51]] == [None] * 50 + ["pool"]
    for each in found:
        each.pop("contender", None)
    assert found == messages(path, "whole")


def test_late_labels_with_a_new_challenger(path: Path) -> None:
    """A challenger that came while events waited learns their labels, and is not scored on them."""
    ahead = [json.loads(event(number)) for number in range(60)]
    labels = [json.dumps({"id": each["id"], "y": each.pop("y")}).encode() for each in ahead]
    append(path, [json.dumps(each).encode() for each in ahead])
    append(path, labels[:30])
    late = {"pending_events": 100}
    Service(settings(path, challengers={"mean": MEAN}, **late)).run()
    append(path, labels[30:])
    Service(settings(path, **late)).run()
    standings = {each.name: each for each in contest(path).standings()}
    assert (standings["pool"].n_scored, standings["mean"].n_scored) == (60, 60)
    assert (standings["linear"].n_scored, standings["linear"].n_failures) == (0, 0)
    assert saved(path.parent / "state", "log-events").n_dead_letters == 0


def test_what_may_not_change(path: Path) -> None:
    """A changed challenger, another rule and a champion that was removed are refused by name."""
    own = settings(path)
    fill(path, 0, 20)
    promote(own, "linear")
    Service(own).run()
    refused: list[tuple[dict[str, Any], str]] = [
        ({"challengers": {"mean": MEAN}}, "linear is the champion.*iln-stream promote pool"),
        ({"challengers": {}}, "linear is the champion"),
        (
            {"challengers": {"linear": {**MEAN, "seed": 3}, "mean": MEAN}},
            "settings: of challenger linear learner was 'support.contenders:linear' and is "
            r"'support.contenders:mean', seed was None and is 3 \(give .* such as linear-2: ",
        ),
        ({"promotion": "evidence"}, "promotion was 'never' and is 'evidence'"),
        ({"mixture": True}, "mixture was False and is True"),
    ]
    for more, names in refused:
        with pytest.raises(RefusedError, match=names):
            Service(settings(path, **more))
    promote(own, "pool")
    Service(own).run()
    Service(settings(path, challengers={"mean": MEAN})).run()


def test_the_code_of_a_challenger_is_gone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A challenger whose module is gone is named, with the remedies; one that is removed from the
    settings needs its code no longer, nor does it need pickles to be allowed."""
    module = path.parent / "passing.py"
    module.write_text("from support.contenders import Constant\nclass Passing(Constant): pass\n")
    monkeypatch.syspath_prepend(path.parent)
    fill(path, 0, 20)
    passing = {"passing": {"learner": "passing:Passing"}}
    own = settings(path, challengers=passing)
    Service(own).run()
    before = contest(path).contenders["pool"].predict_one({"a": 0.5, "b": 0.5})
    module.unlink()
    monkeypatch.delitem(sys.modules, "passing")
    importlib.invalidate_caches()
    with pytest.raises(SettingsError, match="challengers: passing: learner = 'passing:Passing'"):
        Service(own)
    with pytest.raises(SnapshotError, match=r"contender passing: .*'passing'.*PYTHONPATH.*remove"):
        load(path.parent / "state" / "log-events-0", allow_pickle=True)
    with pytest.raises(SnapshotError, match="set snapshot_pickle"):
        Service(settings(path, snapshot_pickle=False))
    Service(settings(path, challengers={}, snapshot_pickle=False)).run()
    assert list(contest(path).contenders) == ["pool"]
    assert contest(path).contenders["pool"].predict_one({"a": 0.5, "b": 0.5}) == before


def test_promote_knows_the_contenders(path: Path) -> None:
    """If the settings name challengers, a wrong name is refused before anything is appended."""
    fill(path, 0, 1)
    with pytest.raises(SettingsError, match="one of pool, linear, mean, mixture"):
        promote(settings(path, mixture=True), "lineer")
    assert len(values(path)) == 1


def test_intervals_are_the_champions(path: Path) -> None:
    """A champion with intervals publishes them, one without publishes none."""
    own = settings(
        path,
        learner="infinite-layer",
        learner_options={"profile": "fast"},
        prediction_intervals=[0.9],
        challengers={"linear": LINEAR},
    )
    fill(path, 0, 30)
    promote(own, "linear")
    fill(path, 30, 30)
    Service(own).run()
    assert ["intervals" in each for each in messages(path)] == [True] * 30 + [False] * 30


def test_live_names_the_champion_and_its_version(path: Path) -> None:
    """/live shows each contender, also if one that is new is promoted at once; the version is the
    one that predictions carry."""
    fill(path, 0, 20)
    Service(settings(path, metrics_port=0, challengers={})).run()
    own = settings(path, metrics_port=0)
    promote(own, "linear")
    fill(path, 20, 20)
    service = Service(own)
    service.run()
    live = service.workers[0].live
    assert live is not None
    shown, last = live.data(0), messages(path)[-1]
    assert shown["version"] == last["model"]["version"]
    assert [(each["name"], each["status"], each["version"]) for each in shown["contenders"]][1] == (
        "linear", "champion", shown["version"],
    )  # fmt: skip
    assert len({each["version"] for each in shown["contenders"]}) == 3
    assert [each["contender"] for each in shown["commands"]] == ["linear"]
    assert shown["steps"][-1]["contender"] == last["contender"] == "linear"
    assert shown["promotions"] == [{"serial": 21, "events": 21, "contender": "linear"}]
