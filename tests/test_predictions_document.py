"""docs/predictions.md does what it says."""

from pathlib import Path

from support.document import run_shell_blocks

from iln_stream.records import Prediction, read_prediction


def test_predictions_have_intervals(tmp_path: Path) -> None:
    """With the page's settings each prediction has nested intervals that contain it."""
    said, plotted = run_shell_blocks("predictions.md", tmp_path)
    assert "200 events, 0 dead letters" in said
    assert "written: predictions.png" in plotted
    assert (tmp_path / "predictions.png").read_bytes().startswith(b"\x89PNG")
    lines = (tmp_path / "predictions.jsonl").read_text().splitlines()
    assert len(lines) == 200
    for line in lines:
        found = read_prediction(line)
        assert isinstance(found, Prediction)
        assert found.intervals is not None
        (wide_low, wide_high), (low, high) = found.intervals["0.9"], found.intervals["0.5"]
        assert isinstance(found.y_pred, float)
        assert wide_low <= low <= found.y_pred <= high <= wide_high
