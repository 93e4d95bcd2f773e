"""`Settings`: flags, variables and the TOML file, and their errors."""

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


def test_precedence(toml, monkeypatch):
    """A flag beats a variable, a variable the file, the file the default; a flag that is not given
    beats nothing."""
    file = toml('topic = "file"\nmetrics_host = "file"\nsource = "file.jsonl"\n')
    monkeypatch.setenv("ILN_TOPIC", "variable")
    monkeypatch.setenv("ILN_METRICS_HOST", "variable")
    settings = Settings.load(file, topic="flag", source=None)
    assert settings.topic == "flag"
    assert settings.metrics_host == "variable"
    assert settings.source == "file.jsonl"
    assert settings.window == 1000


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("partitions", "-1", "expected a text of the pattern"),
        ("start", "yesterday", "expected earliest, latest or a time with a UTC offset"),
        ("kafka_options", "{a", 'expected a JSON object like {"security_protocol": "SSL"}'),
        ("learner_options", "[1]", "expected an object"),
        ("metrics_port", "65536", "expected at most 65535"),
    ],
)
@pytest.mark.parametrize("through", ["flag", "variable", "file"])
def test_wrong_value(name, value, expected, through, toml, monkeypatch):
    """An error gives the expected and the actual value, and the key, flag and variable; not the
    value of an option that may hold a password."""
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
    if name == "kafka_options":
        assert "{a" not in line
    else:
        assert line.endswith(f"got {value!r}" if name != "learner_options" else "got [1]")
    assert "Value error" not in line


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"horizon": "1,1"}, "a horizon is given twice"),
        ({"horizon": "1x"}, "'1x' is no horizon"),
        ({"lags": {"a": 0}}, "lags.*a: "),
        ({"rolling_means": {"a": "b"}}, "rolling_means.*a: expected a number of records"),
        ({"prediction_intervals": "0.9,1"}, "prediction_intervals .*between 0 and 1, not 1"),
        ({"prediction_intervals": "0.5,0.5"}, "prediction_intervals .*twice"),
        ({"class_weights": {"true": -1}}, "class_weights .*: a weight is a finite number"),
        ({"class_weights": {"true": float("inf")}}, "class_weights .*: a weight is a finite num"),
        ({"by_key": ""}, "by_key"),
    ],
)
def test_values_of_a_form_of_their_own(given, message):
    """A wrong value is refused with the setting's name and the form that is expected."""
    with pytest.raises((SettingsError, ValueError), match=message):
        Settings.load(**given)


def test_forms_of_numbers():
    """A list, its text and a single number mean the same; a single lag number means all up to it,
    a single number of means is one window."""
    for given in ([1, "6h"], "1, 6h"):
        assert Settings(horizon=given).horizon == ("1", "6h")
    assert Settings(horizon=24).horizon == ("24",)
    found = Settings(lags='{"a": 3, "b": [7]}', rolling_means={"a": 3})
    assert found.lags == {"a": [1, 2, 3], "b": [7]}
    assert found.rolling_means == {"a": [3]}
    assert Settings.load(prediction_intervals="0.9,0.5").prediction_intervals == (0.9, 0.5)


def test_every_wrong_value_is_listed():
    """One error lists all invalid settings, one per line."""
    with pytest.raises(SettingsError) as caught:
        Settings.load(seed="x", window="0", partitions="-1")
    names = [line.split(" ")[0] for line in str(caught.value).splitlines()]
    assert sorted(names) == ["partitions", "seed", "window"]


def test_unknown_key_in_the_file(toml):
    """An unknown key in the file is an error."""
    with pytest.raises(
        SettingsError, match=r"topik: unknown setting, got 'events'; did you mean topic\?$"
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


def test_options(toml, monkeypatch):
    """Options are JSON in flags and variables, and a table in TOML, with the same meaning."""
    name = "learner_options"
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
        ("latest", "latest"),
        ("1200", 1200),
        ("2026-01-31T12:00:00Z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
        ("2026-01-31T12:00:00+02:00", dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)),
    ],
)
def test_start(said, meant):
    """`start` is earliest, latest, a time or an offset."""
    assert Settings.load(start=said).start == meant


@pytest.mark.parametrize("said", ["2026-01-31T12:00:00", "Earliest", "", "-1", "1.5"])
def test_start_that_is_ambiguous(said):
    """A time without a UTC offset is rejected, as it is ambiguous."""
    with pytest.raises(SettingsError, match=r"start \(--start, ILN_START\): expected earliest"):
        Settings.load(start=said)


def test_start_as_a_toml_time(toml):
    """`start` accepts TOML's own datetime type; local dates and times are rejected, like the same
    text."""
    meant = dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)
    assert Settings.load(toml("start = 2026-01-31T12:00:00+02:00")).start == meant
    expected = r"^start \(--start, ILN_START\): expected earliest, latest or a time with a UTC"
    for said in ("2026-01-31T12:00:00", "2026-01-31", "-5", "true"):
        with pytest.raises(SettingsError, match=expected):
            Settings.load(toml(f"start = {said}"))


def test_every_setting_is_described():
    """Each setting has a description, which --help and the README show."""
    undescribed = [name for name, field in Settings.model_fields.items() if not field.description]
    assert undescribed == []


def test_a_misspelt_variable_is_warned_about(monkeypatch, recwarn):
    """An unknown variable that resembles a setting gets a warning; other variables do not."""
    monkeypatch.setenv("ILN_TARGE", "price")
    monkeypatch.setenv("ILN_SOMEBODY_ELSES", "1")
    Settings.load()
    (warning,) = recwarn
    assert str(warning.message) == "ILN_TARGE is not a setting; did you mean ILN_TARGET?"
