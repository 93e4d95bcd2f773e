import sys

import pytest

from iln_stream.figures import log_scale, new_figure, save
from iln_stream.plotting import plot_predictions


def drawn():
    figure = new_figure(3.0, 2.0)
    figure.subplots().plot([1, 2, 3], [0.2, 0.5, 0.3])
    return figure


@pytest.mark.parametrize(
    ("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_the_same_figure_is_the_same_file(suffix, magic, tmp_path):
    """Files have no date and no random identifiers, so that they can be compared and committed."""
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        save(drawn(), file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert first.startswith(magic)


def test_a_notebook_shows_it():
    """A notebook asks for a PNG by this method, also without pyplot."""
    assert drawn()._repr_png_().startswith(b"\x89PNG")


def test_ticks_are_plain_numbers():
    """A logarithmic axis within a decade has ticks, written without exponents."""
    figure = drawn()
    (axes,) = figure.axes
    log_scale(axes)
    figure.canvas.draw()
    low, high = axes.get_ylim()
    labels = [t.get_text() for t in axes.get_yticklabels() if low <= t.get_position()[1] <= high]
    assert labels == ["0.2", "0.5"]


def test_without_matplotlib(monkeypatch):
    """The error names the extra to install."""
    monkeypatch.delitem(sys.modules, "iln_stream.figures", raising=False)
    monkeypatch.delattr("iln_stream.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'iln-stream\[plot\]'"):
        plot_predictions([{"y_pred": 1.0, "y": 1.0}])
