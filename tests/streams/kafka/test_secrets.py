"""`kafka_secrets`: what a file may contain, and errors that show neither value nor path."""

import warnings
from pathlib import Path

import pytest

from iln_stream.errors import IlnWarning, SourceError
from iln_stream.service import Settings, SettingsError, output_stream
from iln_stream.streams import StreamOptions, stream_at
from iln_stream.streams.kafka.connection import SECRETS, read_secrets, warn_of_readable

VALUE = "pass word/äöü"


def file_with(folder, content):
    file = folder / "secret"
    file.write_bytes(content)
    file.chmod(0o600)
    return str(file)


@pytest.mark.parametrize(
    ("content", "value"),
    [(VALUE, VALUE), (VALUE + "\n", VALUE), (VALUE + "\r\n", VALUE), (" a\n\n", " a\n")],
)
def test_content(tmp_path, content, value):
    """The value is the content without the one newline that editors append; spaces may belong to
    a password."""
    file = file_with(tmp_path, content.encode())
    assert read_secrets(dict.fromkeys(SECRETS, file)) == dict.fromkeys(SECRETS, value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n", "the file is empty; write the value"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"a" * 70_000, "more than 65536 bytes"),
    ],
)
def test_content_that_is_refused(tmp_path, content, message):
    """A file that holds no password, or a folder, is an error that names the option."""
    with pytest.raises(SourceError, match=f"kafka_secrets: ssl_password: .*{message}"):
        read_secrets({"ssl_password": file_with(tmp_path, content)})
    with pytest.raises(SourceError, match="ssl_password: can't read the file: Is a directory"):
        read_secrets({"ssl_password": str(tmp_path)})


@pytest.mark.parametrize("given", [VALUE, "/etc/hunter2", "a\0b", "a" * 5_000])
def test_a_value_in_place_of_its_path(given):
    """Who gives the password in place of the path gets an error without the password."""
    with pytest.raises(SourceError, match="kafka_secrets: sasl_plain_password: ") as caught:
        read_secrets({"sasl_plain_password": given})
    assert given not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", ["ssl_keyfile", "sasl_password"])
def test_options_that_are_no_secrets(tmp_path, name):
    """Misspelt options and options that are paths themselves are refused by name."""
    with pytest.raises(SourceError, match=f"kafka_secrets: {name} can't be in a file"):
        read_secrets({name: file_with(tmp_path, b"a")})


def test_files_that_all_can_read(tmp_path):
    """A file that every user can read is a warning; one for owner and group is none."""
    files = {"ssl_password": file_with(tmp_path, b"a")}
    Path(files["ssl_password"]).chmod(0o640)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_readable(files)
    Path(files["ssl_password"]).chmod(0o644)
    with pytest.warns(IlnWarning, match="can read the file of ssl_password: chmod o-r"):
        stream_at("kafka:a", StreamOptions(kafka_secrets=files)).check()


def test_an_option_given_twice(tmp_path):
    """A password in both settings is an error, as one of the two would be ignored."""
    files = {"ssl_password": file_with(tmp_path, b"a")}
    stream = stream_at(
        "kafka:a", StreamOptions(kafka_secrets=files, kafka_options={"ssl_password": "b"})
    )
    with pytest.raises(SourceError, match="kafka_secrets: ssl_password is in kafka_options"):
        stream.check()


def test_the_setting(tmp_path):
    """The setting is JSON in a flag; a wrong one is an error that does not quote it."""
    settings = Settings.load(kafka_secrets='{"ssl_password": "no-such-file"}')
    with pytest.raises(SourceError, match="ssl_password: there is no such file"):
        output_stream(settings, "kafka:a").check()
    for wrong in ('{"ssl_password": 81723}', '["hunter2"]', '{"ssl_password": "hunter2"'):
        with pytest.raises(SettingsError, match="kafka_secrets") as caught:
            Settings.load(kafka_secrets=wrong)
        assert "81723" not in str(caught.value)
        assert "hunter2" not in str(caught.value)
