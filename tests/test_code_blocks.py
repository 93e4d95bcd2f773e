"""Every code block of docs/*.md and README.md is run, checked, or listed with the reason.

Python and shell blocks are run, by the test that RUN_BY names or, Python only, here. Settings load,
JSON is read by the decoders that the service uses, and every `iln-stream` command parses. BibTeX
is checked by test_paper_document.py, nginx runs in page/test_behind_a_proxy.py. A block
that no test can run is in NOT_RUN.
"""

import ast
import json
import re
import runpy
import shlex
import subprocess
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
import yaml
from support.document import DOCS
from typer.main import get_command

from iln_stream.cli.app import app
from iln_stream.records import decode, promoted, read_prediction
from iln_stream.records.messages import DeadLetter
from iln_stream.service import Settings
from iln_stream.serving.settings import ApiSettings

ROOT = DOCS.parent
TESTS = ROOT / "tests"

RUN_BY = {
    "README.md": "test_tutorial.py",
    "champion_and_challengers.md": "test_champion_and_challengers_document.py",
    "classes.md": "test_classes_document.py",
    "client.md": "serving/client/test_page.py",
    "fields.md": "test_fields_document.py",
    "forecasts.md": "test_forecasts_document.py",
    "history.md": "test_history_document.py",
    "how_to_secure_kafka.md": "streams/kafka/test_tls_sasl.py",
    "http_api.md": "test_http_api_doc.py",
    "kafka.md": "test_how_to_pages.py",
    "keys.md": "test_how_to_pages.py",
    "late_labels.md": "test_late_labels_document.py",
    "paper.md": "test_paper_document.py",
    "predictions.md": "test_predictions_document.py",
    "recovery.md": "test_how_to_pages.py",
    "river.md": "test_using.py",
    "several_targets.md": "test_how_to_pages.py",
    "tutorial.md": "test_tutorial.py",
    "using.md": "test_using.py",
}
"""The test that runs a page's Python and shell blocks."""

NOT_RUN = {
    ("client.md", "Client("): "needs a server with these certificates",
    ("fields.md", "from google.protobuf.json_format"): "needs a message class that protoc made",
    ("how_to_kubernetes.md", "docker build"): "needs a Docker engine; tests/stack builds the image",
    ("how_to_kubernetes.md", "openssl rand"): "needs a cluster; tests/services checks the secrets",
    ("how_to_kubernetes.md", "kubectl apply"): "needs a cluster; tests/services checks the files",
    ("how_to_kubernetes.md", "kubectl port-forward"): "needs a cluster; tests/services runs curl",
    ("spark.md", "spark-submit"): "needs Spark; tests/spark/test_job.py runs the job",
    ("workers.md", "iln-stream run"): "needs a topic of Kafka with two partitions; "
    "tests/service/test_worker_processes.py has one",
}
"""Python and shell blocks that no test runs, by page and how they begin, with the reason."""

INPUTS = {"spark.md": {"sample": [({"shop": "a", "price": 1.0 * n}, 2.0 * n) for n in range(9)]}}
"""What the Python blocks of a page take for granted."""

RUN_HERE = ("algorithm.md", "experiments.md", "spark.md")
"""Pages whose Python blocks are run here, in their order, in an empty folder."""

PROGRAMS = ("awk", "cat", "curl", "docker", "echo", "grep", "install", "IFS=", "keytool", "kubectl",
            "openssl", "pip", "printf", "schemathesis", "sleep", "spark-submit", "tail", "TOKEN=",
            "until", "for", "done", "do")  # fmt: skip
"""Other programs that commands of the documents call."""


KAFKA = {"kafka-topics.sh", "kafka-acls.sh", "kafka-console-consumer.sh"}
"""Kafka's commands."""


class Code(NamedTuple):
    """A fenced block: its page, its language, and its text without the page's indentation."""

    page: str
    language: str
    text: str

    @property
    def is_run(self) -> bool:
        """Whether it is to be run."""
        return self.language in ("python", "sh")

    @property
    def reason(self) -> str | None:
        """Why it is not run, if NOT_RUN has it."""
        first = self.text.lstrip()
        found = [why for (page, start), why in NOT_RUN.items()
                 if page == self.page and first.startswith(start)]  # fmt: skip
        return found[0] if found and self.is_run else None


def code() -> list[Code]:
    """Return the blocks of all pages, in their order."""
    fenced = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
    return [
        Code(page.name, block[2], textwrap.dedent(block[3]))
        for page in (*sorted(DOCS.glob("*.md")), ROOT / "README.md")
        for block in fenced.finditer(page.read_text(encoding="utf-8"))
    ]


BLOCKS = code()


def of(language: str) -> list[Any]:
    """Return the blocks of a language as parameters, named by page and number."""
    numbers: Counter[str] = Counter()
    found = []
    for block in BLOCKS:
        if block.language == language:
            numbers[block.page] += 1
            found.append(pytest.param(block, id=f"{block.page}-{numbers[block.page]}"))
    return found


def test_each_language_has_its_rule() -> None:
    """A block of a new kind has to get a rule in this file; `bash` and `shell` are `sh`."""
    known = {"python", "sh", "toml", "json", "yaml", "nginx", "", "{toctree}", "{eval-rst}"}
    assert {block.language for block in BLOCKS} <= known | {"text", "ini", "bibtex"}


@pytest.mark.parametrize("block", of("text"))
def test_commands_of_kafka_have_a_test(block: Code) -> None:
    """Topics and rights are set by Kafka's own commands, on pages whose tests set the same."""
    assert {line.split()[0] for line in block.text.splitlines() if line[0] != " "} <= KAFKA
    tests = {
        "kafka.md": "test_kafka_document.py",
        "how_to_secure_kafka.md": "streams/kafka/test_acls.py",
    }
    assert block.page in (TESTS / tests[block.page]).read_text(encoding="utf-8")


@pytest.mark.parametrize("block", of("ini"))
def test_units_run_a_command(block: Code) -> None:
    """A unit of systemd runs a command that parses."""
    unit = ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(block.text)
    program, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name == "iln-stream"
    command, rest = command_of(words)
    command.make_context("iln-stream", rest)


def test_every_block_is_run_or_has_a_reason() -> None:
    """Each Python and shell block is on a page that a test runs, or in NOT_RUN."""
    for block in BLOCKS:
        if block.is_run and block.reason is None:
            assert block.page in RUN_BY or block.page in RUN_HERE, block


def test_the_tables_are_current() -> None:
    """Each entry of NOT_RUN is a block, and each test of RUN_BY names the page that it runs."""
    for page, start in NOT_RUN:
        assert any(b.page == page and b.text.lstrip().startswith(start) for b in BLOCKS), start
    for page, test in RUN_BY.items():
        assert any(b.page == page and b.is_run and b.reason is None for b in BLOCKS), page
        assert page in (TESTS / test).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("block", of("toml"))
def test_settings_load(block: Code, tmp_path: Path) -> None:
    """Every file of settings in the documents has only settings that exist, with valid values."""
    (tmp_path / "learn.toml").write_text(block.text, encoding="utf-8")
    assert Settings.load(tmp_path / "learn.toml").model_fields_set
    ApiSettings.load(tmp_path / "learn.toml") if "[api]" in block.text else None


@pytest.mark.parametrize("block", [each for each in of("sh") if ".toml <<" in each.values[0].text])
def test_settings_within_commands_load(block: Code, tmp_path: Path) -> None:
    """So do those that a command of the page writes."""
    for text in re.findall(r"\.toml <<'?END'?\n(.*?)^END$", block.text, re.M | re.S):
        (tmp_path / "learn.toml").write_text(text, encoding="utf-8")
        assert Settings.load(tmp_path / "learn.toml").model_fields_set


@pytest.mark.parametrize("block", of("json"))
def test_json_is_what_it_shows(block: Code) -> None:
    """JSON parses; events, labels, predictions, dead letters and commands are valid ones."""
    for value in _values(block.text):
        text = json.dumps(value)
        if "y_pred" in value:
            read_prediction(text)
        elif {"x", "id"} & value.keys():
            decode(text.encode())
        elif "payload_sha256" in value:
            shown = DeadLetter.model_validate_json(text)
            again = (shown.stream, shown.partition, shown.offset, shown.payload.encode())
            assert DeadLetter.of(*again, shown.reason, shown.key) == shown
        elif "iln_stream" in value:
            promoted(text.encode())


def _values(text: str) -> Iterator[dict[str, Any]]:
    while text := text.strip():
        value, end = json.JSONDecoder().raw_decode(text)
        yield value
        text = text[end:]


@cache
def metrics() -> set[str]:
    """Return the names of all metrics."""
    return set(runpy.run_path(str(DOCS / "metrics_table.py"))["metrics"]())


@pytest.mark.parametrize("block", of("yaml"))
def test_yaml_names_what_exists(block: Code) -> None:
    """YAML parses; the metrics in it exist, and its jobs are those that our alerts ask for."""
    found = yaml.safe_load(block.text)
    assert set(re.findall(r"\biln_\w+", block.text)) <= metrics()
    ours = yaml.safe_load((ROOT / "services" / "prometheus" / "prometheus.yml").read_text())
    jobs = {each["job_name"] for each in ours["scrape_configs"]}
    assert {each["job_name"] for each in found.get("scrape_configs", ())} <= jobs


@pytest.mark.parametrize("block", of("python"))
def test_python_compiles(block: Code) -> None:
    """Every Python block that is no session in an interpreter compiles."""
    if ">>>" not in block.text:
        compile(block.text, block.page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("page", RUN_HERE)
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of the page run in their order."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "state").mkdir()
    names = dict(INPUTS.get(page, {}))
    for block in BLOCKS:
        if block.page == page and block.language == "python" and block.reason is None:
            exec(compile(block.text, page, "exec"), names)


@pytest.mark.parametrize("block", of("sh"))
def test_shell_parses(block: Code) -> None:
    """bash parses every shell block."""
    done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, ""), block.text


@cache
def commands() -> click.Group:
    """Return the commands of `iln-stream`."""
    return get_command(app)  # type: ignore[return-value]


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that the words after `iln-stream` name, and the other words."""
    command: Any = commands()
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, f"iln-stream has no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


def lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each command in a shell block, without here-documents and comments."""
    text = re.sub(r"<<'?END'?(.*?\n).*?^END$", r"\1", text, flags=re.M | re.S)
    text = re.sub(r"(^|\s)# .*$", "", text.replace("\\\n", " "), flags=re.M)
    lexer = shlex.shlex(f"{text}\n", posix=True, punctuation_chars="&|;<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("&|;\n"):
            if words:
                yield words
            words = []
        else:
            words.append(word)


def test_every_command_parses() -> None:
    """In shell blocks and those without a language, each `iln-stream` command parses, with all its
    options; make has the targets, and Python the modules."""
    seen: dict[str, int] = defaultdict(int)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for block in BLOCKS:
        if block.language not in ("sh", ""):
            continue
        if block.language == "" and not re.search(
            r"^(iln-stream|make|\S*python) |\| iln-stream ", block.text, re.M
        ):
            continue  # a drawing, or what a program prints
        for words in lines(block.text):
            program = words[0].rpartition("/")[2]
            seen[program] += 1
            if program == "iln-stream":
                command, rest = command_of(words[1:])
                if "<" in rest or ">" in rest:
                    rest = rest[: min(rest.index(each) for each in "<>" if each in rest)]
                command.make_context("iln-stream", rest, resilient_parsing=False)
            elif program == "make":
                assert words[1] in targets, words
            elif program == "python" and "-m" in words:
                assert find_spec(words[words.index("-m") + 1]), words
            else:
                assert program == "python" or program.startswith(PROGRAMS), words
    assert min(seen["iln-stream"] // 30, seen["make"] // 5, seen["python"] // 8) > 0


def test_every_command_in_the_text_exists() -> None:
    """A command within a sentence, `iln-stream rebuild --skip`, exists, with the flags."""
    found = set()
    for page in (*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"):
        text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        found |= set(re.findall(r"(?<!`)`iln-stream ([a-z][^`]*)`(?!`)", text))
    assert len(found) > 80
    for each in found:
        if " / " not in each:
            words = shlex.split(each)
            command, rest = command_of(words)
            known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
            flags = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
            assert flags <= known | {"--help"}, each
