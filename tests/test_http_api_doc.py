"""The commands in docs/http_api.md work as printed."""

import json
import re
from pathlib import Path
from typing import Any

from support.document import free_port, run_script

PAGE = Path(__file__).parents[1] / "docs" / "http_api.md"


def test_every_command_of_the_page(tmp_path: Path) -> None:
    """In a shell, each command succeeds, and each answer has the form of the one printed."""
    blocks = re.findall(r"^```(sh|json)\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.M)
    printed = [json.loads(text) for kind, text in blocks if kind == "json"]
    commands = "".join(
        f"{text}echo; echo '---'\n" for kind, text in blocks if kind == "sh"
    ).replace("pip install 'iln-stream[api]'\n", "")
    profile = ' --learner-options \'{"profile": "fast"}\' --metrics-port 0 --pending-events 9 &\n'
    script = (
        commands.replace(" --publish models &\n", f" --publish models{profile}")
        .replace("iln-stream serve --events", "iln-stream serve --port 8080 --events")
        .replace("8080", str(free_port()))
        .replace("8081", str(free_port()))
    )
    found = run_script(script, tmp_path)
    answers = [json.loads(line) for line in found.splitlines() if line.startswith("{")]
    unseen = [form(each) for each in printed]
    for answer in answers:
        if unseen and form(answer) == unseen[0]:
            unseen.pop(0)
    assert not unseen, found
    assert answers[-1]["name"] == "log-events-0"


def form(value: Any) -> Any:
    """Return keys and kinds of values, without the values."""
    if isinstance(value, dict):
        return {key: form(each) for key, each in value.items()}
    if isinstance(value, list):
        if all(isinstance(each, str) for each in value):
            return "texts"  # of any number: the version may have learned nothing yet
        return [form(each) for each in value]
    return "number" if isinstance(value, int | float) else type(value).__name__
