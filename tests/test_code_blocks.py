"""Every code block of docs/*.md and README.md is one that a reader can use.

test_pages.py runs the code. Here settings load, JSON is read by the decoders that the service uses,
and every `iln-stream` command parses. test_documents.py checks BibTeX, and nginx runs in
serving/page/test_behind_a_proxy.py.
"""

import ast
import json
import re
import runpy
import shlex
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import yaml
from support.document import BLOCKS, DOCS, Code
from typer.main import get_command

from iln_stream.cli.app import app
from iln_stream.records import decode, promoted, read_prediction
from iln_stream.records.messages import DeadLetter
from iln_stream.service import Settings
from iln_stream.serving.settings import ApiSettings

PROGRAMS = ("awk", "cat", "curl", "docker", "echo", "grep", "install", "IFS=", "keytool", "kill",
            "kubectl", "openssl", "pip", "printf", "sleep", "spark-submit", "tail",
            "TOKEN=", "until", "for", "done", "do")  # fmt: skip
"""Other programs that commands of the documents call."""


KAFKA = {"kafka-topics.sh", "kafka-acls.sh", "kafka-console-consumer.sh"}
"""Kafka's commands."""


def of(language: str) -> list[Code]:
    """Return the blocks of a language."""
    found = [block for block in BLOCKS if block.language == language]
    assert found
    return found


def test_each_language_has_its_rule() -> None:
    """A block of a new kind has to get a rule in this file; `bash` and `shell` are `sh`."""
    known = {"python", "sh", "toml", "json", "yaml", "nginx", "", "{toctree}", "{eval-rst}"}
    assert {block.language for block in BLOCKS} <= known | {"text", "ini", "bibtex"}


def test_commands_of_kafka() -> None:
    """Topics and rights are set by Kafka's own commands, on a page whose tests set the same."""
    for block in of("text"):
        assert block.page == "sources.md"
        assert {line.split()[0] for line in block.text.splitlines() if line[0] != " "} <= KAFKA


def test_units_run_a_command() -> None:
    """A unit of systemd runs a command that parses."""
    for block in of("ini"):
        unit = ConfigParser()
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read_string(block.text)
        program, *words = shlex.split(unit["Service"]["ExecStart"])
        assert Path(program).name == "iln-stream"
        command, rest = command_of(words)
        command.make_context("iln-stream", rest)


def test_settings_load(tmp_path: Path) -> None:
    """Every file of settings in the documents, and that a command of a page writes, has only
    settings that exist, with valid values."""
    texts = [block.text for block in of("toml")]
    for block in of("sh"):
        texts += re.findall(r"\.toml <<'?END'?\n(.*?)^END$", block.text, re.M | re.S)
    for text in texts:
        (tmp_path / "learn.toml").write_text(text, encoding="utf-8")
        assert Settings.load(tmp_path / "learn.toml").model_fields_set, text
        if "[api]" in text:
            ApiSettings.load(tmp_path / "learn.toml")


def test_json_is_what_it_shows() -> None:
    """JSON parses; events, labels, predictions, dead letters and commands are valid ones."""
    for value in (value for block in of("json") for value in _values(block.text)):
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


def test_yaml_names_what_exists() -> None:
    """YAML parses; its metrics exist, and its jobs are those that our alerts ask for.
    services/test_alertmanager.py lets Prometheus read it."""
    metrics = set(runpy.run_path(str(DOCS / "metrics_table.py"))["metrics"]())
    prometheus = DOCS.parent / "services" / "prometheus"
    ours = yaml.safe_load((prometheus / "prometheus.yml").read_text())
    jobs = {each["job_name"] for each in ours["scrape_configs"]}
    for block in of("yaml"):
        assert set(re.findall(r"\biln_\w+", block.text)) <= metrics
        found = yaml.safe_load(block.text).get("scrape_configs", ())
        assert {each["job_name"] for each in found} <= jobs


def test_python_and_shell_parse() -> None:
    """Every Python block that is no session in an interpreter compiles, and bash parses every
    shell block."""
    for block in of("python"):
        if ">>>" not in block.text:
            compile(block.text, block.page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for block in of("sh"):
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
    targets = set(re.findall(r"^([a-z-]+):", (DOCS.parent / "Makefile").read_text(), re.M))
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
    for page in (*DOCS.glob("*.md"), DOCS.parent / "README.md", DOCS.parent / "CHANGELOG.md"):
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


def test_make_installs_extras_that_exist() -> None:
    """Each target installs the package with one of its extras, and the command reads as written."""
    command = ["make", "--dry-run", "--always-make", "VENV=none", "bench", "quality", "release"]
    printed = subprocess.run(
        command, cwd=DOCS.parent, capture_output=True, text=True, check=True
    ).stdout
    wanted = set(re.findall(r"--editable '\.\[(\w+)\]'(?= \|\||\n)", printed))
    assert wanted == {"bench", "dev", "quality", "release"}
    assert wanted <= set(metadata("iln_stream").get_all("Provides-Extra"))
