import json
import re
import runpy
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

GRAFANA = Path(__file__).parents[2] / "services" / "grafana"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))
MADE = {path.name: json.loads(path.read_text()) for path in DASHBOARDS}
OVERVIEW = MADE["overview.json"]


def all_panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows and panels, also those within collapsed rows."""
    rows = dashboard["panels"]
    return [each for row in rows for each in (row, *(row.get("panels") or ()))]


GRAPHS = [panel for made in MADE.values() for panel in all_panels(made) if panel["type"] != "row"]
OF_PROCESSES = re.compile("iln_(api|worker)_|process_|ALERTS")
"""Metrics without labels of a learner."""

OF_LEARNERS = [panel for panel in GRAPHS if not OF_PROCESSES.search(panel["targets"][0]["expr"])]


def test_committed_dashboards_are_what_the_code_makes() -> None:
    """The committed JSON is what the code generates."""
    made = runpy.run_path(str(GRAFANA / "dashboard"))["dashboards"]()
    committed = {path.name: path.read_text() for path in DASHBOARDS}
    assert made == committed, "run: python services/grafana/dashboard"


def test_the_overview_fits_one_screen() -> None:
    """Eleven panels, and no more lines than 1440 x 900 pixels show: each takes 38, the head 150."""
    assert len(OVERVIEW["panels"]) == 11
    lowest = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in OVERVIEW["panels"])
    assert lowest * 38 + 150 <= 900


def test_the_first_row_is_open() -> None:
    """A person who opens a dashboard sees the first question answered, and the others as lines."""
    for name, made in MADE.items():
        closed = [row["collapsed"] for row in made["panels"] if row["type"] == "row"]
        assert closed == [i > 0 for i in range(len(closed))]
        assert (name == "overview.json") == (not closed)


def test_each_alert_says_what_to_do() -> None:
    """The table of alerts has an action for each, and no template that only a rule fills in."""
    rules = yaml.safe_load((GRAFANA.parent / "prometheus" / "rules.yml").read_text())
    alerts = {r["alert"] for g in rules["groups"] for r in g["rules"] if "alert" in r}
    (table,) = (panel for panel in GRAPHS if panel["type"] == "table")
    (found,) = (
        each["properties"][0]["value"][0]["options"]
        for each in table["fieldConfig"]["overrides"]
        if each["matcher"]["options"] == "action"
    )
    assert found.keys() == alerts
    assert all(len(each["text"]) > 10 and "{{" not in each["text"] for each in found.values())


def test_limits_are_those_of_the_alerts() -> None:
    """A panel turns red where an alert fires, not elsewhere."""
    rules = yaml.safe_load((GRAFANA.parent / "prometheus" / "rules.yml").read_text())
    alerts = " ".join(r["expr"] for g in rules["groups"] for r in g["rules"] if "alert" in r)
    known = {float(n) for n in re.findall(r"[<>]=? *([\d.]+)", alerts)} | {0.0, 1.0, 2.0}
    limits = [
        step["value"]
        for panel in GRAPHS
        for step in (panel["fieldConfig"]["defaults"].get("thresholds") or {}).get("steps", ())
        if step["value"] is not None
    ]
    assert len(limits) > 6
    assert set(limits) <= known


def test_panel_ids_are_unique() -> None:
    """Grafana shows only one of two panels with the same id."""
    for made in MADE.values():
        ids = [panel["id"] for panel in all_panels(made)]
        assert len(set(ids)) == len(ids)


def test_dashboard_uids_are_unique_and_said() -> None:
    """Without a uid of its own a dashboard's links break at each provisioning."""
    uids = [json.loads(path.read_text())["uid"] for path in DASHBOARDS]
    assert all(uids)
    assert len(set(uids)) == len(uids)


def test_panels_are_wide_enough() -> None:
    """With more than four panels beside each other, their legends can't be read."""
    assert all(panel["gridPos"]["w"] >= 6 for panel in GRAPHS if panel["type"] != "stat")


def test_panels_lie_on_the_grid_without_overlap() -> None:
    """Grafana moves overlapping panels."""
    for made in MADE.values():
        for panel in all_panels(made):
            assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24, panel["title"]
        for one, other in combinations(all_panels(made), 2):
            assert not overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])


def test_every_data_source_is_the_provisioned_one() -> None:
    """A panel with an unknown data source stays empty."""
    provisioning = GRAFANA / "provisioning" / "datasources" / "prometheus.yml"
    (datasource,) = yaml.safe_load(provisioning.read_text())["datasources"]
    asked = [panel["datasource"] for panel in GRAPHS]
    asked += [target["datasource"] for panel in GRAPHS for target in panel["targets"]]
    for made in MADE.values():
        variables = made["templating"]["list"]
        asked += [variable["datasource"] for variable in variables if variable["type"] == "query"]
        asked += [each["datasource"] for each in made["annotations"]["list"]]
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
            assert target["expr"].count('{model=~"$model", partition=~"$partition"') == selectors
            assert selectors, panel["title"]


def test_the_api_is_chosen_by_its_instance() -> None:
    """Its dashboard offers instances, which all of its queries follow, and no models."""
    assert [each["name"] for each in MADE["api.json"]["templating"]["list"]] == ["instance"]
    for panel in all_panels(MADE["api.json"]):
        for target in panel.get("targets") or ():
            assert target["expr"].count('instance=~"$instance"') == target["expr"].count("{")


def test_every_series_has_its_legend() -> None:
    """Without legends, two learners in one panel look the same."""
    for panel in GRAPHS:
        legends = [target["legendFormat"] for target in panel["targets"]]
        assert len(set(legends)) == len(legends), panel["title"]
        if panel["type"] == "table":
            continue
        if panel["type"] == "stat":  # one figure for a model, however many partitions it has
            assert legends in (["{{model}}"], ["{{instance}}"]), panel["title"]
            continue
        named = all(legend.startswith("{{model}}/{{partition}}") for legend in legends)
        assert named == (panel in OF_LEARNERS), panel["title"]
        if panel["type"] == "timeseries":
            assert panel["options"]["legend"]["showLegend"], panel["title"]


def overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return (
        one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    )
