"""Records that are no events, in a run: skipped, counted, and without any other effect."""

import json
from pathlib import Path

import pytest
from support.embedded_log import append, messages, settings_of

from iln_stream.service import Service, Settings, SettingsError

FIELDS = {"target": "y", "id_field": "id", "pending_events": 50, "ignore": ["op"]}


def change(i: int) -> list[bytes]:
    """Return an event, the label of an earlier one, and two records that are neither."""
    event = {"op": "c", "id": f"e{i}", "a": float(i % 7)}
    label = {"op": "c", "id": f"e{i - 5}", "y": float((i - 5) % 7)}
    others = [{"op": "d", "id": f"e{i}", "a": 9.0}, {"a": 1.0, "y": 5.0, "id": "z"}]
    return [json.dumps(each).encode() for each in (event, label, *others)]


def run(path: Path, **more: object) -> Service:
    service = Service(settings_of(path, **{**FIELDS, "predictions": f"sqlite:{path}#out", **more}))
    service.run()
    return service


def predicted(path: Path) -> list[tuple[str, float]]:
    found = messages(path, "out")
    return [(each["id"], each["y_pred"]) for each in found]


@pytest.mark.parametrize("how", ["where", "decoder"])
def test_skipped_records_change_nothing(tmp_path: Path, how: str) -> None:
    """A run in pieces over a log with other records predicts as one over the events alone, to the
    bit and each once; both a filter and a decoder's None are counted, and are no dead letters."""
    (tmp_path / "creations.py").write_text(
        "import json\ndef read(payload):\n"
        "    fields = json.loads(payload)\n    return fields if fields.get('op') == 'c' else None\n"
    )
    chosen = {"where": {"where": 'op == "c"'}, "decoder": {"decoder": "creations:read"}}[how]
    mixed, alone = tmp_path / "mixed" / "log.db", tmp_path / "alone" / "log.db"
    for path in (mixed, alone):
        path.parent.mkdir()
    for first in (5, 40):
        records = [change(i) for i in range(first, first + 35)]
        append(mixed, [each for four in records for each in four])
        append(alone, [each for four in records for each in four[:2]])
        watched = run(mixed, **chosen).workers[0].watched
    run(alone)
    assert (watched.n_skipped, watched.n_dead_letters) == (140, 0)
    assert watched.scores.n_labelled == 65
    assert predicted(mixed) == predicted(alone)
    assert len(predicted(mixed)) == 70


def test_events_are_filtered_too(tmp_path: Path) -> None:
    """Events of our own form and records without a value are skipped by the same setting, which a
    resumed run has to have."""
    path = tmp_path / "log.db"
    events = [{"x": {"a": i, "sky": "clear" if i % 2 else "rain"}, "y": i} for i in range(20)]
    append(path, [json.dumps(each).encode() for each in events])
    given = {"source": f"sqlite:{path}", "where": 'x.sky == "rain"'}
    service = Service(settings_of(path, **given))
    service.run()
    watched = service.workers[0].watched
    assert (watched.scores.n_labelled, watched.n_skipped) == (10, 10)
    with pytest.raises(Exception, match=r"where was .*rain.* and is None|fields were not given"):
        Service(settings_of(path)).run()


def test_an_error_is_told_before_the_run(tmp_path: Path) -> None:
    """A wrong expression is an error of the settings with the place, before the log is read."""
    with pytest.raises(SettingsError, match=r"^where: at character 4: .*op = 3"):
        Service(Settings(source=f"sqlite:{tmp_path / 'log.db'}", where="op = 3"))
