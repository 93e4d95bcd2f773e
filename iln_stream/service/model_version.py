"""The name and the version of the model, as predictions carry them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from iln_stream._version import __version__
from iln_stream.contest.roster import MIXTURE
from iln_stream.service.challengers import (
    challengers_of,
    main_contender,
    seed_of_challenger,
    settings_alone,
    settings_of_challenger,
)
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

    Challengers don't change its predictions, and are left out.

    Not of its state: a run that is resumed after a crash repeats predictions to the last byte, and
    its learner went through other snapshots. Partition and offset of an event name the state.
    """
    alone = configuration(settings_alone(settings), history)
    determining = {**alone, "seed": seed, "release": __version__}
    return _digest(json.dumps(determining, sort_keys=True).encode())


def versions_of_contenders(
    settings: Settings, seed: int, history: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return the version of each contender: that of a run with this learner alone.

    That of the mixture is a digest of all of them.
    """
    versions = {main_contender(settings): version_of_settings(settings, seed, history)}
    for name, each in challengers_of(settings).items():
        own = settings_of_challenger(settings, each)
        its_seed = seed_of_challenger(settings, each, seed)
        versions[name] = version_of_settings(own, its_seed, history)
    return versions | {MIXTURE: _digest(json.dumps(versions).encode())}


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
