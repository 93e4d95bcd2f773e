"""`Settings`: one meaning, whatever it is said through."""

import datetime as dt

import pytest

from iln_stream.service import ENV_PREFIX, Settings, SettingsError


@pytest.fixture
def toml(tmp_path):
    """Write a TOML file of settings."""

    def write(text):
        file = tmp_path / "settings.toml"
        file.write_text(text)
        return file

    return write


def test_defaults():
    """Without a word said, a run reads the local Kafka and serves metrics to this machine only."""
    settings = Settings.load()
    assert (settings.source, settings.bootstrap) == ("kafka", "127.0.0.1:9092")
    assert settings.start is None
    assert settings.metrics_host == "127.0.0.1"


def test_precedence(toml, monkeypatch):
    """A flag beats a variable, a variable beats the file, the file beats the default."""
    file = toml('topic = "file"\nmodel = "file"\nsource = "file.jsonl"\n')
    monkeypatch.setenv("ILN_TOPIC", "variable")
    monkeypatch.setenv("ILN_MODEL", "variable")
    settings = Settings.load(file, topic="flag")
    assert settings.topic == "flag"
    assert settings.model == "variable"
    assert settings.source == "file.jsonl"
    assert settings.window == 1000


def test_flag_not_given(toml):
    """A flag that nobody gave doesn't hide what the file says."""
    assert Settings.load(toml("window = 5"), window=None).window == 5


WRONG = {
    "partitions": ("-1", "match pattern"),
    "start": ("yesterday", "expected earliest, latest or a time with its offset"),
    "stop_at_end": ("perhaps", "valid boolean"),
    "limit": ("0", "greater than or equal to 1"),
    "kafka_options": ("{a", "expected a JSON object"),
    "learner_options": ("[1]", "valid dictionary"),
    "seed": ("one", "valid integer"),
    "metrics_port": ("65536", "less than or equal to 65535"),
    "window": ("1.5", "valid integer"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("through", ["flag", "variable", "file"])
def test_wrong_value(name, through, toml, monkeypatch):
    """A wrong value is told with what is expected and got, and the name in all its spellings."""
    value, expected = WRONG[name]
    config, flags = None, {}
    if through == "flag":
        flags[name] = value
    elif through == "variable":
        monkeypatch.setenv(ENV_PREFIX + name.upper(), value)
    else:
        config = toml(f"{name} = '{value}'")
    with pytest.raises(SettingsError) as caught:
        Settings.load(config, **flags)
    (line,) = str(caught.value).splitlines()
    flag = name.replace("_", "-")
    assert line.startswith(f"{name} (--{flag}, ILN_{name.upper()}): ")
    assert expected in line
    if name != "kafka_options":  # may hold a password
        assert line.endswith(f"got {value!r}" if name != "learner_options" else "got [1]")
    assert "Value error" not in line


def test_every_wrong_value_is_told():
    """All that is wrong is told at once, a line each."""
    with pytest.raises(SettingsError) as caught:
        Settings.load(seed="x", window="0", partitions="-1")
    names = [line.split(" ")[0] for line in str(caught.value).splitlines()]
    assert sorted(names) == ["partitions", "seed", "window"]


def test_unknown_key_in_the_file(toml):
    """A misspelt key is told, not passed over."""
    with pytest.raises(SettingsError, match=r"topik \(no such setting; topic\?\): .*got 'events'"):
        Settings.load(toml('topik = "events"'))


def test_file_that_is_no_toml(toml):
    """A file that can't be parsed is named, with the place."""
    file = toml("seed = 1\ntopic = \n")
    with pytest.raises(SettingsError, match=rf"{file}: .*line 2"):
        Settings.load(file)


def test_missing_file(tmp_path):
    """A configuration that was asked for and isn't there is not ignored."""
    with pytest.raises(SettingsError, match=r"--config: there is no file .*none\.toml"):
        Settings.load(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["kafka_options", "learner_options"])
def test_options(name, toml, monkeypatch):
    """Options are JSON in flags and variables and a table in TOML, and mean the same."""
    meant = {"budget": 500, "deep": {"list": [1, "a", None, True]}}
    said = '{"budget": 500, "deep": {"list": [1, "a", null, true]}}'
    assert getattr(Settings.load(**{name: said}), name) == meant
    in_toml = toml(f"[{name}]\nbudget = 500\ndeep.list = [1, 'a']")
    assert getattr(Settings.load(in_toml), name) == {"budget": 500, "deep": {"list": [1, "a"]}}
    monkeypatch.setenv(f"ILN_{name.upper()}", said)
    assert getattr(Settings.load(), name) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("2026-01-31T12:00:00Z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
        ("2026-01-31T12:00:00+02:00", dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)),
    ],
)
def test_start(said, meant):
    """A run starts at an end of the topic or at a moment."""
    assert Settings.load(start=said).start == meant


@pytest.mark.parametrize("said", ["2026-01-31T12:00:00", "2026-01-31", "Earliest", "", "0"])
def test_start_that_is_ambiguous(said):
    """A time without its offset could be any of a day's hours, so it is refused."""
    with pytest.raises(SettingsError, match=r"start \(--start, ILN_START\): expected earliest"):
        Settings.load(start=said)


@pytest.mark.parametrize("zone", ["Z", "+02:00"])
def test_start_as_a_toml_time(toml, zone):
    """TOML's own times serve as well as text."""
    settings = Settings.load(toml(f"start = 2026-01-31T12:00:00{zone}"))
    assert settings.start == dt.datetime.fromisoformat(f"2026-01-31T12:00:00{zone}")


def test_start_as_a_toml_time_without_offset(toml):
    """TOML's local dates and times are refused as their text would be."""
    expected = r"^start \(--start, ILN_START\): expected earliest, latest or a time with its offset"
    for said in ("2026-01-31T12:00:00", "2026-01-31", "5"):
        with pytest.raises(SettingsError, match=expected):
            Settings.load(toml(f"start = {said}"))


def test_every_setting_is_described():
    """--help and the README have a sentence on each setting."""
    undescribed = [name for name, field in Settings.model_fields.items() if not field.description]
    assert undescribed == []


def test_a_password_is_not_told():
    """What is wrong with kafka_options is told without repeating them: they may hold secrets."""
    with pytest.raises(SettingsError, match="kafka_options") as caught:
        Settings.load(kafka_options='{"sasl_plain_password": "hunter2", ')
    assert "hunter2" not in str(caught.value)


def test_a_misspelt_variable_is_told(monkeypatch, recwarn):
    """A variable that looks like a setting is not ignored in silence; others are not ours."""
    monkeypatch.setenv("ILN_TARGE", "price")
    monkeypatch.setenv("ILN_SOMEBODY_ELSES", "1")
    Settings.load()
    (warning,) = recwarn
    assert str(warning.message) == "ILN_TARGE is no setting: did you mean ILN_TARGET?"


def test_a_misspelt_key_is_told_with_what_was_meant(tmp_path):
    """An unknown TOML key comes with the setting it resembles."""
    file = tmp_path / "iln.toml"
    file.write_text("metric_port = 1\n")
    with pytest.raises(SettingsError, match=r"metric_port \(no such setting; metrics_port\?\)"):
        Settings.load(file)
