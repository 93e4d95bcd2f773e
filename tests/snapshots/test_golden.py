"""Snapshots of every release are read by this one."""

import json
import runpy
from pathlib import Path

import pytest

import iln_stream
from iln_stream._version import __version__
from iln_stream.learners.estimators import ESTIMATORS
from iln_stream.learners.restoring import LEARNERS
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.snapshots import learner_of, learner_state, read_snapshot
from iln_stream.state import from_bytes, pack, to_bytes

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted(FOLDER.glob("*.snapshot"))
make = runpy.run_path(str(FOLDER / "make.py"))

KINDS = {__version__: set(make["learners"]()) - {"quantiles", "ratio"}}
"""The kinds of learners by release: of this one all that make.py makes but for new ones."""


def test_each_release_has_a_file_of_each_kind():
    """Golden files are made before a release, and stay."""
    assert {file.stem for file in GOLDEN} == {
        f"{release}-{kind}" for release, kinds in KINDS.items() for kind in kinds
    }


def test_the_kinds_have_each_class():
    """The next release's golden files will have a state of each learner and each iterate."""
    made = [pack(learner_state(each, False))[1] for each in make["learners"]().values()]
    iterates = {ShrinkingGradient(estimator=name).state()["f"]["class"] for name in ESTIMATORS}
    ours = {name for name in LEARNERS if name.startswith("iln_stream.")}
    for name in ours | iterates:
        assert any(f'"class": "{name}"' in text for text in made), name


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_goes_on_as_in_its_release(file):
    """Loaded from an old file and taught more, a learner predicts what it did then; and so does one
    that was saved again by this release."""
    snapshot = read_snapshot(file)
    assert snapshot.header.next_offset == 60
    assert snapshot.header.topic_id == "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
    assert snapshot.state["recent_ids"]["ids"] == ["a", "b"]
    learner = iln_stream.load(file)
    saved = from_bytes(to_bytes(learner_state(learner, allow_pickle=False)))
    again = learner_of(saved, allow_pickle=False)
    for each in (learner, again):
        make["learn"](each, range(60, 90))
    expected = json.loads(file.with_suffix(".json").read_text())
    # Another CPU type may round single precision otherwise; a misread state is off by far more.
    assert make["predictions"](learner) == pytest.approx(expected, rel=1e-4)
    assert make["predictions"](again) == make["predictions"](learner)
