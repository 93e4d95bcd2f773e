"""The code of every page of docs/ and of README.md does what the page says.

The test of a page has its name: `test_scaling` runs the blocks of docs/scaling.md.
"""

import doctest
import json
import re
import tomllib
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from river import dummy, forest, stats
from support.document import BLOCKS, DOCS, blocks, run_script, run_shell_blocks
from support.embedded_log import append, messages, values
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, read_topic
from support.ports import free_port
from support.running_api import eventually
from support.running_command import Command
from support.saved_state import saved

from iln_stream.learners.contest.contender import POLICIES, contest_metrics
from iln_stream.learners.frozen import FrozenRegressor
from iln_stream.records import Prediction, read_prediction
from iln_stream.service import Service, Settings
from iln_stream.service.streams import OF_LABELS, settings_of_labels

SESSIONS = ("river.md",)
"""Pages whose Python blocks are sessions in an interpreter."""

RUN_ELSEWHERE = {"sources.md": "streams/kafka/test_tls_sasl.py"}
"""Tests of other folders that run the blocks of a page."""

NOT_RUN = {
    ("http_api.md", "Client("): "needs a server with these certificates",
    ("fields.md", "from google.protobuf.json_format"): "needs a message class that protoc made",
    ("deploy.md", "docker build"): "needs a Docker engine; tests/stack builds the image",
    ("deploy.md", "openssl rand"): "needs a cluster; tests/services checks the secrets",
    ("deploy.md", "kubectl apply"): "needs a cluster; tests/services checks the files",
    ("deploy.md", "kubectl port-forward"): "needs a cluster; tests/services runs curl",
    ("scaling.md", "spark-submit"): "needs Spark; tests/spark/test_job.py runs the job",
}
"""Python and shell blocks that no test runs, by page and how they begin, with the reason."""


def is_not_run(page: str, text: str) -> bool:
    return any(page == of and text.lstrip().startswith(start) for of, start in NOT_RUN)


def test_every_block_is_run_or_has_a_reason() -> None:
    """Each Python and shell block is on a page that a test runs, or in NOT_RUN."""
    code = [block for block in BLOCKS if block.language in ("python", "sh")]
    for page, start in NOT_RUN:
        assert any(b.page == page and b.text.lstrip().startswith(start) for b in code), start
    run = {block.page for block in code if not is_not_run(block.page, block.text)}
    here = {page for page in run if f"test_{Path(page).stem.lower()}" in globals()}
    assert run - here == {*SESSIONS, *RUN_ELSEWHERE}
    for page, test in RUN_ELSEWHERE.items():
        assert page in (DOCS.parent / "tests" / test).read_text(encoding="utf-8")


def settings(page: str, number: int = 0) -> dict[str, Any]:
    return tomllib.loads(blocks(page, "toml")[number])


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_python(page: str, **names: Any) -> dict[str, Any]:
    """Run the page's Python blocks in their order; return their names."""
    for text in blocks(page, "python"):
        if not is_not_run(page, text):
            exec(compile(text, page, "exec"), names)
    return names


@pytest.mark.parametrize("page", SESSIONS)
def test_sessions(page: str) -> None:
    """The examples of these pages print what they say."""
    path = str(DOCS / page)
    failed, tried = doctest.testfile(path, module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried > 10


@pytest.mark.thorough
def test_champion_and_challengers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands learn, show the contenders, and promote one that then predicts. The page names
    each metric of a contest and each failure policy."""
    page = "champion_and_challengers.md"
    (here / "learn.toml").write_text(blocks(page, "toml")[0])
    _, shown, promoted, *_ = run_shell_blocks(page, here)
    for name in ("pool", "linear", "small"):
        assert f"contender: {name}" in shown
    assert "promotion of linear appended: partition 0, offset 3000" in promoted
    found = messages(here / "log.db")
    assert [each["contender"] for each in found] == ["pool"] * 3000 + ["linear"] * 3000
    (printed,) = map(json.loads, blocks(page, "json"))
    assert printed.keys() == found[-1].keys()
    assert (printed["offset"], printed["contender"]) == (found[-1]["offset"], "linear")
    assert saved(here / "state", "log-events").n_dead_letters == 0
    run_python(page)
    assert "'mixture'" in capsys.readouterr().out
    text = (DOCS / page).read_text("utf-8")
    assert not [each.name for each in contest_metrics(None) if f"`{each.name}" not in text]
    assert not [policy for policy in POLICIES if f"| `{policy}`" not in text]


@pytest.mark.thorough
def test_classes(here: Path) -> None:
    """The settings learn a stream with 1 % positives, with the weights of classes, too; the last
    prediction has the form that the page shows."""
    for said in run_shell_blocks("classes.md", here)[:2]:
        assert "2,000 events, 0 dead letters; log loss 0." in said
    shown = read_prediction(blocks("classes.md", "json")[0])
    found = read_prediction((here / "predictions.jsonl").read_text().splitlines()[-1])
    varying = {"model": None, "probabilities": None}
    assert found.model_copy(update=varying) == shown.model_copy(update=varying)
    assert found.model.name == shown.model.name
    assert [each.label for each in found.probabilities or ()] == [False, True]


@pytest.mark.thorough
def test_fields(here: Path) -> None:
    """`inspect-source` proposes the settings that the page shows, and with them each record is
    learned; so is the CSV file of another country. The page's function reads its format, and the
    line that it can't read is a dead letter."""
    _, learned, spreadsheet, own, *_ = run_shell_blocks("fields.md", here)
    assert tomllib.loads((here / "learn.toml").read_text("utf-8")) == settings("fields.md")
    assert "3 events, 0 dead letters" in learned
    assert [each["id"] for each in lines(here / "predictions.jsonl")] == ["o-1", "o-2", "o-3"]
    assert "3 events, 0 dead letters" in spreadsheet
    proposed = tomllib.loads((here / "shops.toml").read_text(encoding="utf-8"))
    assert (proposed["separator"], proposed["decimal"], proposed["date_order"]) == (";", ",", "dmy")
    assert (proposed["target"], proposed["time_field"]) == ("Turnover", "Day")
    assert proposed["types"] == {"Outside Temp": "number", "Zip": "category"}
    assert "2 events, 1 dead letters" in own
    (letter,) = lines(here / "dead-letters.jsonl")
    assert "decoder = our_format:pairs failed: ValueError" in letter["reason"]


@pytest.mark.thorough
def test_forecasts(here: Path) -> None:
    """Each record has one message for each horizon, with the fields that the page shows; the last
    lines have errors below those of the last value, with the service and without. The chain
    predicts both targets far better than their means, which are off by over 1."""
    (said,) = run_shell_blocks("forecasts.md", here)
    sent = lines(here / "forecasts.jsonl")
    assert sorted((each["offset"], each["horizon"]) for each in sent) == sorted(
        (i, horizon) for i in range(2000) for horizon in ("1", "6", "24")
    )
    (last,) = (each for each in sent if (each["offset"], each["horizon"]) == (1999, "24"))
    (shown,) = map(json.loads, blocks("forecasts.md", "json"))
    assert last | {"y_pred": 0.0} == shown | {"y_pred": 0.0, "model": last["model"]}
    assert last["model"]["name"] == shown["model"]["name"]
    assert last["y_pred"] == pytest.approx(shown["y_pred"], abs=3.0)
    for horizon in (1, 6, 24):
        line = rf"{horizon} ahead, .*2,000 events, 0 dead .*MAE ([\d.]+), .* \(([\d.]+)\)"
        mae, baseline = re.findall(line, said)[0]
        assert float(mae) < float(baseline)
    names = run_python("forecasts.md")
    values = names["values"]
    last_values = [abs(later - now) for now, later in zip(values, values[12:], strict=False)]
    assert names["mae"].get() < sum(last_values) / len(last_values)
    assert not names["published"]
    assert names["errors"]["load"].get() < 1.0
    assert names["errors"]["price"].get() < 0.5


@pytest.mark.thorough
def test_two_kafka_topics_exactly_once(broker: KafkaBroker, tmp_path: Path) -> None:
    """The page's commands create each topic of its settings, with the marks of replayed letters as
    long as the letters. `doctor` and `inspect-source` accept the settings. A run is killed at work;
    after the next one each order has one committed prediction and each delivery is learned, a
    repeat is skipped, and a record that is no order is a dead letter."""
    given = settings("sources.md")
    created = {}
    for command in blocks("sources.md", "text")[0].splitlines():
        words = command.split()
        topic, partitions, config = (
            words[words.index(f"--{name}") + 1] for name in ("topic", "partitions", "config")
        )
        created[topic] = config
        configs = dict([config.split("=")])
        create_topic(broker.bootstrap, int(partitions), name=topic, configs=configs)
    named = ("source", "labels", "predictions", "dead_letters")
    events, labels, predictions, letters = (given[each].removeprefix("kafka:") for each in named)
    assert [*created] == [events, labels, predictions, letters, f"{letters}-replayed"]
    assert created[letters] == created[f"{letters}-replayed"]
    (tmp_path / "orders.toml").write_text(blocks("sources.md", "toml")[0])
    ours = ["--config", "orders.toml", "--bootstrap", broker.bootstrap, "--profile", "fast"]
    ours += ["--snapshots", "state", "--metrics-host", "127.0.0.1", "--metrics-port", "0"]

    def send(numbers: range) -> None:
        begin = datetime(2026, 3, 1, tzinfo=UTC)
        for n in numbers:
            at, minutes = begin + timedelta(minutes=n), 9 + n % 30
            order = {"order_id": f"o-{n}", "ordered_at": at.isoformat(), "km": n % 30}
            done = (at + timedelta(minutes=minutes)).isoformat()
            delivery = {"order_id": f"o-{n}", "delivered_at": done, "minutes": minutes}
            for topic, record in ((events, order), (labels, delivery)):
                sent[topic, n % 3].append((None, json.dumps(record).encode()))
        for (topic, partition), records in sent.items():
            produce(broker.bootstrap, topic, records, partition=partition)
            records.clear()

    sent: dict[tuple[str, int], list[tuple[None, bytes]]] = defaultdict(list)
    send(range(600))
    for checked in (["doctor"], ["inspect-source", given["source"], "--labels", given["labels"]]):
        with Command(tmp_path, *checked, *ours) as check:
            assert check.wait() == 0, check.said
    with Command(tmp_path, "run", *ours) as learner:
        learner.wait_until_it_says("metrics at")
        eventually(lambda: learner.metrics().get("iln_labelled_events_total", 0) > 300)
        shown = re.findall(r"\biln_\w+(?=`)", (DOCS / "sources.md").read_text("utf-8"))
        assert {*shown} <= learner.metrics().keys() | {"iln_labels_refused_total"}
        learner.kill()
    sent[events, 0] = [(None, b'{"order_id": "o-0", "km": 0}'), (None, b"no order")]
    send(range(600, 900))
    with Command(tmp_path, "run", *ours, "--stop-at-end") as learner:
        assert learner.wait() == 0, learner.said
    state = saved(tmp_path / "state", events, "all")
    assert (state.n_events, state.n_labelled, state.n_dead_letters) == (900, 900, 1)
    published = [each for n in range(3) for each in read_topic(broker.bootstrap, predictions, n)]
    ids = sorted(json.loads(each.value)["id"] for each in published)
    assert ids == sorted(f"o-{n}" for n in range(900))
    assert len(read_topic(broker.bootstrap, letters)) == 1


@pytest.mark.thorough
def test_scaling(here: Path) -> None:
    """The run learns a model for each customer, and `inspect` shows one. So does the regressor in
    Python, and a prior for Spark is written."""
    events = [
        {"x": {"customer": f"c{n % 20}", "price": n % 7}, "y": n % 20 + n % 7} for n in range(400)
    ]
    append(here / "log.db", (json.dumps(each).encode() for each in events))
    given = {"ILN_STOP_AT_END": "true", "ILN_METRICS_PORT": "0"}
    (said,) = run_shell_blocks("scaling.md", here, 1, **given)
    assert "400 events, 0 dead letters" in said
    assert re.search(r"c17\b", said)
    (here / "state").mkdir()
    sample = [({"shop": "a", "price": 1.0 * n}, 2.0 * n) for n in range(9)]
    names = run_python("scaling.md", sample=sample)
    assert names["model"].predict_one({"shop": "a", "price": 9.5}) != 0.0
    assert (here / "state" / "spark.prior.npz").is_file()


def test_late_labels() -> None:
    """The settings of labels are valid, and the page names all that there are."""
    *_, own = blocks("late_labels.md", "toml")
    found = settings_of_labels(Settings(labels="kafka:deliveries", **tomllib.loads(own)))
    assert (found.id_field, found.target) == ("order_id", "result.minutes")
    assert found.bootstrap == "other-broker:9092"
    page = (DOCS / "late_labels.md").read_text(encoding="utf-8")
    assert not [name for name in OF_LABELS if name not in page and "registry" not in name]


@pytest.mark.thorough
def test_predictions(here: Path) -> None:
    """With the page's settings each prediction has nested intervals that contain it."""
    (here / "learn.toml").write_text(blocks("http_api.md", "toml")[0])
    Service(Settings.load(here / "learn.toml", metrics_port=0)).run()
    found = (here / "predictions.jsonl").read_text().splitlines()
    assert len(found) == 200
    for each in map(read_prediction, found):
        assert isinstance(each, Prediction)
        assert isinstance(each.y_pred, float)
        assert each.intervals is not None
        (wide_low, wide_high), (low, high) = each.intervals["0.9"], each.intervals["0.5"]
        assert wide_low <= low <= each.y_pred <= high <= wide_high


@pytest.mark.thorough
def test_restart(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row that the table names is in `inspect`; the card and the prediction name the same
    stream and model. The loaded learner has learned all events, and explains by the inputs. The
    history is learned and shown, and the run then predicts the log alone."""
    (here / "learn.toml").write_text(blocks("restart.md", "toml")[0])
    said, _, warm, kept = run_shell_blocks("restart.md", here)
    assert "predicts until `--unpin`" in kept
    page = (DOCS / "restart.md").read_text(encoding="utf-8")
    table = page[page.index("| question |") :].partition("\n\n")[0]
    *questions, _, _ = table.splitlines()[2:]  # the last two are not of `inspect`
    shown = {name for line in questions for name in re.findall("`([^`]+)`", line)}
    for name in shown - {"inspect", "history: files", "running accuracy"}:
        assert f" {name} " in said, name
    card = FrozenRegressor.load(here / "model.npz").card
    assert card["data"]["next_offsets"] == {"0": 500}
    last = json.loads(values(here / "friedman.db", "predictions")[-1])
    assert (last["stream"], last["offset"]) == (card["data"]["stream"], 499)
    assert {"name", "version"} <= last["model"].keys()
    run_python("restart.md")
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("500 ")
    assert set(re.findall(r"'(\w+)'", second)) <= {str(i) for i in range(10)}
    assert "history (history.csv): 4 events, 0 dead letters" in warm
    assert "the log goes on at offset 0 of log-events:0" in warm
    assert "history.csv: 4 events, 4 of them learned" in warm
    assert "\n2 events, 0 dead letters" in warm
    before, after = (each["y_pred"] for each in lines(here / "predictions.jsonl"))
    assert 8.0 <= after <= before <= 12.5  # not the 0 of a new learner


def with_free_ports(script: str) -> str:
    """Replace the ports of a script, which others on this machine may use."""
    script = script.replace("iln-stream run", f"iln-stream run --metrics-port {free_port()}")
    script = re.sub(
        "iln-stream serve (?=--events|--models)", "iln-stream serve --port 8080 ", script
    )
    for port in ("8080", "8081", "8090"):
        script = script.replace(port, str(free_port()))
    return script


def answers(printed: str) -> list[dict[str, Any]]:
    """Return the JSON objects that a script printed, with or without lines between them."""
    found, rest = [], printed
    while "{" in rest:
        rest = rest[rest.index("{") :]
        answer, end = json.JSONDecoder().raw_decode(rest)
        found.append(answer)
        rest = rest[end:]
    return found


@pytest.mark.thorough
def test_http_api(tmp_path: Path) -> None:
    """In a shell, each command succeeds, and each answer has the form of the one printed."""
    script = "echo\n".join(blocks("http_api.md", "sh")).replace("pip install 'iln-stream[api]'", "")
    more = """ --learner-options '{"profile": "fast"}' --pending-events 9"""
    script = script.replace(" --publish models &\n", f" --publish models{more} &\n")
    found = answers(run_script(with_free_ports(script), tmp_path))
    unseen = [form(json.loads(text)) for text in blocks("http_api.md", "json")]
    for answer in found:
        if unseen and form(answer) == unseen[0]:
            unseen.pop(0)
    assert not unseen, found
    assert found[-1]["name"] == "log-events-0"


def form(value: Any) -> Any:
    """Return keys and kinds of values, without the values."""
    if isinstance(value, dict):
        return {key: form(each) for key, each in value.items()}
    if isinstance(value, list):
        if all(isinstance(each, str) for each in value):
            return "texts"  # of any number: the version may have learned nothing yet
        return [form(each) for each in value]
    return "number" if isinstance(value, int | float) else type(value).__name__


def test_tutorial(tmp_path: Path) -> None:
    """From a file that nobody prepared to an answer over HTTP, and on after a kill: the errors and
    the forecast are what the page states."""
    script = with_free_ports("".join(blocks("tutorial.md", "sh")))
    printed = run_script(f"exec 2>&1\n{script}", tmp_path)
    assert 'target = "demand"' in printed
    summary = r"^6,000 events, 0 dead letters; MAE ([\d.]+), .* \(([\d.]+)\)"
    (stated,) = re.findall(summary, (DOCS / "tutorial.md").read_text(), re.M)
    for found in re.findall(summary, printed, re.M):
        assert [*map(float, found)] == pytest.approx([*map(float, stated)], abs=0.05)
    assert len(re.findall(summary, printed, re.M)) == 2
    (answer,) = re.findall(r'^{"predictions".*', printed, re.M)
    assert json.loads(answer)["predictions"][0]["y_pred"] == pytest.approx(50, abs=2)
    assert "6,000, 6,000 of them learned" in printed


def test_deliveries(here: Path) -> None:
    """The proposal has the page's settings, the error is what the page states, and the three late
    records are skipped, refused with the stated reason, and kept waiting."""
    _, proposed, _, learned, later = run_shell_blocks("deliveries.md", here)
    assert 'labels_settings = { "target" = "minutes", "id_field" = "order"' in proposed
    mae, baseline = re.findall(r"MAE ([\d.]+), .*? \(([\d.]+)\)", learned)[0]
    assert (float(mae), float(baseline)) == pytest.approx((2.9, 7.8), abs=0.1)
    assert re.search(r"events +│ 5,000, 4,853 of them learned", learned)
    assert "5,001 events, 1 dead letters, 1 repeats, waiting: 3 events and 1 labels" in later
    assert "can't be" in later
    assert lines(here / "predictions.jsonl")[-1]["id"] == "o-10000"


def test_fraud(tmp_path: Path) -> None:
    """The losses are those that the page states: aggregates by key more than halve them. An answer
    over HTTP says how old what it knows of the card is."""
    script = with_free_ports("".join(blocks("fraud.md", "sh")))
    printed = run_script(f"exec 2>&1\n{script}", tmp_path)  # scores are among the log
    losses = [float(loss) for loss in re.findall(r"log loss ([0-9.]+)", printed)]
    assert losses == pytest.approx([0.1275, 0.0454], abs=0.005)
    answer = answers(printed)[-1]
    assert answer["predictions"][0]["probabilities"]["false"] > 0.5
    assert answer["model"]["keys_age_seconds"] >= 0.0


def test_readme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The service records an event and answers with a prediction. The Python code prints the error
    that the text states; so do the peers that it names."""
    (script,) = blocks("../README.md", "sh")
    ready, recorded, predicted = answers(run_script(with_free_ports(script), tmp_path))
    assert ready["ready"]
    assert recorded["appended"] == [{"partition": 0, "offset": 0, "is_new": True}]
    assert predicted["predictions"][0]["y_pred"] in (0.0, 13.2)  # before or after it was learned
    assert errors_of_readme(OURS, "dummy.StatisticRegressor(stats.Mean())", capsys=capsys) == [
        pytest.approx(0.92, abs=0.006),
        pytest.approx(4.03, abs=0.006),
    ]


@pytest.mark.thorough
def test_peer_of_readme(capsys: pytest.CaptureFixture[str]) -> None:
    """River's adaptive random forest has the error that README states."""
    (error,) = errors_of_readme("forest.ARFRegressor(seed=1)", capsys=capsys)
    assert error == pytest.approx(1.96, abs=0.006)


OURS = "InfiniteLayerRegressor(seed=1)"


def errors_of_readme(*models: str, capsys: pytest.CaptureFixture[str]) -> list[float]:
    """What README's code prints with each of these models in place of ours."""
    (code,) = blocks("../README.md", "python")
    errors = []
    for model in models:
        exec(code.replace(OURS, model), {"forest": forest, "dummy": dummy, "stats": stats})
        errors.append(float(capsys.readouterr().out.removeprefix("MAE:")))
    return errors
