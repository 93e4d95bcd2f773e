"""`iln-stream experiment`, run as a user runs it."""

import json
import sys

from iln_stream.research.experiments.catalogue import EXPERIMENTS


def test_lists(command):
    """Without a name it lists all experiments, and an unknown name ends with the names."""
    done = command("experiment").ok()
    assert all(name in done.out for name in EXPERIMENTS)
    assert "must be one of" in command("experiment", "figure9").refused().err


def test_runs(command, tmp_path):
    """It reports progress, notes and where the claim is, and writes the document with versions and
    the plot."""
    done = command("experiment", "kernels", "--seeds", "1", "--out", "here").ok()
    assert " s  " in done.err
    assert "docs/experiments.md#kernels" in done.err
    assert "written: here/kernels.json, here/experiment_kernels.svg" in done.err
    document = json.loads((tmp_path / "here" / "kernels.json").read_text())
    assert document["settings"]["seeds"] == 1
    assert set(document["versions"]) == {"iln_stream", "numpy", "python"}
    assert (tmp_path / "here" / "experiment_kernels.svg").stat().st_size < 60_000


def test_without_matplotlib(command, monkeypatch):
    """Without the extra the error names it."""
    monkeypatch.delitem(sys.modules, "iln_stream.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = command("experiment", "kernels", "--seeds", "1").refused()
    assert "iln-stream[experiments]" in done.err
