import sys

import pytest

from iln_stream.plotting import plot_predictions


def test_without_matplotlib(monkeypatch):
    """The error names the extra to install."""
    monkeypatch.delitem(sys.modules, "iln_stream.figures", raising=False)
    monkeypatch.delattr("iln_stream.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'iln-stream\[plot\]'"):
        plot_predictions([{"y_pred": 1.0, "y": 1.0}])
