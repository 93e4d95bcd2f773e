import json
import re
import runpy
from itertools import combinations
from pathlib import Path

import yaml

GRAFANA = Path(__file__).parents[2] / "services" / "grafana"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))
COMMITTED = (GRAFANA / "dashboards" / "iln_stream.json").read_text()
DASHBOARD = json.loads(COMMITTED)
PANELS = DASHBOARD["panels"]
GRAPHS = [panel for panel in PANELS if panel["type"] != "row"]
OF_PROCESSES = re.compile("iln_(api|worker)_")
"""Metrics without labels of a learner."""

OF_LEARNERS = [panel for panel in GRAPHS if not OF_PROCESSES.search(panel["targets"][0]["expr"])]


def test_committed_dashboard_is_what_the_code_makes() -> None:
    """The committed JSON is what the code generates."""
    made = runpy.run_path(str(GRAFANA / "dashboard"))["as_json"]()
    assert made == COMMITTED, "run: python services/grafana/dashboard"


def test_panel_ids_are_unique() -> None:
    """Grafana shows only one of two panels with the same id."""
    ids = [panel["id"] for panel in PANELS]
    assert len(set(ids)) == len(ids)


def test_dashboard_uids_are_unique_and_said() -> None:
    """Without a uid of its own a dashboard's links break at each provisioning."""
    uids = [json.loads(path.read_text())["uid"] for path in DASHBOARDS]
    assert all(uids)
    assert len(set(uids)) == len(uids)


def test_panels_are_wide_enough() -> None:
    """With more than four panels beside each other, their legends can't be read."""
    assert all(panel["gridPos"]["w"] >= 6 for panel in GRAPHS)


def test_panels_lie_on_the_grid_without_overlap() -> None:
    """Grafana moves overlapping panels."""
    for panel in PANELS:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24, panel["title"]
    for one, other in combinations(PANELS, 2):
        assert not overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])


def test_every_data_source_is_the_provisioned_one() -> None:
    """A panel with an unknown data source stays empty."""
    provisioning = GRAFANA / "provisioning" / "datasources" / "prometheus.yml"
    (datasource,) = yaml.safe_load(provisioning.read_text())["datasources"]
    asked = [panel["datasource"] for panel in GRAPHS]
    asked += [target["datasource"] for panel in GRAPHS for target in panel["targets"]]
    asked += [variable["datasource"] for variable in DASHBOARD["templating"]["list"]]
    assert {(each["type"], each["uid"]) for each in asked} == {
        (datasource["type"], datasource["uid"])
    }


def test_every_panel_tells_a_newcomer_what_is_healthy() -> None:
    """Each panel explains its healthy values to newcomers."""
    for panel in GRAPHS:
        assert "\n\nHealthy: " in panel["description"], panel["title"]


def test_every_query_follows_the_variables() -> None:
    """A query that ignores the choice of model or partition would mix learners."""
    for panel in OF_LEARNERS:
        for target in panel["targets"]:
            selectors = target["expr"].count("{")
            assert target["expr"].count('{model=~"$model", partition=~"$partition"}') == selectors
            assert selectors, panel["title"]


def test_every_series_has_its_legend() -> None:
    """Without legends, two learners in one panel look the same."""
    for panel in GRAPHS:
        legends = [target["legendFormat"] for target in panel["targets"]]
        assert len(set(legends)) == len(legends), panel["title"]
        named = all(legend.startswith("{{model}}/{{partition}}") for legend in legends)
        assert named == (panel in OF_LEARNERS), panel["title"]
        assert panel["options"]["legend"]["showLegend"], panel["title"]


def overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return (
        one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    )
