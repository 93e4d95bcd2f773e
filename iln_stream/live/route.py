"""The WSGI application of /live."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from time import time
from typing import Any
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from iln_stream._version import __version__
from iln_stream.live.model import LiveModel

_TYPE = ("Content-Type", "application/json")
_HEADERS = (_TYPE, ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))


def live_route(
    models: Callable[[], Sequence[LiveModel]], not_ready: Callable[[], Sequence[str]]
) -> WSGIApplication:
    """Return the application of /live, which describes all models.

    Parameters
    ----------
    models
        Returns the models of this process.
    not_ready
        Returns why events can't be learned now, if there is a reason.

    """
    started_at = time()

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        present = models()
        try:
            after = after_of(environ.get("QUERY_STRING", ""), len(present))
        except ValueError:
            return refuse_after(start)
        found = {
            "release": __version__,
            "started_at": started_at,
            "at": time(),
            "state": state_of({model.doing for model in present}, not_ready()),
            "models": [model.data(n) for model, n in zip(present, after, strict=True)],
        }
        return answer_json(start, found)

    return answer


def answer_json(start: StartResponse, found: Mapping[str, Any]) -> Iterable[bytes]:
    """Answer with an object."""
    start("200 OK", [*_HEADERS])
    return [json.dumps(found, allow_nan=False, separators=(",", ":")).encode()]


def refuse_after(start: StartResponse) -> Iterable[bytes]:
    """Answer that `after` can't be read."""
    message = "after: give the serial number of the last step that you have, or 0; of "
    error = {"error": f"{message}several models one number each, separated by commas"}
    start("400 Bad Request", [*_HEADERS])
    return [json.dumps(error).encode()]


def after_of(query: str, n_models: int) -> list[int]:
    """Return the serial number after which to answer, of each model.

    Raises
    ------
    ValueError
        When the query has something else.

    """
    (text,) = parse_qs(query, keep_blank_values=True).get("after", ["0"])
    numbers = [int(number) for number in text.split(",")]
    if len(numbers) == 1:
        return numbers * n_models
    return (numbers + [0] * n_models)[:n_models]


def state_of(states: AbstractSet[str], reasons: Sequence[str]) -> str:
    """Return what all models together do, if those are their states."""
    if reasons:
        return f"waiting: {'; '.join(reasons)}"
    return next(each for each in ("learning", "idle", "ended") if each in (states or {"idle"}))
