"""The data of experiments, read or synthetic."""

import bz2
import gzip

import numpy as np
import pytest

from iln_stream.research.experiments.data import (
    NOISE,
    TARGETS,
    as_events,
    load_adult,
    load_robot_arm,
    stream,
    synthetic_census,
)


def test_reads_adult(tmp_path, monkeypatch):
    """Labels, columns and zeros of LIBSVM's format are read, by path and by ILN_DATA."""
    (tmp_path / "adult.trn.bz2").write_bytes(bz2.compress(b"-1 2:1 10:0.5\n+1 0:1\n"))
    (tmp_path / "adult.tst.bz2").write_bytes(bz2.compress(b"-1 122:0\n"))
    data = load_adult(str(tmp_path))
    assert (data.source, data.X.shape, data.Z.shape) == ("adult", (2, 123), (1, 123))
    assert (data.y.tolist(), data.labels.tolist()) == ([-1, 1], [-1])
    assert as_events(data.X) == [{2: 1.0, 10: 0.5}, {0: 1.0}]
    monkeypatch.setenv("ILN_DATA", str(tmp_path))
    assert load_adult().source == "adult"


def test_reads_the_robot_arm(tmp_path, monkeypatch):
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


def test_substitutes_say_so(tmp_path, monkeypatch):
    """Without the files the data are synthetic, in the form of the real ones, and their name says
    so; a seed gives the same data.
    """
    monkeypatch.delenv("ILN_DATA", raising=False)
    for data in (load_adult(), load_adult(str(tmp_path))):
        assert "synthetic" in data.source
        assert "ILN_DATA" in data.source
        assert set(data.X.sum(axis=1)) == {14.0}
        assert data.X.shape[1] == 123
        assert 0.2 < np.mean(data.y > 0) < 0.35
        np.testing.assert_array_equal(data.X, synthetic_census().X)
    for arm in (load_robot_arm(3), load_robot_arm(3, str(tmp_path))):
        assert "synthetic" in arm.source
        assert "ILN_DATA" in arm.source
        assert arm.X.shape == arm.Z.shape == (4096, 8)
        assert np.array_equal(arm.y, load_robot_arm(3).y)


@pytest.mark.parametrize("name", TARGETS)
def test_streams(name):
    """Inputs and signal have variance 1, and a seed gives the same stream."""
    X, y = stream(name, 2000, 5)
    assert np.var(X) == pytest.approx(1.0, abs=0.05)
    assert np.var(y) == pytest.approx(1.0 + NOISE**2, abs=0.02)
    assert np.array_equal(y, stream(name, 2000, 5)[1])
