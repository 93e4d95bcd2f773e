"""`iln-stream versions`: its list, and its flags."""

import json

import pytest
from support.running_api import publish

from iln_stream.snapshots.versions import Versions


@pytest.fixture
def models(tmp_path):
    """A folder with two versions of a model, of which one is kept."""
    for n in (100, 200):
        publish(tmp_path, n=n, versions=Versions(tmp_path / "models/log-events-0.model", 5, 1e9))
    return tmp_path / "models"


def test_list_and_pin(models, command):
    """The list says what each version has learned and which one predicts; a pin changes that."""

    def listed():
        found = map(json.loads, command("versions", str(models), "--json").out.splitlines())
        return [(v["version"], v["n_learned"], v["predicts"], v["pinned"]) for v in found]

    assert listed() == [(1, 1, False, False), (4, 200, True, False)]
    done = command("versions", str(models), "--pin=1")
    assert "log-events-0: version 1 predicts until `--unpin`" in done.err
    assert listed() == [(1, 1, True, True), (4, 200, False, False)]
    done = command("versions", str(models), "--pin=newest")
    assert listed() == [(1, 1, False, False), (4, 200, True, True)]
    assert Versions(models / "log-events-0.model").kept() == [1, 4]
    shown = command("versions", str(models)).out
    assert "4 pinned" in shown
    assert "200 by InfiniteLayerRegressor" in shown
    command("versions", str(models), "--unpin")
    assert listed() == [(1, 1, False, False), (4, 200, True, False)]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--pin=7"], "version 7 of log-events-0 is not kept; kept: 1"),
        (["--pin=yesterday"], "--pin yesterday: give the number of a version, or newest"),
        (["--model=b"], "no b is published in "),
    ],
)
def test_errors(models, command, arguments, error):
    """A wrong version or model is named, with those that there are."""
    assert error in command("versions", str(models), *arguments).refused().err.replace("\n", " ")


def test_several_models(tmp_path, models, command):
    """A version is of one model, which has to be named; all pins are lifted at once."""
    publish(tmp_path, name="b")
    assert "--pin: name one of the models" in command("versions", str(models), "--pin=1").err
    command("versions", str(models), "--pin=newest", "--model=b")
    assert Versions(models / "b.model").pinned() == 2
    command("versions", str(models), "--unpin")
    assert Versions(models / "b.model").pinned() is None
