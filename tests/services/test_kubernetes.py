"""The Kubernetes manifests: valid, consistent, confined; their settings and commands run."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml
from support.kafka_topics import create_topic
from support.running_api import eventually
from support.running_command import Command
from support.secured_kafka import PASSWORD, secured_broker
from support.web import answers

from iln_stream.service import Settings
from iln_stream.serving.server import STOP_SECONDS
from iln_stream.serving.settings import ApiSettings

TOP = Path(__file__).parents[2]
MANIFESTS = TOP / "services" / "kubernetes"
PAGE = (
    (TOP / "docs" / "deploy.md").read_text().partition("\n## Kubernetes\n")[2].partition("\n## ")[0]
)
RESOURCES = [
    each
    for file in sorted(MANIFESTS.glob("*.yaml"))
    for each in yaml.safe_load_all(file.read_text())
]
TOKEN = "token-of-the-test-0123456789"


def resource(kind: str, name: str = "iln-stream") -> dict[str, Any]:
    """Return one resource."""
    (found,) = [r for r in RESOURCES if (r["kind"], r["metadata"]["name"]) == (kind, name)]
    return found


def pod() -> dict[str, Any]:
    """Return the pod of the StatefulSet."""
    return dict(resource("StatefulSet")["spec"]["template"]["spec"])


def container(name: str) -> dict[str, Any]:
    """Return one container."""
    (found,) = [each for each in pod()["containers"] if each["name"] == name]
    return dict(found)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The TOML file of the ConfigMap."""
    file = tmp_path / "iln.toml"
    file.write_text(resource("ConfigMap")["data"]["iln.toml"])
    return file


def test_every_manifest_is_valid() -> None:
    """Each resource fits the schema of its kind, strictly; a warning is a failure, too."""
    program = shutil.which("kubernetes-validate", path=str(Path(sys.executable).parent)) or ""
    files = map(str, sorted(MANIFESTS.glob("*.yaml")))
    done = subprocess.run(
        [program, "--strict", *files], capture_output=True, text=True, timeout=120, check=False
    )
    said = (done.stdout + done.stderr).splitlines()
    assert (done.returncode, {line.split()[0] for line in said}) == (0, {"INFO"}), said
    assert len(said) == len(RESOURCES)


def test_settings_fit_the_pod(config: Path) -> None:
    """Both processes accept the settings; ports, folders and the topic are those of the other
    process and of the manifests."""
    learner, api = Settings.load(config), ApiSettings.load(config)
    assert (Path(str(learner.publish)), learner.source_address) == (api.models, api.events)
    assert learner.kafka_options == api.kafka_options
    assert learner.kafka_secrets == api.kafka_secrets
    assert learner.bootstrap == api.bootstrap
    ports = {p["name"]: p["containerPort"] for name in ("learner", "api") for p in
             container(name)["ports"]}  # fmt: skip
    assert ports == {"metrics": learner.metrics_port, "http": api.port}
    assert pod()["terminationGracePeriodSeconds"] > max(30, STOP_SECONDS)
    annotations = resource("StatefulSet")["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(learner.metrics_port)
    for name in ("snapshots", "publish"):
        assert mounted("learner", str(getattr(learner, name))) == ("state", False)
    assert mounted("api", str(api.models)) == ("state", True)


def mounted(name: str, path: str) -> tuple[str, bool] | None:
    """Return the volume with a path in a container, and whether it is read-only."""
    for each in container(name)["volumeMounts"]:
        if PurePosixPath(path).is_relative_to(each["mountPath"]):
            return each["name"], each.get("readOnly", False)
    return None


def test_secrets_are_files_of_the_secret(config: Path) -> None:
    """Each secret that the settings name is in the volume of the Secret that the how-to creates."""
    named = set(re.findall(r'"(/run/secrets/[^"]+)"', config.read_text()))
    created = set(re.findall(r"--from-file=(\S+)", PAGE))
    assert {PurePosixPath(path).name for path in named} == created
    for path in named:
        assert mounted("learner", path) == mounted("api", path) == ("secrets", True)
    volumes = {each["name"]: each for each in pod()["volumes"]}
    assert volumes["secrets"]["secret"] == {"secretName": "iln-stream", "defaultMode": 0o440}
    assert "create secret generic iln-stream" in PAGE


def test_the_pod_is_confined() -> None:
    """No container runs as root, gets a capability, or writes outside its volumes; no variable of
    a Service can be taken for a setting."""
    assert pod()["enableServiceLinks"] is False
    assert pod()["automountServiceAccountToken"] is False
    context = pod()["securityContext"]
    user = re.search(r"^USER (\d+):(\d+)$", (TOP / "services/learner/Dockerfile").read_text(), re.M)
    assert user is not None
    assert (str(context["runAsUser"]), str(context["fsGroup"])) == user.groups()
    assert (context["runAsNonRoot"], context["seccompProfile"]["type"]) == (True, "RuntimeDefault")
    for each in pod()["containers"]:
        assert each["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in each["resources"]["limits"]


def test_names_that_refer_to_each_other() -> None:
    """Services and the budget select the pod, and their ports exist; the how-to names resources
    that exist."""
    labels = resource("StatefulSet")["spec"]["template"]["metadata"]["labels"]
    ports = {port["name"] for each in pod()["containers"] for port in each["ports"]}
    for kind, name in (("Service", "iln-stream"), ("Service", "iln-stream-api")):
        spec = resource(kind, name)["spec"]
        assert spec["selector"] == labels
        assert {port["targetPort"] for port in spec["ports"]} <= ports
    for kind in ("StatefulSet", "PodDisruptionBudget"):
        assert resource(kind)["spec"]["selector"] == {"matchLabels": labels}
    assert resource("StatefulSet")["spec"]["serviceName"] == "iln-stream"
    for kind, name in re.findall(r"\b(statefulset|service)/([\w-]+)", PAGE):
        assert name in {r["metadata"]["name"] for r in RESOURCES if r["kind"].lower() == kind}
    claim = resource("StatefulSet")["spec"]["volumeClaimTemplates"][0]["metadata"]["name"]
    assert f"pvc {claim}-iln-stream-0`" in PAGE
    assert "kubectl apply --filename services/kubernetes/\n" in PAGE


def curl(number: int, url: str, folder: Path) -> Any:
    """Run a curl command of the how-to, for the API at a URL, and return the answer."""
    line = re.findall(r"^ *(curl .*)$", PAGE, re.MULTILINE)[number]
    command = line.replace("http://127.0.0.1:8080", url).replace("curl ", "curl --noproxy '*' ", 1)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, timeout=60, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.thorough
def test_both_processes_run_with_these_settings(tmp_path: Path, config: Path) -> None:
    """The containers' commands work with the ConfigMap's settings and the how-to's secrets on a
    broker that wants TLS and a password: an event sent to the API is learned and predicted; the
    probes' paths answer."""
    with secured_broker(tmp_path / "kafka") as secured:
        create_topic(secured.broker.bootstrap, name="iln-events")
        for file, content in {
            "kafka-ca.pem": secured.authority.cert.read_text(),
            "kafka-password": f"{PASSWORD}\n",
            "api-tokens": f"{TOKEN}\n",
        }.items():
            (tmp_path / file).write_text(content)
            (tmp_path / file).chmod(0o440)
        text = config.read_text().replace("kafka.example:9093", secured.login)
        text = text.replace("/run/secrets/iln-stream", str(tmp_path))
        text = text.replace("/var/lib/iln-stream", str(tmp_path / "state"))
        config.write_text(text.replace('"0.0.0.0"', '"127.0.0.1"').replace('"json"', '"text"'))
        command = {name: container(name)["args"] for name in ("learner", "api")}
        given = {
            n: [str(config) if a.startswith("/") else a for a in c] for n, c in command.items()
        }
        with (
            Command(tmp_path, *given["learner"], "--metrics-port", "0") as learner,
            Command(tmp_path, *given["api"], "--port", "0") as api,
        ):
            learner.wait_until_it_says("/metrics")
            api.wait_until_it_says("serving http")
            metrics = re.search(r"http://[\d.:]+(?=/metrics)", learner.said)
            url = re.search(r"serving (http://[\d.:]+)", api.said)
            assert metrics is not None
            assert url is not None
            eventually(lambda: answers(url[1] + "/live"))
            assert curl(0, url[1], tmp_path)["appended"] == [
                {"partition": 0, "offset": 0, "is_new": True}
            ]
            learner.wait_for_metrics(lambda now: now.get("iln_events_total", 0) >= 1)
            for name, address in (("learner", metrics[0]), ("api", url[1])):
                for probe in ("livenessProbe", "readinessProbe"):
                    path = container(name)[probe]["httpGet"]["path"]
                    eventually(lambda at=address + path: answers(at))  # type: ignore[misc]
            predicted = curl(1, url[1], tmp_path)["predictions"][0]
            assert abs(predicted["y_pred"]) < 1e6
            assert (learner.terminate(), api.terminate()) == (0, 0)
        assert PASSWORD not in learner.said + api.said
