"""`iln-stream plot`, run as a user runs it."""

import sys

import pytest


@pytest.fixture(autouse=True)
def predictions(command):
    """A file of predictions, as a run writes it."""
    settings = ("--source", "synthetic:Friedman", "--limit", "60", "--metrics-port", "0")
    command("run", *settings, "--learner", "pool", "--predictions", "p.jsonl").ok()


def test_a_file_of_a_run(command, tmp_path):
    """What a run wrote becomes a picture, with the names that the user gives."""
    done = command("plot", "p.jsonl", "--out", "p.svg", "--target", "load", "--unit", "MW")
    assert (done.code, done.err) == (0, "written: p.svg\n")
    text = (tmp_path / "p.svg").read_text()
    assert "load (MW)" in text
    assert "over all so far" in text


def test_errors(command, tmp_path):
    """Each error names what is wrong, without a traceback."""
    for arguments, said in (
        (["none.jsonl"], "can't read none.jsonl"),
        (["p.jsonl", "--out", "p.doc"], "--out p.doc: Format 'doc' is not supported"),
        (["p.jsonl", "--out", "no/p.png"], "--out no/p.png: No such file"),
        (["p.jsonl", "--level", "0.9"], "prediction_intervals = [0.9]"),
        (["p.jsonl", "--against", "id"], "'id' is not one of 'event', 'time'"),
    ):
        assert said in command("plot", *arguments).refused().err
    assert not list(tmp_path.glob("*.png"))


def test_standard_input(command, tmp_path, monkeypatch):
    """Predictions may come by a pipe; without --out, the picture is predictions.png."""
    with (tmp_path / "p.jsonl").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert command("plot", "-").code == 0
    assert (tmp_path / "predictions.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib(command, monkeypatch):
    """Without the extra the error names it."""
    monkeypatch.delitem(sys.modules, "iln_stream.figures", raising=False)
    monkeypatch.delattr("iln_stream.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "iln-stream[plot]" in command("plot", "p.jsonl").refused().err
