"""The data of a robot arm and their substitute."""

import gzip

import numpy as np
import pytest

from iln_stream.research.experiments.data import load_robot_arm


def test_reads_the_file(tmp_path, monkeypatch):
    """All rows are read, by path and by ILN_DATA, the target last, and divided by the seed."""
    table = np.random.default_rng(0).uniform(2.0, 5.0, (10, 9))
    table[:, 8] = 7.0 * table[:, 0]
    with gzip.open(tmp_path / "kin8nm.csv.gz", "wt") as file:
        np.savetxt(file, table, delimiter=",", header="a,b,c,d,e,f,g,h,y", comments="")
    data = load_robot_arm(0, str(tmp_path))
    assert (data.source, data.X.shape, data.Z.shape) == ("kin8nm", (5, 8), (5, 8))
    both = np.vstack([data.X, data.Z])
    assert both.std(axis=0) == pytest.approx(np.ones(8))
    assert data.y == pytest.approx(data.X[:, 0])  # standardised, a factor does not count
    monkeypatch.setenv("ILN_DATA", str(tmp_path))
    other = load_robot_arm(1)
    assert other.source == "kin8nm"
    assert sorted(np.append(other.y, other.labels)) == pytest.approx(sorted(both[:, 0]))
    assert not np.array_equal(other.y, data.y)


def test_substitute_says_so(tmp_path, monkeypatch):
    """Without the file the arm is synthetic, its name says so, and a seed gives the same data."""
    monkeypatch.delenv("ILN_DATA", raising=False)
    for data in (load_robot_arm(3), load_robot_arm(3, str(tmp_path))):
        assert "synthetic" in data.source
        assert "ILN_DATA" in data.source
        assert data.X.shape == data.Z.shape == (4096, 8)
        assert np.array_equal(data.y, load_robot_arm(3).y)


def test_the_arm_bends(monkeypatch):
    """No linear function explains the substitute: it leaves more than a tenth of the variance."""
    monkeypatch.delenv("ILN_DATA", raising=False)
    data = load_robot_arm(0)
    _, (left,), _, _ = np.linalg.lstsq(data.X, data.y, rcond=None)
    assert left > 0.1 * (data.y @ data.y)
