"""Texts and crosses of fields, on records as they are: `python -m benchmarks.own_records`.

`tickets`: subjects of 4 to 9 words, of which 70 % are those of their queue, one of 200; the others
are frequent words of all. Ours with `types = { subject = "text" }`, beside River's pipeline
`BagOfWords | MultinomialNB` with `learner_inputs = "record"`: accuracy of each event's prediction
before it is learned. `deliveries`: minutes that depend on the zone at each hour, each of 30 zones
in its own way; mean absolute error of the later half, with and without `crosses = ["zone*hour"]`.

`--files FOLDER`: files that nobody prepared. Beside each is FILE.toml, with the settings of a
person who knows the file, and on its first line, `# Language, where it is from`. `inspect-source`
gets the file and the target alone; both settings learn the first records, and the error of what is
proposed is divided by that of the settings by hand.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from river import feature_extraction, naive_bayes

from benchmarks.speed.report import versions
from iln_stream import InfiniteLayerClassifier, InfiniteLayerRegressor
from iln_stream.cli import main as main_of_command_line
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_table_row

Records = Sequence[dict[str, Any]]


def tickets(n: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield tickets."""
    rng = np.random.default_rng(seed)
    n_words, n_queues = 1_500, 200
    common = 1.0 / np.arange(1, n_words + 1)
    queues = 1.0 / np.arange(1, n_queues + 1) ** 0.7
    own = [rng.choice(n_words, 12, replace=False) for _ in range(n_queues)]
    common, queues = common / common.sum(), queues / queues.sum()
    for _ in range(n):
        queue = int(rng.choice(n_queues, p=queues))
        words = rng.choice(n_words, int(rng.integers(4, 10)), p=common)
        is_own = rng.random(len(words)) < 0.7
        words = np.where(is_own, rng.choice(own[queue], len(words)), words)
        yield {"subject": " ".join(f"w{word}" for word in words), "queue": f"q{queue}"}


def deliveries(n: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield deliveries, a minute apart."""
    rng = np.random.default_rng(seed)
    jams = rng.gamma(1.0, 6.0, (30, 24)) * (rng.random((30, 24)) < 0.4)
    for t in range(n):
        zone, kilometres = int(rng.integers(30)), float(rng.gamma(2.0, 2.0))
        jam = jams[zone, t // 60 % 24]
        minutes = 10.0 + 3.0 * kilometres + jam + rng.normal(0.0, 2.0)
        yield {"at": 60.0 * t, "zone": f"z{zone}", "km": kilometres, "minutes": minutes}


def predicted(learner: Any, decode: MappedDecoder, records: Records) -> Iterator[tuple[Any, Any]]:
    """Yield each event's prediction, made before it is learned, and its label."""
    for record in records:
        x, y, *_ = decode(record, None)
        yield learner.predict_one(x), y
        learner.learn_one(x, y)


def accuracies(n: int, seed: int, profile: str) -> dict[str, float]:
    """Return the accuracies on tickets."""
    mapping = FieldMapping(target="queue", types={"subject": "text"})
    bag = feature_extraction.BagOfWords(on="subject") | naive_bayes.MultinomialNB()
    ways: dict[str, tuple[Any, Any]] = {
        "ours": (InfiniteLayerClassifier(seed=1, profile=profile), "columns"),  # type: ignore[arg-type]
        "BagOfWords | MultinomialNB": (bag, "record"),
    }
    records, found = list(tickets(n, seed)), {}
    for name, (learner, inputs) in ways.items():
        decode = MappedDecoder(mapping, parse_table_row, "class", learner_inputs=inputs)
        began = perf_counter()
        right = [y_pred == y for y_pred, y in predicted(learner, decode, records)]
        found[name] = float(np.mean(right))
        took = (perf_counter() - began) / n * 1e3
        print(f"tickets, seed {seed}: {name:<28} {found[name]:.3f}, {took:.1f} ms", flush=True)
    return found


def errors(n: int, seed: int, profile: str) -> dict[str, float]:
    """Return the mean absolute errors on deliveries."""
    records, found = list(deliveries(n, seed)), {}
    for name, crosses in {"without crosses": (), "zone*hour": ("zone*hour",)}.items():
        mapping = FieldMapping(
            target="minutes", time_field="at", time_features=("hour",), crosses=crosses
        )
        learner = InfiniteLayerRegressor(seed=1, profile=profile)  # type: ignore[arg-type]
        both = [*predicted(learner, MappedDecoder(mapping, parse_table_row), records)]
        found[name] = float(np.mean([abs(y_pred - y) for y_pred, y in both[n // 2 :]]))
        print(f"deliveries, seed {seed}: {name:<28} {found[name]:.3f}", flush=True)
    return found


def cost_of_categories(n: int = 20_000) -> None:
    """Print what three categories, one of them an id, add to an event of profile `fast`."""
    rng = np.random.default_rng(0)
    numbers = [{f"a{i}": float(v) for i, v in enumerate(row)} for row in rng.normal(size=(n, 10))]
    sizes = {"zone": 10, "kind": 20, "customer": 5_000}
    names = [{f"{k}={rng.integers(m)}": 1.0 for k, m in sizes.items()} for _ in range(n)]
    for what, events in {
        "ten numbers": numbers,
        "and three categories": [{**x, **more} for x, more in zip(numbers, names, strict=True)],
    }.items():
        learner = InfiniteLayerRegressor(seed=1, profile="fast")
        for began_at, x in enumerate(events):
            if began_at == n // 2:
                began = process_time()
            learner.predict_one(x)
            learner.learn_one(x, x["a0"])
        print(f"{what}: {(process_time() - began) / (n - n // 2) * 1e6:.1f} us", flush=True)


_RESULT = re.compile(r"([\d,]+) events, ([\d,]+) dead letters.*?; (MAE|log loss) ([\d.,e+-]+)")


def command(folder: Path, *arguments: str) -> tuple[str, str]:
    """Run `iln-stream` in a folder, and return what it writes to standard output and error."""
    out, err = StringIO(), StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err), suppress(SystemExit):
        sys.argv = ["iln-stream", *arguments]
        main_of_command_line()
    return out.getvalue(), err.getvalue()


def learned(folder: Path, settings: Path, limit: int) -> dict[str, Any]:
    """Return what a run with these settings says of its errors, or why there are none."""
    run = ("run", "--config", str(settings), "--limit", str(limit), "--metrics-port", "0")
    _, said = command(folder, *run, "--dead-letters", "dead-letters.jsonl")
    if (found := _RESULT.search(said)) is None:
        return {"refused": said.strip().splitlines()[-1]}
    n, n_dead, measure, error = (each.replace(",", "") for each in found.groups())
    whole = {"events": int(n), "dead_letters": int(n_dead)}
    return {**whole, "measure": measure, "error": float(error.rstrip("."))}


def of_files(folder: Path, limit: int) -> dict[str, Any]:
    """Return the errors of proposals and of settings by hand on the files of a folder."""
    found: dict[str, Any] = {}
    with TemporaryDirectory() as made:
        for by_hand in sorted(folder.glob("*.toml")):
            text = by_hand.read_text("utf-8")
            file, target = (tomllib.loads(text)[name] for name in ("source", "target"))
            proposal = Path(made, by_hand.name)
            settings, said = command(folder, "inspect-source", file, "--target", target)
            proposal.write_text(settings, "utf-8")
            right = learned(folder, by_hand.resolve(), limit)
            ours = learned(folder, proposal, limit) if settings else {"refused": said}
            row = {"from": text.splitlines()[0].lstrip("# "), "proposed": ours, "by_hand": right}
            if {"error"} <= ours.keys() & right.keys():
                row["ratio"] = round(ours["error"] / right["error"], 4)
            found[file] = row
            print(f"{file:<28} {row.get('ratio', 'refused')}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tickets", type=int, default=3_000)
    parser.add_argument("--deliveries", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--categories", action="store_true", help="measure only their cost")
    parser.add_argument("--files", type=Path, help="a folder of files with settings by hand")
    parser.add_argument("--limit", type=int, default=5_000, help="records of a file")
    given = parser.parse_args()
    if given.categories:
        cost_of_categories()
        return
    if given.files:
        found = of_files(given.files, given.limit)
        if given.json:
            file = Path(given.json)
            results = json.loads(file.read_text("utf-8")) if file.exists() else {}
            files = results.get("of_files", {}).get("files", {}) | found
            results["of_files"] = {"versions": versions(), "limit": given.limit, "files": files}
            file.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return
    runs = [
        {
            "tickets": accuracies(given.tickets, seed, given.profile),
            "deliveries": errors(given.deliveries, seed, given.profile),
        }
        for seed in range(given.seeds)
    ]
    if given.json:
        sizes = {name: getattr(given, name) for name in ("tickets", "deliveries", "profile")}
        results = {"versions": versions(), **sizes, "runs": runs}
        Path(given.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
