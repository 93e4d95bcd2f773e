"""The composition root: from names to objects, or to a sentence on what is wrong."""

import os
import sys

import pytest
from river import datasets, linear_model

from iln_stream.errors import IlnWarning, SinkError, SourceError
from iln_stream.events import decode
from iln_stream.learners import InfiniteLayerRegressor, ScaledTarget, find_shrinking_gradient
from iln_stream.service import (
    BOUNDED,
    Settings,
    SettingsError,
    build_learner,
    output_stream,
    source_stream,
)
from iln_stream.service.wiring import check, check_addresses, dead_letters_address
from iln_stream.streams import AddressError
from iln_stream.streams.files import CsvSource, JsonLinesSink, JsonLinesSource
from iln_stream.streams.river import RiverDatasetSource


def settings(**values):
    return Settings.load(**values)


def test_default_learner():
    """By default the learner that takes raw streams as they are, seeded."""
    model = build_learner(settings(seed=7))
    assert isinstance(model, InfiniteLayerRegressor)
    assert (model.profile, model.seed) == ("accurate", 7)


def test_the_papers_learner():
    """By its name Algorithm 1 learns behind scalers, seeded, in bounded memory and time."""
    model = build_learner(settings(learner="shrinking-gradient", seed=7))
    assert isinstance(model, ScaledTarget)
    algorithm_1 = find_shrinking_gradient(model)
    assert algorithm_1.seed == 7
    assert {name: getattr(algorithm_1, name) for name in BOUNDED} == BOUNDED


def test_learner_options():
    """Options reach Algorithm 1 and beat the service's own choices, the seed's among them."""
    options = {"budget": 5, "norm_bound": 3.5, "seed": 11}
    algorithm_1 = find_shrinking_gradient(
        build_learner(settings(learner="shrinking-gradient", learner_options=options))
    )
    assert (algorithm_1.budget, algorithm_1.norm_bound, algorithm_1.seed) == (5, 3.5, 11)
    assert algorithm_1.max_draws == BOUNDED["max_draws"]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"budget": 0}, "budget = 0 must be"), ({"budgett": 5}, "budgett")],
    ids=["value", "name"],
)
def test_wrong_learner_options(options, said):
    """An option that the learner refuses is told with the setting's name."""
    with pytest.raises(SettingsError, match=f"learner_options: .*{said}"):
        build_learner(settings(learner="shrinking-gradient", learner_options=options))


def test_river_learner():
    """Any River regressor can be named, with its arguments."""
    model = build_learner(
        settings(learner="river.linear_model:PARegressor", learner_options={"C": 0.25})
    )
    assert isinstance(model, linear_model.PARegressor)
    assert model.C == 0.25


MODULE = """
from river import linear_model, preprocessing

def make(l2=0.0):
    return preprocessing.StandardScaler() | linear_model.LinearRegression(l2=l2)

model = make()
number = 5
"""


@pytest.fixture
def module_here(tmp_path, monkeypatch):
    """A module beside the user, in the current folder, which isn't on the path."""
    (tmp_path / "users_own_models.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", os.fspath(tmp_path))])
    yield
    sys.modules.pop("users_own_models", None)


def test_learner_of_a_users_own(module_here):
    """A module in the current folder is found, its function called or its object taken."""
    made = build_learner(settings(learner="users_own_models:make", learner_options={"l2": 0.5}))
    assert made["LinearRegression"].l2 == 0.5
    taken = build_learner(settings(learner="users_own_models:model"))
    assert str(taken) == str(sys.modules["users_own_models"].model)


def test_each_learner_is_its_own(module_here):
    """Two partitions never train one object, although the path names one."""
    named = settings(learner="users_own_models:model")
    assert build_learner(named) is not build_learner(named)
    assert build_learner(named) is not sys.modules["users_own_models"].model


def test_options_of_an_object(module_here):
    """Options that could not take effect are refused, not ignored."""
    with pytest.raises(SettingsError, match="learner_options: users_own_models:model is made"):
        build_learner(settings(learner="users_own_models:model", learner_options={"l2": 1}))


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (
            "shrinking",
            "give infinite-layer, pool, reference, shrinking-gradient or package.module:attr",
        ),
        ("river.linear_model", "give infinite-layer, pool, reference, shrinking-gradient"),
        ("river.linear_model:Regression", "has no attribute 'Regression'"),
        ("no_such_package:model", "No module named 'no_such_package'"),
        ("users_own_models:number", "is no River regressor: int"),
        ("river.preprocessing:StandardScaler", "is no River regressor: StandardScaler"),
        ("", "give infinite-layer"),
    ],
)
def test_wrong_learner(learner, said, module_here):
    """A learner that can't be had is told with what was looked for."""
    with pytest.raises(SettingsError, match="learner.*" + said):
        build_learner(settings(learner=learner))


def test_json_lines_source(tmp_path):
    """A name that ends in .jsonl is a file of JSON lines, ended by the limit."""
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\nc\n")
    source = source_stream(settings(source="events.jsonl", limit=2)).source()
    assert isinstance(source, JsonLinesSource)
    assert [record.payload for record in source.poll(0)] == [b"a", b"b"]


def test_csv_source(tmp_path):
    """A name that ends in .csv is a table, with the label's column and the limit."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    source = source_stream(settings(source="table.csv", target="b", limit=1)).source()
    assert isinstance(source, CsvSource)
    assert [record.payload for record in source.poll(0)] == [{"x": {"a": 1.0}, "y": 2.0}]


def test_csv_source_needs_a_target(tmp_path):
    """Without a word on the label, a table isn't guessed about."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"target: say which column of table\.csv"):
        source_stream(settings(source="table.csv")).source()


def test_river_source():
    """river:NAME is that data set, with its name as the stream's."""
    source = source_stream(settings(source="river:TrumpApproval", limit=10)).source()
    assert isinstance(source, RiverDatasetSource)
    assert (source.stream, source.lag) == ("TrumpApproval", 10)


ENDLESS = sorted(
    name
    for name, kind in vars(datasets.synth).items()
    if name[:1].isupper() and name != "Logical"  # its label is a dict: several labels at once
)


@pytest.mark.parametrize("name", ENDLESS)
def test_synthetic_source(name):
    """Every synthetic stream of River's can be learned from, and the seed decides its draws."""

    def first(seed):
        source = source_stream(settings(source=f"synthetic:{name}", seed=seed, limit=20)).source()
        return [record.payload for record in source.poll(0)]

    assert len(first(1)) == 20
    for payload in first(1):
        assert decode(payload).y is not None
    assert first(1) == first(1)
    assert first(1) != first(2)


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        (
            "events.txt",
            SourceError,
            "source = 'events.txt': give kafka, kafka:TOPIC, a .jsonl or .csv file",
        ),
        ("river:Trump", SourceError, "river:Trump: River has .*TrumpApproval"),
        ("river:", AddressError, "names nothing: give river:NAME"),
        ("kafka:", AddressError, "names nothing: give kafka:NAME"),
        ("synthetic:TrumpApproval", SourceError, "River has .*Friedman"),
        ("river:Higgs", SourceError, r"call river\.datasets\.Higgs\(\)\.download\(\) first"),
        ("nowhere.jsonl", SourceError, r"can't read nowhere\.jsonl: No such file"),
    ],
)
def test_wrong_source(source, error, said):
    """A source that can't be had is told with what could be."""
    with pytest.raises(error, match=said):
        source_stream(settings(source=source)).source()


def test_limit_of_kafka():
    """A limit that could not take effect is refused, not ignored."""
    with pytest.raises(SourceError, match="limit: a Kafka source has none; set stop_at_end"):
        check(settings(source="kafka", start="earliest", limit=5))


def test_start_of_kafka():
    """Where to begin must be said, where no snapshot may say it: a default would lose a past."""
    with pytest.raises(SettingsError, match="start: say where in kafka:iln-events to begin"):
        check(settings(source="kafka"))


def test_target_of_kafka():
    """A target that could not take effect is refused, not ignored."""
    with pytest.raises(SourceError, match="target: only CSV files have columns"):
        check(settings(source="kafka", start="earliest", target="price"))


def test_settings_that_only_a_log_has():
    """Where to start and which partitions mean nothing for a file: that is not passed over."""
    with pytest.warns(IlnWarning, match="start, learner_per: ignored, as e.jsonl is not a log"):
        check(settings(source="e.jsonl", start="earliest", learner_per="partition"))


def test_two_topics():
    """Of two topics that are named, none is ignored in silence."""
    with pytest.raises(SettingsError, match="topic = 'b': source = 'kafka:a' names the topic"):
        check(settings(source="kafka:a", topic="b", start="earliest"))


@pytest.mark.parametrize("name", ["//host/topic", "a b", "x" * 250])
def test_what_is_no_topic(name):
    """A broker's address, or a typing error, is not taken for a topic."""
    with pytest.raises(SourceError, match="is not a topic's name"):
        check(settings(source=f"kafka:{name}", start="earliest"))


@pytest.mark.parametrize("address", ["kafka", "kafka:"])
def test_output_that_names_no_topic(address):
    """`kafka` alone is no file called so, and no topic without a name."""
    with pytest.raises(AddressError, match="kafka:NAME"):
        check(settings(source="kafka", start="earliest", predictions=address))


def test_file_sink(tmp_path):
    """Any other address is a file."""
    sink = output_stream(settings(), "predictions.jsonl").sink()
    assert isinstance(sink, JsonLinesSink)
    sink.write(None, b"{}")
    sink.close()
    assert (tmp_path / "predictions.jsonl").read_bytes() == b"{}\n"


def test_standard_output_sink(capfdbinary):
    """A dash is standard output."""
    sink = output_stream(settings(), "-").sink()
    sink.write(None, b"{}")
    sink.close()
    assert capfdbinary.readouterr().out == b"{}\n"


def test_wrong_sink(tmp_path):
    """A file that can't be opened is named."""
    with pytest.raises(SinkError, match=r"can't write \.: Is a directory"):
        output_stream(settings(), ".").sink()


@pytest.mark.parametrize(
    ("values", "address"),
    [
        ({"source": "kafka", "topic": "t"}, "kafka:t-dead-letters"),
        ({"source": "a.jsonl"}, "dead-letters.jsonl"),
        ({"source": "kafka", "dead_letters": "own.jsonl"}, "own.jsonl"),
    ],
)
def test_dead_letters_always_have_a_place(values, address):
    """Said or not, there is a place for dead letters."""
    assert dead_letters_address(settings(**values)) == address


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"source": "a.jsonl", "predictions": "./a.jsonl"}, "predictions"),
        ({"source": "a.jsonl", "dead_letters": "a.jsonl"}, "dead_letters"),
        ({"source": "dead-letters.jsonl"}, "dead_letters"),
        ({"source": "a.csv", "predictions": "b", "dead_letters": "b"}, "dead_letters"),
        ({"source": "kafka", "topic": "t", "predictions": "kafka:t"}, "predictions"),
        ({"source": "kafka", "topic": "t", "predictions": "kafka:t-dead-letters"}, "dead_letters"),
    ],
)
def test_nothing_is_read_and_written_at_once(values, name):
    """A run would learn its own predictions, or mix them with its dead letters."""
    with pytest.raises(SettingsError, match=f"^{name} = .* is also the"):
        check_addresses(settings(**values))


def test_places_that_differ_are_fine():
    """Pipes on both sides, and a file each."""
    check_addresses(settings(source="-", predictions="-", dead_letters="d"))
    check_addresses(settings(source="kafka", predictions="kafka:p"))


def test_a_classifier_is_no_learner_here(tmp_path, monkeypatch):
    """A model that predicts classes would be scored against numbers."""
    (tmp_path / "classes.py").write_text(
        "from river import linear_model\nmodel = linear_model.LogisticRegression()\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match="is no River regressor: LogisticRegression"):
        build_learner(settings(learner="classes:model"))
