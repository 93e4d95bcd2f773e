"""The job as users run it: `spark-submit` on a real broker, with kills."""

import json
from collections import Counter

import pytest
from support.kafka_topics import create_topic, produce, read_topic
from support.spark_job import SparkJob
from support.spark_keys import keyed_events, plain_loop, stored_learners

from iln_stream.learners import state_of
from iln_stream.spark.job import main, plan_of, settings_of
from iln_stream.spark.stored import packed

LEARNER = (
    *("--learner", "iln_stream:RandomFeatureRidge"),
    *("--learner-options", '{"n_features": 8, "sampling": "prior", "seed": 1}'),
)


class Topics:
    """The topic that is learned, and those that are written."""

    def __init__(self, broker):
        self.bootstrap = broker.bootstrap
        self.events, self.predictions, self.letters = (
            create_topic(broker.bootstrap, partitions=2) for _ in range(3)
        )
        self.sent = {}

    def send(self, events):
        for p in (0, 1):
            mine = [(k, e) for k, e in events if int(k[1:]) % 2 == p]
            records = [(k.encode(), b"{" if e is None else json.dumps(e).encode()) for k, e in mine]
            offsets = produce(self.bootstrap, self.events, records, partition=p)
            self.sent.update({(p, o): each for o, each in zip(offsets, mine, strict=True)})

    def messages(self, topic):
        found = [r for p in (0, 1) for r in read_topic(self.bootstrap, topic, p)]
        return [json.loads(record.value) for record in found]

    def n_predicted(self):
        return len(self.messages(self.predictions))


@pytest.mark.timeout(1800)
def test_killed_as_never_killed(spark, broker, tmp_path):
    """kill -9 of a worker, then twice of all: each prediction once, states to the bit."""
    topics = Topics(broker)
    events = keyed_events(2000, 30)
    for i in range(0, 2000, 400):
        events[i] = (events[i][0], None)  # a record that can't be read
    arguments = [
        *("--source", f"kafka:{topics.events}", "--bootstrap", broker.bootstrap),
        *("--predictions", f"kafka:{topics.predictions}"),
        *("--dead-letters", f"kafka:{topics.letters}"),
        *("--checkpoint", str(tmp_path / "checkpoint"), *LEARNER),
        *("--state-partitions", "2", "--most-records", "200"),
    ]
    topics.send(events[:1000])
    with SparkJob(tmp_path, arguments) as job:
        job.wait_until(lambda: topics.n_predicted() >= 200)
        job.kill_worker()
        n = topics.n_predicted()
        job.wait_until(lambda: topics.n_predicted() >= n + 200)
        job.kill()
    assert 400 <= topics.n_predicted() < 1000
    topics.send(events[1000:])
    with SparkJob(tmp_path, arguments) as job:
        n = topics.n_predicted()
        job.wait_until(lambda: topics.n_predicted() > n)
        job.kill()
    assert topics.n_predicted() < 1995
    with SparkJob(tmp_path, [*arguments, "--available-now"]) as job:
        assert job.wait() == 0, job.said()

    predicted = {(m["partition"], m["offset"]): m for m in topics.messages(topics.predictions)}
    letters = [(m["partition"], m["offset"]) for m in topics.messages(topics.letters)]
    times = Counter((m["partition"], m["offset"]) for m in topics.messages(topics.predictions))
    assert set(times.values()) == {1}
    assert predicted.keys() == {place for place, (_, e) in topics.sent.items() if e is not None}
    assert sorted(letters) == sorted(p for p, (_, e) in topics.sent.items() if e is None)

    prior = (tmp_path / "checkpoint.prior.npz").read_bytes()
    learners = stored_learners(spark, tmp_path / "checkpoint")
    assert len(learners) == 30
    for key, row in learners.items():
        places = sorted(p for p, (k, e) in topics.sent.items() if k == key and e is not None)
        learner, expected = plain_loop(prior, [topics.sent[place][1] for place in places])
        assert [predicted[place]["y_pred"] for place in places] == expected
        assert bytes(row.learner) == packed(state_of(learner))


def test_prior_of_the_first_run_is_kept(tmp_path):
    """A learner without a seed is another one in each run: keys must be born of the first."""
    arguments = ["--learner", "iln_stream:RandomFeatureRidge", "--checkpoint", str(tmp_path / "c")]
    settings, own = settings_of(arguments)
    first = plan_of(settings, own, "t")
    assert plan_of(settings, own, "t").prior == first.prior
    assert (tmp_path / "c.prior.npz").read_bytes() == first.prior


def test_settings_of_both_are_read(tmp_path, monkeypatch):
    """One TOML file has the learner's settings, as for `iln-stream run`, and the job's."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "learner.toml"
    file.write_text('source = "kafka:t"\ntarget = "y"\n[spark]\nby_key = "shop"\n')
    settings, own = settings_of(["--config", str(file), "--most-records", "50"])
    assert (settings.source, settings.target, own.by_key, own.most_records) == (
        *("kafka:t", "y", "shop", 50),
    )
    assert plan_of(settings, own, "t").key_input == "shop"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--source", "events.jsonl"], "source"),
        (["--source", "kafka:t"], "predictions"),
        (["--source", "kafka:t", "--most-records", "0"], "most_records"),
        (["--source", "kafka:t", "--predictions", "folder:p", "--target", "y",
          "--learner", "nothing:at_all"], "learner"),
    ],
)  # fmt: skip
def test_mistakes_are_named(arguments, named, tmp_path, monkeypatch, capsys):
    """A wrong setting ends the job before Spark starts, with the setting's name."""
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert named in capsys.readouterr().err
