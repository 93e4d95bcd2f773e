"""Commands: which records are commands, and what they say."""

import pytest

from iln_stream.records import MalformedError, is_command, promoted, promotion


@pytest.mark.parametrize("name", ["linear", 'a "b"', "köln"])
def test_a_promotion_names_its_contender(name: str) -> None:
    """The record of a promotion is recognised as a command and gives the name back."""
    record = promotion(name)
    assert is_command(record)
    assert promoted(record) == name


@pytest.mark.parametrize(
    "payload", [None, b"", b'{"x": {"iln_stream": 1}, "y": 2}', {"iln_stream": {"promote": "a"}}]
)
def test_other_records_are_none(payload: bytes | None) -> None:
    """Events, tombstones and rows of tables are never taken for commands."""
    assert not is_command(payload)


@pytest.mark.parametrize(
    ("payload", "names"),
    [
        (b'{"iln_stream": {"demote": "a"}}', "a command is .*, got .*'demote'"),
        (b'{"iln_stream": {"promote": ""}}', "a command is "),
        (b'{"iln_stream": {"promote": "a"}, "x": {}}', "a command is .*'x'"),
        (b'{"iln_stream"', "Invalid JSON"),
        (b'{"iln_stream": {"promote": "' + b"a" * (1 << 20) + b'"}}', "bytes"),
    ],
)
def test_a_wrong_command_is_named(payload: bytes, names: str) -> None:
    """A command that is none says which field is wrong and what a command is."""
    assert is_command(payload)
    with pytest.raises(MalformedError, match=names):
        promoted(payload)
