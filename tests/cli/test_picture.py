"""The demo's picture."""

import pytest
from support.list_source import LIST

from iln_stream.cli.demo import Trajectory
from iln_stream.cli.demo_picture import draw
from iln_stream.loop import Step


def trajectory(n, shrinks=()):
    made = Trajectory()
    for event in range(n):
        made.on_step(Step(LIST, event, None, None, {}, 1.0, 1.0 / (event + 1), None, seconds=0.1))
    made.alpha_l1 = [1.0] * n
    made.shrinks = list(shrinks)
    return made


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_draw(suffix, magic, tmp_path):
    """The suffix decides the format, and the folder is created."""
    file = tmp_path / "new" / f"picture.{suffix}"
    runs = {title: {"a model": trajectory(50)} for title in ("one stream", "another stream")}
    draw(runs, trajectory(50, shrinks=[3, 9]), file)
    assert file.read_bytes().startswith(magic)


def test_a_panel_per_stream(tmp_path):
    """The picture has a panel for each stream and one for the shrinking run."""
    file = tmp_path / "picture.svg"
    runs = {title: {"a model": trajectory(50)} for title in ("one stream", "another stream")}
    draw(runs, trajectory(50, shrinks=[3, 9]), file)
    text = file.read_text()
    for title in ("one stream", "another stream", "norm bound far too small: 2 shrinks"):
        assert f"<!-- {title} -->" in text
