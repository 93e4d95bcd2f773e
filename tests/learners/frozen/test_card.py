"""Model cards."""

from iln_stream.learners.frozen.card import INTENDED_USE, ModelCard, mean_scores


def test_the_document_has_all_of_the_card():
    """Each value is in the document, and one with a bar does not break its table."""
    card = ModelCard(
        name="m",
        learner={"class": "C"},
        data={"stream": "a|b", "next_offsets": {"0": 7}},
        saved_at="2026-01-31T12:00:00Z",
        settings={"seed": 1},
        versions={"numpy": "2"},
        scores={"n_events": 7},
    )
    text = card.as_markdown()
    assert text.startswith("# Model card: m\n")
    for part in ("2026-01-31T12:00:00Z", '{"0": 7}', "a\\|b", "| numpy | 2 |", INTENDED_USE):
        assert part in text
    assert card.as_dict()["data"] == {"stream": "a|b", "next_offsets": {"0": 7}}


def test_scores_before_the_first_label_are_counts():
    """No mean of nothing."""
    scores = {"n_events": 3, "n_labelled": 0, "total_loss": 0.0, "window_loss": []}
    assert mean_scores(scores) == {"n_events": 3, "n_labelled": 0}
