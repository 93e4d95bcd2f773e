"""Settings of the API."""

import pytest

from iln_stream.service import Settings
from iln_stream.serving.settings import ApiSettings
from iln_stream.settings import SettingsError


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    """No variables of the machine."""
    for name in ("ILN_API_PORT", "ILN_API_BATCH_EVENTS", "ILN_PORT"):
        monkeypatch.delenv(name, raising=False)


def test_one_file_for_learner_and_api(tmp_path):
    """The table `api` is the API's; all the rest is the learner's."""
    file = tmp_path / "c.toml"
    file.write_text("seed = 7\n[api]\nport = 5\n")
    assert ApiSettings.load(file).port == 5
    assert Settings.load(file).seed == 7


def test_mistakes(tmp_path, monkeypatch):
    """Errors name key, flag and variable, and what an unknown key may mean."""
    with pytest.raises(SettingsError, match=r"port \(--port, ILN_API_PORT\): .*, got 'x'"):
        ApiSettings.load(port="x")
    file = tmp_path / "c.toml"
    file.write_text("[api]\nbatch_event = 1\n")
    with pytest.raises(SettingsError, match="did you mean batch_events"):
        ApiSettings.load(file)


def test_passwords_are_not_shown():
    """The options of Kafka may hold a password, which no error repeats."""
    with pytest.raises(SettingsError) as refused:
        ApiSettings.load(kafka_options="[secret]")
    assert "secret" not in str(refused.value)


def test_variables_of_the_api_are_no_misspellings(monkeypatch, recwarn):
    """The learner does not take the API's variables for its own, misspelt."""
    monkeypatch.setenv("ILN_API_LOG_LEVEL", "info")
    Settings.load()
    assert not recwarn.list
    monkeypatch.setenv("ILN_API_LOG_LEVLE", "info")
    ApiSettings.load()
    assert "did you mean ILN_API_LOG_LEVEL" in str(recwarn.pop().message)
