"""docs/classes.md does what it says."""

import json
from pathlib import Path

import pytest
from support.document import blocks, run_shell_blocks

from iln_stream.records import read_prediction


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Run the page's commands in one folder."""
    folder = tmp_path_factory.mktemp("classes")
    return folder, run_shell_blocks("classes.md", folder)


def test_every_event_is_learned(said: tuple[Path, list[str]]) -> None:
    """The page's settings learn a stream with 1 % positives."""
    _, outputs = said
    assert "2000 events, 0 dead letters; log loss 0." in outputs[0]


def test_weights_are_learned(said: tuple[Path, list[str]]) -> None:
    """The page's learner takes the weights of classes."""
    _, outputs = said
    assert "2000 events, 0 dead letters; log loss" in outputs[1]


def test_the_prediction_is_that_of_the_page(said: tuple[Path, list[str]]) -> None:
    """The last prediction has the form that the page shows."""
    folder, _ = said
    shown = read_prediction(blocks("classes.md", "json")[0])
    found = read_prediction((folder / "predictions.jsonl").read_text().splitlines()[-1])
    of_model = {"model": {"version": None}, "probabilities": None}
    assert _without(found, of_model) == _without(shown, of_model)
    assert [each.label for each in found.probabilities] == [False, True]


def _without(prediction, fields):  # type: ignore[no-untyped-def]
    found = json.loads(prediction.model_dump_json(by_alias=True))
    found["model"] |= fields["model"]
    return found | {"probabilities": fields["probabilities"]}
