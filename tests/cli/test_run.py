"""`iln-stream run`, from its inputs to its outputs, messages and exit codes."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from support.command_line import COMMAND, environment, iln, python
from support.embedded_log import append

EVENTS = "".join(f'{{"x": {{"a": {i % 7}}}, "y": {i % 7 * 2}}}\n' for i in range(50))


@pytest.fixture
def run(command):
    """`iln-stream run` on a free port."""
    return lambda *arguments: command("run", "--metrics-port", "0", *arguments)


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_json_lines_file(run, tmp_path):
    """A file of JSON lines is learned, and the last line reports the result and what it lacked."""
    (tmp_path / "events.jsonl").write_text(EVENTS + '?\n{"x": {"a": 1}}\n')
    done = run("--source", "events.jsonl", "--predictions", "out/p.jsonl").ok()
    assert "51 events, 1 dead letters, 1 without a label; MAE " in done.err
    assert re.search(r"; MAE \S+, .* than the (running mean|last value) \(\S+\)\n", done.err)
    assert len(lines((tmp_path / "out/p.jsonl").read_text())) == 51
    assert lines((tmp_path / "dead-letters.jsonl").read_text())[0]["offset"] == 50


def test_a_run_without_trouble_says_little(run, tmp_path):
    """Its log has room for trouble: where its page, metrics and outputs are, and how it went."""
    (tmp_path / "events.jsonl").write_text(EVENTS * 20)
    append(tmp_path / "log.db", [line.encode() for line in EVENTS.splitlines() * 20])
    done = run(
        *("--source", "sqlite:log.db", "--warm-start", "events.jsonl", "--page-port", "0"),
        *("--start", "earliest", "--stop-at-end", "--profile", "fast", "--predictions", "p.jsonl"),
        *("--snapshots", "state", "--publish", "models"),
    ).ok()
    assert len(done.err.splitlines()) < 15, done.err
    assert "1,000 events, 0 dead letters; MAE " in done.err.splitlines()[-1]


def test_a_users_own_pipeline(run, tmp_path):
    """A River pipeline in a module of the current folder is a learner, with its options."""
    (tmp_path / "my_models.py").write_text(
        "from river import linear_model, preprocessing\n"
        "def make(l2):\n"
        "    return preprocessing.StandardScaler() | linear_model.LinearRegression(l2=l2)\n"
    )
    (tmp_path / "events.jsonl").write_text(EVENTS)
    done = run(
        *("--source", "events.jsonl", "--learner", "my_models:make"),
        *("--learner-options", '{"l2": 0.1}'),
    ).ok()
    assert "50 events, 0 dead letters" in done.err


def test_variable_and_file(command, tmp_path, monkeypatch):
    """A variable can name the TOML file, and a flag overrides the file."""
    (tmp_path / "run.toml").write_text(
        'source = "synthetic:Friedman"\nlimit = 30\nmetrics_port = 0\n'
        '[learner_options]\nprofile = "fast"\n'
    )
    monkeypatch.setenv("ILN_CONFIG", "run.toml")
    assert "30 events, 0 dead letters" in command("run").err
    monkeypatch.delenv("ILN_CONFIG")
    assert "7 events, " in command("run", "--config", "run.toml", "--limit", "7").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--source", "events.doc"],
            "source = 'events.doc': give kafka, kafka:TOPIC, sqlite:PATH, a file",
        ),
        (["--window", "0"], "window (--window, ILN_WINDOW): expected at least 1"),
        (["--seed", "1.5"], "seed (--seed, ILN_SEED): expected a whole number, got '1.5'"),
        (["--decimal", ";"], "decimal (--decimal, ILN_DECIMAL): expected '.' or ',', got ';'"),
        (["--profile", "fsat"], "or 'fast', got 'fsat'; did you mean fast?"),
        (["--types", "number"], 'expected a JSON object like {"temp": "number"}, got \'number\''),
        (["--learner-options", "[1]"], "expected an object: names and values, got [1]"),
        (["--learner-options", '{"sede": 1}'], "unknown option 'sede'; infinite-layer has the opt"),
        (["--learner", "pol"], "learner = 'pol': did you mean pool?"),
        (["--learner", "river.linear_model:PARegresor"], "did you mean PARegressor?"),
        (["--learner", "none:model"], "No module named 'none'"),
        (["--source", "kafak:a"], "did you mean kafka?"),
        (["--source", "."], "source = '.': it is a folder"),
        (["--config", "."], "--config: file . is no file"),
        (["--source", "river:Bananas", "--predictions", "."], "can't write .: Is a directory"),
        (["--config", "none.toml"], "--config: file none.toml does not exist"),
        ([], "start: choose where to begin in kafka:iln-events: earliest, latest or a time"),
    ],
)
def test_errors(run, arguments, said):
    """An error that the user can fix is one line on standard error, with exit code 2."""
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_error_of_a_process(tmp_path):
    """An error is one line without traceback, also on a narrow screen and with any quoted text."""
    done = iln("run", "--source", "[/b]none", cwd=tmp_path, env={"COLUMNS": "40"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: source = '[/b]none': give kafka, kafka:TOPIC, sqlite:PATH, a file (.csv, .tsv, "
        ".txt, .jsonl, .ndjson, .json, also .gz, .bz2, .xz or .zip; .parquet), -, river:NAME, "
        "synthetic:NAME, or package.module:attribute of a source\n"
    )


def test_log_as_json(tmp_path):
    """With log_format = json each line of the output is an object."""
    (tmp_path / "run.toml").write_text('source = "synthetic:Friedman"\nlog_format = "json"\n')
    told = iln("run", "--config=run.toml", "--limit=20", "--metrics-port=0", cwd=tmp_path)
    assert told.returncode == 0
    first, second, last = lines(told.stderr)
    assert first["message"].startswith("metrics at http://")
    assert second["message"] == (
        "learning from synthetic:Friedman with infinite-layer; dead letters to dead-letters.jsonl"
    )
    assert last["message"].startswith("20 events, 0 dead letters; MAE ")
    assert {first["level"], last["level"]} == {"info"}


def test_errors_as_json(tmp_path):
    """With log_format = json errors are objects, too, even about settings."""
    json_log = {"ILN_LOG_FORMAT": "json", "ILN_WINDOWS": "5"}
    done = iln("run", "--window=0", cwd=tmp_path, env=json_log)
    assert (done.returncode, done.stdout) == (2, "")
    warning, error = lines(done.stderr)
    assert warning["level"] == "warning"
    assert "did you mean ILN_WINDOW?" in warning["message"]
    assert error["level"] == "error"
    assert "window (--window" in error["message"]


def test_fault_as_json(tmp_path):
    """With log_format = json an internal error is an object with its traceback; exit code 1."""
    program = (
        "import iln_stream.cli.run as run, iln_stream.cli\n"
        "def fail(*_, **__): raise KeyError('oh')\n"
        "run.Service = fail\n"
        "iln_stream.cli.main()\n"
    )
    done = python(program, "run", "--source=synthetic:Friedman", "--log-format=json")
    assert done.returncode == 1
    (fault,) = lines(done.stderr)
    assert fault["level"] == "critical"
    assert fault["exception"].endswith("KeyError: 'oh'")


def test_ailing_learner(run, tmp_path):
    """If the learner fails on every event, the run ends with the learner's error in one line."""
    (tmp_path / "ailing.py").write_text(
        "from river import base\n"
        "class Bad(base.Regressor):\n"
        "    def predict_one(self, x): raise KeyError('oh')\n"
        "    def learn_one(self, x, y): pass\n"
    )
    done = run("--source", "synthetic:Friedman", "--learner", "ailing:Bad").refused()
    assert done.err.endswith(
        "error: Friedman: none of the first 100 records could be learned. The first: the learner "
        "failed: KeyError: 'oh'\n"
    )
    assert len((tmp_path / "dead-letters.jsonl").read_text().splitlines()) == 100


def test_standard_input_to_standard_output(tmp_path):
    """In a shell pipeline, standard output has only predictions."""
    done = iln(
        *("run", "--source", "-", "--predictions", "-", "--metrics-port", "0"),
        cwd=tmp_path,
        stdin=EVENTS,
    )
    assert done.returncode == 0, done.stderr
    predictions = lines(done.stdout)
    assert [p["offset"] for p in predictions] == list(range(50))
    assert {p["stream"] for p in predictions} == {"stdin"}


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.thorough)])
def test_reader_that_leaves(unbuffered, tmp_path):
    """If the reader of standard output leaves (`head`), the run ends silently with 141."""
    arguments = ["--source", "synthetic:Friedman", "--metrics-port", "0", "--predictions", "-"]
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [*COMMAND, "run", *arguments],
        cwd=tmp_path,
        env=environment(PYTHONUNBUFFERED=unbuffered),
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(write_end)
        os.read(read_end, 10)
        os.close(read_end)
        _, error = process.communicate(timeout=30)
    assert [line.split(" ", 1)[1][:12] for line in error.splitlines()] == [
        "INFO metrics",
        "INFO learnin",
    ]
    assert process.returncode == 128 + signal.SIGPIPE


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_standard_output_on_a_full_disk(tmp_path):
    """Predictions that can't be written to standard output are an error."""
    arguments = ["--source", "synthetic:Friedman", "--metrics-port", "0", "--predictions", "-"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "run", *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: can't write standard output: No space")


@pytest.mark.parametrize(
    ("closed", "flag", "said"),
    [
        pytest.param(
            *(">&-", "--predictions", "can't write to -: standard output is closed; name a file"),
            marks=pytest.mark.thorough,
        ),
        ("<&-", "--source", "source = '-': standard input is closed; name a file"),
    ],
)
def test_standard_stream_that_is_closed(closed, flag, said, tmp_path):
    """`-` for a closed standard stream is an error with a remedy."""
    arguments = ["run", "--metrics-port=0", "--source=synthetic:Friedman", "--limit=5", flag, "-"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"error: {said}")
    assert "Traceback" not in done.stderr


def test_numbers_as_text_in_events(run, tmp_path, caplog):
    """Numbers in quotes are categories in events: the run says so, once for each name."""
    events = [{"x": {"temp": f"{i}.5", "sky": "clear"}, "y": i} for i in range(5)]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, events)))
    run("--source", "events.jsonl", "--learner", "pool").ok()
    (warning,) = [each for each in caplog.messages if "is taken as a category" in each]
    assert warning.startswith("x.temp: the text '0.5' is taken as a category")
