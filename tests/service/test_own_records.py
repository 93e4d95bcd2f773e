"""Fields as they are: texts for River's learners, words and crosses for ours, local hours."""

import json
from pathlib import Path

import pytest
from support.embedded_log import append, messages, settings_of

from iln_stream.learners.infinite_layer import InfiniteLayerClassifier
from iln_stream.records import one_hot
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.service import Service, Settings, SettingsError, build_learner

TOPICS = {"print": "printer jam paper toner", "mail": "mail bounced address spam"}


def ticket(i: int) -> dict[str, object]:
    queue = ("print", "mail")[i * 7 % 11 % 2]
    words = TOPICS[queue].split()
    subject = f"{words[i % 4]} the {words[i // 4 % 4]}"
    return {"id": f"t{i}", "user": {"site": f"s{i % 3}"}, "subject": subject, "queue": queue}


def fill(path: Path, first: int, end: int) -> None:
    """Append tickets, the queue of each three records later."""
    lines = []
    for i in range(first, end):
        lines.append({name: value for name, value in ticket(i).items() if name != "queue"})
        if i >= 3:
            lines.append({name: ticket(i - 3)[name] for name in ("id", "queue")})
    append(path, [json.dumps(each).encode() for each in lines])


def test_learners_of_text(path: Path) -> None:
    """River's pipelines get the fields themselves, also of events that waited for a label, in a
    snapshot between two runs: they predict as they do outside, with late labels."""
    (path.parent / "bags.py").write_text(
        "from river import compose, feature_extraction as fx, naive_bayes\n"
        "words = fx.BagOfWords(on='subject') + fx.BagOfWords(on='user.site')\n"
        "model = words | naive_bayes.MultinomialNB()\n"
    )
    given = {
        "learner": "bags:model", "learner_options": {}, "learner_inputs": "record",
        "target": "queue", "id_field": "id", "pending_events": 50, "snapshot_pickle": True,
        "predictions": f"sqlite:{path}#out",
    }  # fmt: skip
    for first in (0, 30):
        fill(path, first, first + 30)
        service = Service(settings_of(path, **given))
        service.run()
    import bags

    model, expected = bags.model.clone(), []
    for i in range(60):
        each = ticket(i)
        x = {"user.site": each["user"]["site"], "subject": each["subject"]}
        expected.append(model.predict_one(x))
        if i >= 3:
            late = ticket(i - 3)
            x = {"user.site": late["user"]["site"], "subject": late["subject"]}
            model.learn_one(x, late["queue"])
    assert [each["y_pred"] for each in messages(path, "out")] == expected
    assert service.workers[0].watched.n_dead_letters == 0


def test_ours_take_no_texts() -> None:
    """A learner of this package with the fields themselves is refused, with the remedy."""
    with pytest.raises(SettingsError, match=r"infinite-layer takes numbers .*gives its words"):
        build_learner(Settings(learner_inputs="record"))


def test_words_and_pairs() -> None:
    """A text becomes its words and pairs of words, each of which is a category: the classifier
    learns subjects that it has never seen before from words that it has."""
    mapping = FieldMapping(target="queue", id_field="id", types={"subject": "text"})
    decode = MappedDecoder(mapping, parse_json, "class")
    x = decode(b'{"subject": "Printer JAM, again!", "user": {"site": "s1"}}', None).x
    names = ("printer", "jam", "again", "printer jam", "jam again")
    assert x == {**{f"subject={name}": 1.0 for name in names}, "user.site=s1": 1.0}
    model = InfiniteLayerClassifier(seed=1, profile="fast")
    for i in range(300):
        example = decode(json.dumps(ticket(i)).encode(), None)
        model.learn_one(example.x, example.y)
    new = decode(b'{"subject": "jam toner paper", "user": {"site": "s2"}}', None).x
    assert model.predict_one(new) == "print"


@pytest.mark.parametrize(
    ("zone", "hour"), [("UTC", "23"), ("Europe/Berlin", "0"), ("America/New_York", "18")]
)
def test_crosses_and_time_zones(zone: str, hour: str) -> None:
    """A cross is a category for each combination, with the hour of the time zone, which time
    features have, too; without one of its parts it is missing."""
    mapping = FieldMapping(
        time_field="at", time_features=("hour",), time_zone=zone, crosses=("zone*hour",)
    )
    decode = MappedDecoder(mapping, parse_json)
    x = decode(b'{"at": "2026-01-05T23:30:00Z", "zone": "A"}', None).x
    assert x is not None
    assert x[f"zone*hour=A*{hour}"] == 1.0
    sine = MappedDecoder(FieldMapping(time_field="at", time_features=("hour",)), parse_json)
    same = sine(f'{{"at": "2026-01-05T{int(hour):02}:30:00Z"}}'.encode(), None).x
    assert same is not None
    assert x["time.hour.sin"] == same["time.hour.sin"]
    assert "zone*hour" not in str(decode(b'{"at": 60.0, "zone": null}', None).x)
    as_it_is = MappedDecoder(mapping, parse_json, learner_inputs="record")
    record = as_it_is(b'{"at": "2026-01-05T23:30:00Z", "zone": "A"}', None).x
    assert one_hot(record) == x


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"time_zone": "Europe/Nowhere"}, "^time_zone: 'Europe/Nowhere' is no time zone"),
        ({"crosses": ["zone"]}, r"^crosses: 'zone' must name two or more"),
    ],
)
def test_wrong_settings(given: dict[str, object], message: str) -> None:
    """A time zone that does not exist, and a cross of one field, are refused with what to do."""
    with pytest.raises(ValueError, match=message):
        FieldMapping(**given)
