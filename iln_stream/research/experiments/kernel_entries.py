"""Section 7: regret against the entries of the kernel matrix that a learner sees."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from iln_stream.learners import ShrinkingGradient
from iln_stream.research.experiments import regret
from iln_stream.research.experiments.methods.best_in_ball import least_loss
from iln_stream.research.experiments.regret import Stream, Way
from iln_stream.research.experiments.result import Progress, Result, mean_and_error, power_law
from iln_stream.research.related.oracle import Oracle
from iln_stream.research.theory import step_size

HORIZONS = {False: (100, 316), True: (316, 1000, 3162)}
B = 1.0


def _sampled(exponent: float, exact: bool) -> Way:
    """Return Algorithm 1 with m = T^exponent draws of a past point: of k itself, or estimated."""

    def draws(T: int) -> dict[str, Any]:
        own = Oracle(lambda X, x, _: np.asarray(regret.FAMILY.kernel(X, x)))
        return {"draws": round(T**exponent), **({"estimator": own} if exact else {})}

    return Way(regret.known, draws)


Counts = tuple[float, float, int, int]
"""The summed losses of f and of E, the entries seen, and how often it shrank."""

Method = Callable[[Stream, int], Counts]


def _algorithm_1(way: Way) -> Method:
    def learn(stream: Stream, seed: int) -> Counts:
        done, T = regret.losses(stream, B, way, seed), len(stream.y)
        seen = T * (T - 1) // 2 if way.draws is None else round(done.draws * T)
        return float(done.f.sum()), float(done.E.sum()), seen, done.n_shrinks

    return learn


def _newest(exponent: float) -> Method:
    """Return exact gradient steps on the newest T^exponent points, as kernel learners keep them."""

    def learn(stream: Stream, seed: int) -> Counts:
        T, loss, seen = len(stream.y), 0.0, 0
        k = round(T**exponent)
        model = ShrinkingGradient(
            regret.FAMILY, "exact", norm_bound=B, step=step_size(B, T), budget=k
        )
        for t, (x, y) in enumerate(zip(stream.X, stream.y.tolist(), strict=True)):
            loss, seen = loss + (model.estimate_row(x).value - y) ** 2 / 2, seen + min(t, k)
            model.learn_row(x, y)
        return loss, loss, seen, model.n_shrinks

    return learn


METHODS: Mapping[str, Method] = {
    "every entry": _algorithm_1(Way(regret.known)),
    "T sampled entries an event": _algorithm_1(_sampled(1.0, exact=True)),
    "√T sampled entries an event": _algorithm_1(_sampled(0.5, exact=True)),
    "one sampled entry an event": _algorithm_1(_sampled(0.0, exact=True)),
    "T estimates an event": _algorithm_1(_sampled(1.0, exact=False)),
    "√T estimates an event": _algorithm_1(_sampled(0.5, exact=False)),
    "newest √T points": _newest(0.5),
}


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the regrets of f and of E at growing T, and count entries.

    A full run goes to T = 3,162, a quick one to 316. A seed is a stream.
    """
    horizons, runs = HORIZONS[full], []
    for kind in ("smooth", "coins"):
        found: dict[str, list[list[Counts]]] = {name: [] for name in METHODS}
        for seed in range(seeds):
            progress(f"{kind}, seed {seed}")
            whole = regret.streams(horizons[-1], seed)[kind]
            parts = [whole.first(T) for T in horizons]
            least = [least_loss(part.L, part.y, B) for part in parts]
            for name, learn in METHODS.items():
                done = zip((learn(part, seed) for part in parts), least, strict=True)
                found[name].append(
                    [(f - best, E - best, seen, n) for (f, E, seen, n), best in done]
                )
        for name, by_seed in found.items():
            f, E, entries, shrinks = np.moveaxis(np.array(by_seed), 2, 0).tolist()
            runs.append(
                {
                    "stream": kind,
                    "method": name,
                    "entries": entries[0],
                    "n_shrinks": float(np.mean(shrinks, axis=0)[-1]),
                    "regret_of_f": [mean_and_error(at) for at in zip(*f, strict=True)],
                    "regret_of_E": [mean_and_error(at) for at in zip(*E, strict=True)],
                    "fit_of_f": power_law(horizons, f),
                    "fit_of_E": power_law(horizons, E),
                }
            )
    figures = {"T": list(horizons), "runs": runs}
    return Result("kernel_entries", {"full": full, "seeds": seeds}, figures, _notes(figures), _draw)


def _notes(figures: Mapping[str, Any]) -> list[str]:
    return [
        f"{each['stream']}, {each['method']}: {each['entries'][-1]:,.0f} entries at "
        f"T = {figures['T'][-1]:,}, {each['n_shrinks']:.1f} shrinks; "
        + "; ".join(
            f"regret of {of} {regret.value(each[f'regret_of_{of}'][-1])}, exponent "
            f"{regret.interval(each[f'fit_of_{of}'])}"
            for of in ("f", "E")
        )
        for each in figures["runs"]
    ]


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    for k, each in enumerate(figures["runs"]):
        axes.plot(
            each["entries"],
            [point["mean"] for point in each["regret_of_E"]],
            "o-" if each["stream"] == "smooth" else "s--",
            color=f"C{k % len(METHODS)}",
            label=f"{each['stream']}, {each['method']}",
            markersize=3,
        )
    bound = math.sqrt(figures["T"][-1])
    axes.axhline(bound, color="0.3", label="B√T at the last T")
    axes.set(xscale="log", yscale="log", xlabel="entries of the kernel", ylabel="regret of E")
    axes.legend(fontsize="x-small", ncols=2)
