"""docker-compose.yml as a file, with Grafana: what can be checked before anything runs."""

from pathlib import Path, PurePosixPath

from stack.compose import Compose


def test_compose_accepts_the_file(compose: Compose) -> None:
    """Protects every user's first command from a file that Compose refuses."""
    compose("config", "--quiet")


def test_ports_are_on_the_loopback_and_can_be_chosen(compose: Compose) -> None:
    """Protects the machine's network from a stack that asks for no password."""
    services = compose.config()["services"].values()
    ports = [port for service in services for port in service.get("ports", ())]

    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}
    assert {int(port["published"]) for port in ports} == {
        compose.api_port,
        compose.kafka_port,
        compose.page_port,
        compose.learner_port,
        compose.prometheus_port,
        compose.grafana_port,
    }


def test_everything_mounted_exists(compose: Compose) -> None:
    """Protects from a mistyped path, for which Docker would mount a new, empty folder."""
    for name, service in compose.config()["services"].items():
        for volume in service.get("volumes", ()):
            if volume["type"] == "bind":
                assert Path(volume["source"]).exists(), f"{name}: {volume['source']}"


def test_grafana_opens_on_a_dashboard_that_exists(compose: Compose) -> None:
    """Protects the page a visitor sees first, as Grafana itself can't be run in the tests."""
    grafana = compose.config()["services"]["grafana"]
    home = PurePosixPath(grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    folders = {volume["target"]: Path(volume["source"]) for volume in grafana["volumes"]}

    assert (folders[str(home.parent)] / home.name).is_file()
