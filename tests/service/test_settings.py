"""`Settings`: flags, variables and the TOML file, and their errors."""

import datetime as dt

import pytest

from iln_stream.service import ENV_PREFIX, Service, Settings, SettingsError


@pytest.fixture
def toml(tmp_path):
    """Write a TOML file of settings."""

    def write(text):
        file = tmp_path / "settings.toml"
        file.write_text(text)
        return file

    return write


def test_defaults():
    """By default a run reads the local Kafka and serves metrics to this machine only."""
    settings = Settings.load()
    assert (settings.source, settings.bootstrap) == ("kafka", "127.0.0.1:9092")
    assert settings.start is None
    assert settings.metrics_host == "127.0.0.1"


def test_precedence(toml, monkeypatch):
    """A flag beats a variable, a variable beats the file, the file beats the default."""
    file = toml('topic = "file"\nmetrics_host = "file"\nsource = "file.jsonl"\n')
    monkeypatch.setenv("ILN_TOPIC", "variable")
    monkeypatch.setenv("ILN_METRICS_HOST", "variable")
    settings = Settings.load(file, topic="flag")
    assert settings.topic == "flag"
    assert settings.metrics_host == "variable"
    assert settings.source == "file.jsonl"
    assert settings.window == 1000


def test_flag_not_given(toml):
    """A flag that is not given does not override the file."""
    assert Settings.load(toml("window = 5"), window=None).window == 5


WRONG = {
    "partitions": ("-1", "match pattern"),
    "start": ("yesterday", "expected earliest, latest or a time with a UTC offset"),
    "stop_at_end": ("perhaps", "valid boolean"),
    "limit": ("0", "greater than or equal to 1"),
    "kafka_options": ("{a", 'expected a JSON object like {"security_protocol": "SSL"}: '),
    "types": ("temp=number", 'expected a JSON object like {"temp": "number"}: '),
    "learner_options": ("[1]", "valid dictionary"),
    "seed": ("one", "valid integer"),
    "metrics_port": ("65536", "less than or equal to 65535"),
    "window": ("1.5", "valid integer"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("through", ["flag", "variable", "file"])
def test_wrong_value(name, through, toml, monkeypatch):
    """An error gives the expected and the actual value, and the key, flag and variable."""
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


def test_every_wrong_value_is_listed():
    """One error lists all invalid settings, one per line."""
    with pytest.raises(SettingsError) as caught:
        Settings.load(seed="x", window="0", partitions="-1")
    names = [line.split(" ")[0] for line in str(caught.value).splitlines()]
    assert sorted(names) == ["partitions", "seed", "window"]


def test_unknown_key_in_the_file(toml):
    """An unknown key in the file is an error."""
    with pytest.raises(
        SettingsError, match=r"topik \(unknown setting; did you mean topic\?\): .*got 'events'"
    ):
        Settings.load(toml('topik = "events"'))


@pytest.mark.parametrize("through", ["flag", "variable", "file"])
def test_a_removed_setting(through, toml, monkeypatch):
    """A setting of an earlier release is an error that says what to do instead."""
    config, flags = None, {}
    if through == "flag":
        flags["snapshot_events"] = "100"
    elif through == "variable":
        monkeypatch.setenv("ILN_SNAPSHOT_EVENTS", "100")
    else:
        config = toml("snapshot_events = 100")
    with pytest.raises(SettingsError, match=r"^snapshot_events was removed: set snapshot_seconds$"):
        Settings.load(config, **flags)
    assert not Settings.removed.keys() & Settings.model_fields.keys()


def test_invalid_toml(toml):
    """The error names a file that can't be parsed, and the line."""
    file = toml("seed = 1\ntopic = \n")
    with pytest.raises(SettingsError, match=rf"{file}: .*line 2"):
        Settings.load(file)


def test_missing_file(tmp_path):
    """A missing --config file is an error."""
    with pytest.raises(SettingsError, match=r"--config: file .*none\.toml does not exist"):
        Settings.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("given", "meant"), [("0", 0.0), ('"0"', "0"), ("no", "no"), ("false", False)]
)
def test_a_label_as_number_or_text(given, meant, toml):
    """Whether classes are numbers or texts, `pending_label` can be one, as flag and in the file."""
    for settings in (
        Settings.load(pending_label=given),
        Settings.load(toml(f"pending_label = '{given}'")),
    ):
        found = settings.pending_label
        assert (found, type(found)) == (meant, type(meant))


@pytest.mark.parametrize("name", ["kafka_options", "learner_options"])
def test_options(name, toml, monkeypatch):
    """Options are JSON in flags and variables, and a table in TOML, with the same meaning."""
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
        ("0", 0),
        (1200, 1200),
        ("2026-01-31T12:00:00Z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
        ("2026-01-31T12:00:00+02:00", dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)),
    ],
)
def test_start(said, meant):
    """`start` is earliest, latest, a time or an offset."""
    assert Settings.load(start=said).start == meant


@pytest.mark.parametrize("said", ["2026-01-31T12:00:00", "2026-01-31", "Earliest", "", "-1", "1.5"])
def test_start_that_is_ambiguous(said):
    """A time without a UTC offset is rejected, as it is ambiguous."""
    with pytest.raises(SettingsError, match=r"start \(--start, ILN_START\): expected earliest"):
        Settings.load(start=said)


@pytest.mark.parametrize("zone", ["Z", "+02:00"])
def test_start_as_a_toml_time(toml, zone):
    """`start` accepts TOML's own datetime type."""
    settings = Settings.load(toml(f"start = 2026-01-31T12:00:00{zone}"))
    assert settings.start == dt.datetime.fromisoformat(f"2026-01-31T12:00:00{zone}")


def test_start_as_a_toml_time_without_offset(toml):
    """TOML's local dates and times are rejected, like the same text."""
    expected = (
        r"^start \(--start, ILN_START\): expected earliest, latest or a time with a UTC offset"
    )
    for said in ("2026-01-31T12:00:00", "2026-01-31", "-5", "true"):
        with pytest.raises(SettingsError, match=expected):
            Settings.load(toml(f"start = {said}"))


def test_every_setting_is_described():
    """Each setting has a description, which --help and the README show."""
    undescribed = [name for name, field in Settings.model_fields.items() if not field.description]
    assert undescribed == []


def test_a_password_is_not_shown():
    """Errors in kafka_options do not quote the value, which may hold secrets."""
    with pytest.raises(SettingsError, match="kafka_options") as caught:
        Settings.load(kafka_options='{"sasl_plain_password": "hunter2", ')
    assert "hunter2" not in str(caught.value)


def test_a_misspelt_variable_is_warned_about(monkeypatch, recwarn):
    """An unknown variable that resembles a setting gets a warning; other variables do not."""
    monkeypatch.setenv("ILN_TARGE", "price")
    monkeypatch.setenv("ILN_SOMEBODY_ELSES", "1")
    Settings.load()
    (warning,) = recwarn
    assert str(warning.message) == "ILN_TARGE is not a setting; did you mean ILN_TARGET?"


def test_a_misspelt_key_gets_a_suggestion(tmp_path):
    """The error about an unknown TOML key suggests the setting that it resembles."""
    file = tmp_path / "iln.toml"
    file.write_text("metric_port = 1\n")
    with pytest.raises(
        SettingsError, match=r"metric_port \(unknown setting; did you mean metrics_port\?\)"
    ):
        Settings.load(file)


def test_waiting_events_need_an_id(tmp_path):
    """Without an id no label finds its event, which would be silently learned never."""
    file = tmp_path / "events.jsonl"
    file.write_text('{"ticket": "T0", "y": 1}\n')
    waiting = Settings(source=str(file), target="y", pending_events=10)
    with pytest.raises(SettingsError, match="pending_events: set id_field"):
        Service(waiting)
    Service(waiting.model_copy(update={"id_field": "ticket"}))
