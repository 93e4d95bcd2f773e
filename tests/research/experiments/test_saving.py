"""Results as files."""

import json

import numpy as np

from iln_stream.research.experiments.result import Result, as_json, save_result


def draw(axes, figures):
    axes.plot(figures["x"])


RESULT = Result("example", {"full": False}, {"x": [1.0, 2.0]}, ["It rises."], draw)


def test_files(tmp_path):
    """The folder is made, and holds the document and a picture that says that the run was quick."""
    document, picture = save_result(RESULT, tmp_path / "new")
    assert json.loads(document.read_text())["figures"] == {"x": [1.0, 2.0]}
    assert "quick run" in picture.read_text()


def test_same_bytes(tmp_path):
    """The same result gives the same files, so that a commit shows only what changed."""
    first, second = save_result(RESULT, tmp_path / "a"), save_result(RESULT, tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_small_and_valid():
    """Numbers have five digits, short lists stay on a line, and nan becomes null, as JSON needs."""
    document = {"x": [1 / 3] * 30, "y": {"z": float("nan"), "n": 123_456}, "w": np.float64(0.5)}
    text = as_json(document)
    assert json.loads(text) == {"x": [0.33333] * 30, "y": {"z": None, "n": 123_456}, "w": 0.5}
    assert '"y": {"z": null, "n": 123456}' in text
    assert max(map(len, text.splitlines())) <= 100
