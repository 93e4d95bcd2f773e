"""Words by which the names and values of fields are recognised, of words.toml."""

import tomllib
from pathlib import Path

_FILE = Path(__file__).with_name("words.toml")

WORDS = {name: text.split() for name, text in tomllib.loads(_FILE.read_text("utf-8")).items()}
