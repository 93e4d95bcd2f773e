"""The WSGI application of /live for several processes."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import time
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from iln_stream._version import __version__
from iln_stream.live.route import after_of, answer_json, refuse_after, state_of

Answers = Sequence[Mapping[str, Any] | None]


def merged_live_route(
    ask: Callable[[Sequence[str]], Answers], n: int, not_ready: Callable[[], Sequence[str]]
) -> WSGIApplication:
    """Return the application of /live, which describes the models of all processes.

    A process that does not answer is described as it was. When one is restarted, `started_at`
    changes, so that clients begin anew.

    Parameters
    ----------
    ask
        Gets the query for each process, and returns what it answers at /live; None: nothing.
    n
        Number of processes.
    not_ready
        Returns why events can't be learned now, if there is a reason.

    """
    merged = _Merged(n)
    one_at_a_time = threading.Lock()

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        reasons = not_ready()
        with one_at_a_time:
            try:
                after = after_of(environ.get("QUERY_STRING", ""), merged.n_models)
            except ValueError:
                return refuse_after(start)
            merged.update(ask(merged.queries(after)))
            models = merged.models
            states = {model["state"] for model in models}
            found = {
                "release": __version__,
                "started_at": merged.started_at,
                "at": time(),
                "state": state_of(states, reasons),
                "models": models,
            }
            return answer_json(start, found)

    return answer


class _Merged:
    """The newest answer of each process."""

    def __init__(self, n: int) -> None:
        self.started_at = time()
        self._models: list[Sequence[Mapping[str, Any]]] = [()] * n

    @property
    def n_models(self) -> int:
        return len(self._places)

    @property
    def models(self) -> list[Mapping[str, Any]]:
        """All models in the order of their partitions."""
        return [self._models[process][i] for process, i in self._places]

    @property
    def _places(self) -> list[tuple[int, int]]:
        """Process and index of each model, as ordered in answers."""
        places = [(process, i) for process, own in enumerate(self._models) for i in range(len(own))]
        return sorted(places, key=lambda at: int(self._models[at[0]][at[1]]["partition"]))

    def queries(self, after: Sequence[int]) -> list[str]:
        """Return the query for each process; `after` has one number for each model."""
        numbers = dict(zip(self._places, after, strict=True))
        found = []
        for process, own in enumerate(self._models):
            theirs = [str(numbers[process, i]) for i in range(len(own))]
            found.append(f"after={','.join(theirs) or '0'}")
        return found

    def update(self, answers: Answers) -> None:
        for process, answer in enumerate(answers):
            if answer is not None:
                self._models[process] = answer["models"]
                self.started_at = max(self.started_at, answer["started_at"])
