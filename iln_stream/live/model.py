"""What one learner is doing now."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from iln_stream.events import DeadLetter
from iln_stream.listeners import ModelMetrics
from iln_stream.live.curves import CURVES, Curves, read
from iln_stream.live.rows import plain, row_of_letter, row_of_step, rows_of_standings
from iln_stream.prequential import Listener, Step
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict

MOST_STEPS = 256
MOST_LETTERS = 50
MOST_COMMANDS = 20
MOST_PROMOTIONS = 20


class _Command(Protocol):
    """A command with its place: a named tuple."""

    def _asdict(self) -> dict[str, Any]: ...


class About(NamedTuple):
    """What does not change while a learner learns.

    Parameters
    ----------
    task
        "regression" or "classification".
    source
        Address of the events.
    learner
        The setting `learner`.
    version
        The model's version, as predictions carry it.

    """

    task: str
    source: str
    learner: str
    version: str


class LiveModel(Listener):
    """Remembers the latest steps, dead letters and commands of one learner, and samples curves.

    Put it after the listener that counts. All else is read by the thread that asks for `data`.

    Parameters
    ----------
    watched
        Counts the learner's steps.
    specs
        Returns all metrics of the learner; None: those of `watched`.

    Attributes
    ----------
    n : int
        Number of steps so far, which is the serial number of the last one.
    about : About or None
        Set before `data` is called.
    checkpoints : callable
        Returns the latest checkpoints, oldest first.
    standings : callable or None
        Returns the standings of a contest.
    versions : mapping
        Version of each contender.
    champion : str or None
        Name of the contender that predicts now.

    """

    def __init__(
        self,
        watched: ModelMetrics,
        specs: Callable[[], Sequence[MetricSpec]] | None = None,
    ) -> None:
        self._watched = watched
        self._specs = specs or watched.metrics
        self._curves = Curves()
        self._curved: Sequence[MetricSpec] | None = None
        self._steps: deque[Step | dict[str, Any]] = deque(maxlen=MOST_STEPS)
        self._append = self._steps.append
        self._letters: deque[dict[str, Any]] = deque(maxlen=MOST_LETTERS)
        self._commands: deque[dict[str, Any]] = deque(maxlen=MOST_COMMANDS)
        self._promotions: deque[dict[str, Any]] = deque(maxlen=MOST_PROMOTIONS)
        self.champion: str | None = None
        self._due = self._curves.due
        self._idle_at = -1
        self._ended = False
        self.n = 0
        self.about: About | None = None
        self.checkpoints: Callable[[], Sequence[Mapping[str, Any]]] = tuple
        self.standings: Callable[[], Sequence[Any]] | None = None
        self.versions: Mapping[str, str] = {}

    def on_step(self, step: Step) -> None:
        """Remember the step; sample the curves if that is due."""
        # Called for each event: no other thread runs between these two lines, see `_rows`.
        self.n = n = self.n + 1
        self._append(step)
        champion = step.details.contender
        if champion is not self.champion and champion is not None:
            self._predicted_by(champion)
        if n == self._due:
            self._sample(n)

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Remember the letter."""
        self._letters.append(row_of_letter(self.n, letter))

    def on_command(self, command: _Command) -> None:
        """Remember a command that the learner has carried out."""
        self._commands.append({"serial": self.n, **plain(command._asdict())})

    def on_idle(self) -> None:
        """Note that there is nothing to learn."""
        self._idle_at = self.n

    def end(self) -> None:
        """Note that nothing more will be learned."""
        self._ended = True

    @property
    def doing(self) -> str:
        """`learning`, `idle` (nothing to learn) or `ended`."""
        if self._ended:
            return "ended"
        return "idle" if self._idle_at == self.n else "learning"

    def data(self, after: int) -> dict[str, Any]:
        """Return all as JSON values; of steps and points of curves those after a serial number."""
        assert self.about is not None
        # A client asks next for what comes after the last of these steps: so the points of curves
        # end there, too, although more of both may come meanwhile.
        steps = self._rows(after)
        last = steps[-1]["serial"] if steps else after
        model, partition = self._watched.labels
        standings = self.standings() if self.standings else ()
        contenders = rows_of_standings(standings, self.versions)
        champion = next((each["name"] for each in contenders if each["status"] == "champion"), "")
        return {
            "model": model,
            "partition": partition,
            **self.about._asdict(),
            "version": self.versions.get(champion, self.about.version),
            "state": self.doing,
            "n": self.n,
            "contenders": contenders,
            "metrics": _values(self._specs()),
            "histograms": {
                each.name: {
                    "bounds": list(each.bounds),
                    "counts": list(each.counts),
                    "sum": plain(each.total),
                }
                for each in self._watched.histograms
            },
            "curves": self._curves.data(after, last),
            "steps": steps,
            "dead_letters": list(self._letters),
            "checkpoints": list(self.checkpoints()),
            "commands": list(self._commands),
            "promotions": list(self._promotions),
        }

    def state(self) -> StateDict:
        """Return what a resumed run shows: curves, steps, dead letters, commands, promotions."""
        return {
            "n": self.n,
            "curves": self._curves.state(),
            "steps": self._rows(),
            "dead_letters": list(self._letters),
            "commands": list(self._commands),
            "promotions": list(self._promotions),
            "champion": self.champion,
        }

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`."""
        self.n = state["n"]
        self._curves.restore(state["curves"])
        self._due = self._curves.due
        self._steps.extend(state["steps"])
        self._letters.extend(state["dead_letters"])
        self._commands.extend(state["commands"])
        self._promotions.extend(state.get("promotions", ()))  # earlier states have none
        self.champion = state.get("champion")

    def _rows(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the steps with a serial number above `after`."""
        while True:
            n, steps = self.n, list(self._steps)
            if n == self.n:  # else another thread has added one
                break
        first = n - len(steps) + 1
        return [
            step if isinstance(step, dict) else row_of_step(serial, step)
            for serial, step in enumerate(steps, first)
            if serial > after
        ]

    def _predicted_by(self, champion: str) -> None:
        """Note a promotion if the champion is another one than before."""
        if self.champion is not None and champion != self.champion:
            events = self._watched.scores.n_events
            self._promotions.append({"serial": self.n, "events": events, "contender": champion})
        self.champion = champion

    def _sample(self, n: int) -> None:
        if self._curved is None:
            self._curved = [spec for spec in self._specs() if spec.name in CURVES]
        self._curves.sample(n, self._watched.scores.n_events, self._curved)
        self._due = self._curves.due


def _values(specs: Sequence[MetricSpec]) -> dict[str, Any]:
    """Return the values that a scrape would get now; a metric without a value is left out."""
    found: dict[str, Any] = {}
    for spec in specs:
        value = read(spec)
        if isinstance(value, Mapping):
            found[spec.name] = plain({k: float(v) for k, v in value.items() if v is not None})
        elif value is not None:
            found[spec.name] = plain(float(value))
    return found
