"""The published models that the API predicts with."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from iln_stream.serving.gate import HttpError, retry
from iln_stream.serving.predicting import Predictor
from iln_stream.snapshots.follower import Follower, Published
from iln_stream.streams import NewRecord, of_stream

log = logging.getLogger(__name__)

REFRESH_SECONDS = 0.25
_STOP_SECONDS = 10.0
SUFFIX = ".model"


class FollowedModel:
    """One model: its newest version that is warm."""

    def __init__(
        self, follower: Follower, make_predictor: Callable[[Published], Predictor]
    ) -> None:
        self.follower = follower
        self._make_predictor = make_predictor
        self.predictor: Predictor | None = None
        self.problem: str | None = "is being loaded"
        self._failure: str | None = None
        self._n_unusable = 0

    @property
    def version(self) -> int:
        return 0 if self.predictor is None else self.predictor.published.header.version

    def refresh(self) -> None:
        """Load a new version; it replaces the former one once it has predicted.

        An error is a problem of this model alone.
        """
        try:
            if self.follower.refresh() and (current := self.follower.current) is not None:
                self._failure = None
                predictor = self._make_predictor(current)
                predictor.warm()
                if self.predictor is None:
                    found, path = current.header, self.follower.path
                    then = "pinned" if current.pinned else "newer ones follow"
                    text = (
                        f"version {found.version} of the stream {found.stream}, which had learned"
                    )
                    log.info(f"model {path}: predicts with {text} {found.n_learned} events; {then}")
                self.predictor = predictor
        except Exception as error:  # a learner's own code
            self._n_unusable += 1
            self._failure = f"{self.follower.path}: it can't be used: {error!r}"
        problem = self.follower.problem or self._failure
        if problem != self.problem and problem is not None:
            log.warning("model %s", problem)
        self.problem = problem

    @property
    def n_failures(self) -> int:
        """Number of versions that could not be loaded; one warning is for all alike."""
        return self.follower.n_unreadable + self._n_unusable


class Models(Collector):
    """The models in a folder, followed on a thread; exports the age of each, read at a scrape.

    Parameters
    ----------
    folder
        Where `iln-stream run` publishes.
    level
        Probability that an interval contains the label.
    follow
        Returns the follower of a file.
    also
        Called on the thread, too, as often as the models are refreshed.
    pinned
        Names in the setting `pin`.

    """

    def __init__(
        self,
        folder: Path,
        level: float,
        follow: Callable[[Path], Follower],
        also: Sequence[Callable[[], None]] = (),
        pinned: Sequence[str] = (),
    ) -> None:
        self._folder = folder
        self._pinned = tuple(pinned)
        self._level = level
        self._follow = follow
        self._also = tuple(also)
        self._slow = ThreadPoolExecutor(1, thread_name_prefix="slow-predictions")
        self._models: dict[str, FollowedModel] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="models", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """Stop following; on the thread of slow learners, at most one more event is predicted."""
        self._stop.set()
        self._slow.shutdown(wait=False, cancel_futures=True)
        self._thread.join(_STOP_SECONDS)  # a network file system may not answer

    def __iter__(self) -> Iterator[tuple[str, FollowedModel]]:
        """Iterate over names and models."""
        return iter(tuple(self._models.items()))

    def chosen(self, name: str | None) -> tuple[str, Predictor]:
        """Return a model by its name; None: the only one.

        Raises
        ------
        HttpError
            When there is none of this name, none at all, or several to choose from.

        """
        models = self._models
        if name is None:
            if len(models) > 1:
                raise HttpError(
                    422,
                    "model",
                    f"model: several are published: {', '.join(sorted(models))}; name one in the "
                    f'request, such as "model": "{min(models)}"',
                )
            if not models:
                raise HttpError(503, "no model", f"{self._none()}; try again", retry(1.0))
            (name,) = models
        if name not in models:
            known = ", ".join(sorted(models)) or "none"
            raise HttpError(404, "model", f"model: {name!r} is not published; known: {known}")
        model = models[name]
        if model.predictor is None:
            raise HttpError(
                503, "no model", f"model {name}: {model.problem}; try again", retry(1.0)
            )
        return name, model.predictor

    @property
    def _loaded(self) -> list[tuple[str, FollowedModel, Predictor]]:
        """Name, model and predictor of those that can predict."""
        return [(name, m, m.predictor) for name, m in self if m.predictor is not None]

    def task(self) -> str | None:
        """Return the task of all models; None if they differ or there is none."""
        tasks = {predictor.published.header.task for _, _, predictor in self._loaded}
        return tasks.pop() if len(tasks) == 1 else None

    def partitions(self, name: str | None, stream: str | None) -> list[int]:
        """Return the first partition that each model of a log reads, or only this model.

        Raises
        ------
        HttpError
            When no model of the log is published, or there is none of this name.

        """
        found = [each for _, _, each in self._loaded] if name is None else [self.chosen(name)[1]]
        headers = (each.published.header for each in found)
        ours = [of_stream(each.positions, stream) for each in headers if each.stream == stream]
        if not ours and name is not None:
            raise HttpError(422, "model", f"model: {name} does not learn the log {stream}")
        if not ours:
            raise HttpError(503, "no model", f"{self._none()}; try again", retry(1.0))
        return sorted({min(each) for each in ours})

    def require_readers(self, stream: str | None, records: Sequence[NewRecord]) -> None:
        """Refuse events that no learner of a log reads, as they have settings of other fields.

        Raises
        ------
        HttpError
            When there are such learners, and no others.

        """
        found = (predictor.published for _, _, predictor in self._loaded)
        decoders = [each.decode for each in found if each.header.stream == stream]
        own = [each.mapping for each in decoders if each is not None]
        ids = ("id",) if any(record.key is not None for record in records) else ("id", None)
        reads = (m.target == "y" and m.id_field in ids and {*m.features} == {"x"} for m in own)
        if own and len(own) == len(decoders) and not any(reads):
            raise HttpError(
                409,
                "records",
                f"the run reads other records (target = {own[0].target!r}) and would not learn "
                "this one: write its own to the log, and ask /predict without an id",
            )

    def backlog(self, stream: str | None, ends: Mapping[int, int]) -> int | None:
        """Return how many records the learners of a log are behind its ends by partition, at most.

        None: none of them has published.
        """
        behind = [
            sum(max(0, end - positions[p]) for p, end in ends.items() if p in positions)
            for _, model, predictor in self._loaded
            if predictor.published.header.stream == stream
            for positions in (of_stream(model.follower.reached, stream),)
        ]
        return max(behind, default=None)

    def problems(self) -> list[str]:
        """Return why predictions can't be made now; a former version still predicts."""
        models = dict(self)
        if not models:
            return [self._none()]
        unusable = [f"model {name}: {m.problem}" for name, m in models.items() if not m.predictor]
        return unusable + [
            f"pin: {name!r} is not published; known: {', '.join(sorted(models))}; see "
            f"`iln-stream versions {self._folder}`"
            for name in self._pinned
            if name not in models
        ]

    def degraded(self) -> list[str]:
        """Return which models predict with a former version, as the newest can't be loaded."""
        return [
            f"model {name} predicts with version {model.version}, published "
            f"{predictor.age:,.0f} s ago: {model.problem}"
            for name, model, predictor in self._loaded
            if model.problem is not None
        ]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        age = GaugeMetricFamily(
            "iln_api_model_age_seconds", "Time since the version was published.", labels=("model",)
        )
        failures = CounterMetricFamily(
            "iln_api_model_failures", "Versions that could not be loaded.", labels=("model",)
        )
        version = GaugeMetricFamily(
            "iln_api_model_version",
            "Number of the version that predicts, and whether it is pinned.",
            labels=("model", "pinned"),
        )
        for name, model in self:
            failures.add_metric((name,), model.n_failures)
        for name, model, predictor in self._loaded:
            age.add_metric((name,), predictor.age)
            version.add_metric((name, str(predictor.published.pinned).lower()), model.version)
        return iter((age, failures, version))

    def _none(self) -> str:
        return f"no model is published in {self._folder} yet"

    def _run(self) -> None:
        first = True
        while True:
            try:
                self._refresh()
            except Exception:
                log.exception("following the models failed")
            if first and not self._models:
                log.warning(f"{self._none()}: start `iln-stream run` with --publish")
            first = False
            if self._stop.wait(REFRESH_SECONDS):
                return

    def _refresh(self) -> None:
        try:
            pins = (pin.parent for pin in self._folder.glob("*.versions/pinned"))
            files = sorted(
                {f.with_suffix(SUFFIX) for f in (*self._folder.glob(f"*{SUFFIX}"), *pins)}
            )
        except OSError:
            files = []
        for file in files:
            if file.stem not in self._models:
                self._models[file.stem] = FollowedModel(
                    self._follow(file),
                    lambda found: Predictor(found, self._level, self._slow, self._stop),
                )
        for _, model in self:
            model.refresh()
        for each in self._also:
            each()
