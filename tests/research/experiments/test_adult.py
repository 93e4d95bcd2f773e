"""The adult data and their substitute."""

import bz2

import numpy as np

from iln_stream.research.experiments.data import as_events, load_adult, synthetic_census


def test_reads_the_format(tmp_path, monkeypatch):
    """Labels, columns and zeros of LIBSVM's format are read, by path and by ILN_DATA."""
    (tmp_path / "adult.trn.bz2").write_bytes(bz2.compress(b"-1 2:1 10:0.5\n+1 0:1\n"))
    (tmp_path / "adult.tst.bz2").write_bytes(bz2.compress(b"-1 122:0\n"))
    data = load_adult(str(tmp_path))
    assert (data.source, data.X.shape, data.Z.shape) == ("adult", (2, 123), (1, 123))
    assert (data.y.tolist(), data.labels.tolist()) == ([-1, 1], [-1])
    assert as_events(data.X) == [{2: 1.0, 10: 0.5}, {0: 1.0}]
    monkeypatch.setenv("ILN_DATA", str(tmp_path))
    assert load_adult().source == "adult"


def test_substitute_says_so(tmp_path, monkeypatch):
    """Without the files the data are synthetic, in adult's form, and their name says so."""
    monkeypatch.delenv("ILN_DATA", raising=False)
    for data in (load_adult(), load_adult(str(tmp_path))):
        assert "synthetic" in data.source
        assert "ILN_DATA" in data.source
        assert set(data.X.sum(axis=1)) == {14.0}
        assert data.X.shape[1] == 123


def test_substitute_is_the_same_each_time():
    """The synthetic data depend on their seed alone, and about a quarter is positive."""
    a, b = synthetic_census(), synthetic_census()
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(a.y, b.y)
    assert 0.2 < np.mean(a.y > 0) < 0.35
