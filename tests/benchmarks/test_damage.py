"""`python -m benchmarks.damage`, in short: no damage to a stored file passes in silence."""

import pytest

from benchmarks.damage import CASES, Read, examine, made
from iln_stream import save
from iln_stream.service.learners import pool


@pytest.mark.parametrize("kind", ["published", "saved", "exported"])
def test_a_damaged_model_is_refused(kind, tmp_path):
    """A published version, a saved model or an export predicts as it was written, or is refused,
    whatever happened to its file."""
    counts, bad = examine(Read(tmp_path, kind), tmp_path, every=30)
    assert bad == []
    (found,) = counts.values()
    assert found["flipped bit"]["refused"] > 5 * found["flipped bit"].get("identical", 0)
    assert found["older file"] == {"as it was then": 1}


def test_what_differs_is_found(tmp_path):
    """The command tells another model from the one that was written."""
    read = Read(tmp_path, "saved")
    other = pool(2, size=4)
    other.learn_one({"a": 1.0}, 2.0)
    save(other, read.state / "model.npz")
    assert read.outcome(read.state) == "differs"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "case",
    # snapshots/test_blocks.py is faster
    [case for case in CASES if case.name not in ("blocks", "contest")],
    ids=lambda case: case.name,
)
def test_a_damaged_folder_resumes_identically_or_is_refused(case, tmp_path):
    """Snapshots, journal, keys and logs: a run that resumes from a damaged folder, or one with a
    file of another run, comes to the same learner and predictions as one that was never
    interrupted, or is refused; so does a served version."""
    counts, bad = examine(made(case.name, tmp_path), tmp_path, every=4_000)
    assert bad == []
    assert set(case.kinds) <= set(counts)
