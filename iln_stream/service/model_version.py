"""The name and the version of the model, as predictions carry them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from iln_stream._version import __version__
from iln_stream.service.readers import kind_of
from iln_stream.service.recovery import configuration
from iln_stream.service.settings import Settings
from iln_stream.snapshots import learner_state
from iln_stream.state import pack

_DIGITS = 16
"""Hexadecimal digits of a version."""


def model_name(settings: Settings, stream: str) -> str:
    """Return the setting `model`, by default the stream and the learner, with the horizon."""
    name = settings.model or f"{stream}/{settings.learner}"
    return name + "".join(map(kind_of, settings.horizon))


def version_of_settings(
    settings: Settings, seed: int, history: Mapping[str, Any] | None = None
) -> str:
    """Return a digest of what determines a learner beside the stream, with its history.

    Not of its state: a run that is resumed after a crash repeats predictions to the last byte, and
    its learner went through other snapshots. Partition and offset of an event name the state.
    """
    determining = {**configuration(settings, history), "seed": seed, "release": __version__}
    return _digest(json.dumps(determining, sort_keys=True).encode())


def version_of_state(learner: Any) -> str:
    """Return a digest of the state of a learner that learns nothing more."""
    arrays, text = pack(learner_state(learner, allow_pickle=True))
    parts = [f"{name} {a.dtype} {a.shape}".encode() + a.tobytes() for name, a in arrays.items()]
    return _digest(text.encode(), *parts)


def _digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:_DIGITS]
