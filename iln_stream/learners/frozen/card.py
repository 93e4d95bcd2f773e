"""Model cards: what a model learned from, how well it did, and what it is for."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

INTENDED_USE = (
    "Predictions for further events of the same stream, with inputs of the same meaning and units, "
    "by a process that does not learn."
)

LIMITS = (
    "It does not learn: its errors grow as the stream changes. Export again from a later snapshot.",
    "Inputs that depend on time stay as they were at the export: the last targets, by which some "
    "experts predict, and the statistics by which inputs are scaled.",
    "Names of inputs that it has not learned are ignored, and so are categories that are new.",
    "The scores are prequential: each event was predicted before it was learned. They are of the "
    "learner while it learned, and not of this file on later events.",
    "It predicts what was associated with the inputs, not what they cause.",
)

TITLE = "# Model card"


@dataclass(frozen=True)
class ModelCard:
    """Where a model comes from.

    All of it is taken from a snapshot, the date too, so that an export can be repeated to the byte.
    """

    name: str  # of the model
    learner: Mapping[str, Any]  # the learner's class, and its parameters
    # what it learned: stream, topic_id, n_partitions and next_offsets by partition
    data: Mapping[str, Any]
    saved_at: str  # time of the snapshot, in RFC 3339
    settings: Mapping[str, Any]  # those that determine what was learned
    versions: Mapping[str, str]  # of Python and of the libraries that learned
    scores: Mapping[str, float]  # numbers of events, and scores by name

    def as_dict(self) -> dict[str, Any]:
        """Return the card as JSON's types."""
        card: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        return card | {"intended_use": INTENDED_USE, "limits": list(LIMITS)}

    def as_markdown(self) -> str:
        """Return the card as a document."""
        card = self.as_dict()
        lines = [f"{TITLE}: {self.name}", "", f"Exported from a snapshot of {self.saved_at}."]
        for title in ("data", "learner", "scores", "settings", "versions"):
            lines += ["", f"## {title.capitalize()}", "", "| | |", "|---|---|"]
            lines += [f"| {key} | {_cell(value)} |" for key, value in card[title].items()]
        lines += ["", "## Intended use", "", INTENDED_USE, "", "## Limits", ""]
        return "\n".join([*lines, *(f"- {limit}" for limit in LIMITS), ""])


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("|", "\\|").replace("\n", " ")


def mean_scores(scores: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean scores in the state of a run's scores, over all events and the last ones.

    >>> mean_scores({"n_events": 5, "n_labelled": 4, "total_loss": 2.0, "window_loss": [1.0, 0.5]})
    {'n_events': 5, 'n_labelled': 4, 'mean loss': 0.5, 'mean loss of the last 2': 0.75}
    """
    n = scores["n_labelled"]
    found: dict[str, float] = {"n_events": scores["n_events"], "n_labelled": n}
    for key, total in scores.items():
        kind, _, name = key.partition("_")
        if kind != "total" or not n:
            continue
        found[f"mean {name.replace('_', ' ')}"] = total / (scores.get("weight", n) or 1.0)
        if window := scores.get(f"window_{name}"):
            title = f"mean {name.replace('_', ' ')} of the last {len(window)}"
            found[title] = sum(window) / (sum(scores.get("weights", ())) or len(window))
    return found
