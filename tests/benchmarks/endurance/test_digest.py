"""Digests of the sources that determine what a learner predicts."""

import shutil

import pytest

from benchmarks.endurance import digest as module
from benchmarks.endurance.digest import digest, file_of
from benchmarks.endurance.learners import LEARNERS

FAST = LEARNERS["fast"].roots
POOL = LEARNERS["pool"].roots


@pytest.fixture
def package(tmp_path, monkeypatch):
    copy = tmp_path / module.PACKAGE.name
    shutil.copytree(module.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "PACKAGE", copy)
    digest.cache_clear()
    yield copy
    digest.cache_clear()


def changed(file, old, new):
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    digest.cache_clear()


def test_code_that_a_learner_imports_counts(package):
    """A change in compiled code that only "fast" uses makes its records old, and no others."""
    fast, pool = digest(FAST), digest(POOL)
    changed(package / "kernels" / "fast.py", "= 3.0 *", "= 2.0 *")
    assert digest(FAST) != fast
    assert digest(POOL) == pool


def test_comments_and_docstrings_do_not_count(package):
    """Better words do not cost two hours."""
    before = digest(FAST)
    changed(package / "kernels" / "fast.py", "The events of profile fast", "Events of fast")
    changed(package / "kernels" / "fast.py", "# before the first target", "# at first")
    assert digest(FAST) == before


@pytest.mark.parametrize("learner", LEARNERS)
def test_roots_are_modules(learner):
    """A root that was renamed would count for nothing."""
    assert all(file_of(root) is not None for root in LEARNERS[learner].roots)
