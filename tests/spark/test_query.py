"""The query on a real broker, in this process."""

import json

import pytest
from support.kafka_topics import create_topic, produce
from support.spark_keys import keyed_events, plain_loop, stored_learners

from iln_stream.learners import RandomFeatureRidge, state_of
from iln_stream.spark.job import learned, topic_rows
from iln_stream.spark.plan import KeyedPlan, PlanError, prior_of
from iln_stream.spark.sinks import FolderSink
from iln_stream.spark.stored import packed

N_KEYS = 7


@pytest.fixture(scope="module")
def prior():
    return prior_of(RandomFeatureRidge(8, sampling="prior", seed=1))


def run(spark, broker, topic, plan, folder, by_key=None, most_records=100):
    """Learn what the topic has now; return its messages by position, and the query's progress."""
    rows = topic_rows(spark, topic, broker.bootstrap, most_records=most_records)
    sink = FolderSink(str(folder / "out"))
    query = (
        learned(rows, plan, by_key)
        .writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .foreachBatch(sink.write)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = spark.read.parquet(str(folder / "out")).collect()
    assert len({(row.partition, row.offset) for row in found}) == len(found)
    return {(row.partition, row.offset): row for row in found}


@pytest.mark.timeout(600)
def test_states_and_predictions_are_those_of_the_plain_loop(spark, broker, prior, tmp_path):
    """A topic learned by key, in two runs of several micro-batches: the bits of the plain loop."""
    events, topic = keyed_events(600, N_KEYS), create_topic(broker.bootstrap, partitions=2)
    partition = {f"k{k}": k % 2 for k in range(N_KEYS)}
    position = {}
    plan = KeyedPlan(topic, prior)
    for part in (events[:250], events[250:]):
        for p in (0, 1):
            mine = [(k, e) for k, e in part if partition[k] == p]
            offsets = produce(
                broker.bootstrap,
                topic,
                ((k.encode(), json.dumps(e).encode()) for k, e in mine),
                partition=p,
            )
            for offset, (k, e) in zip(offsets, mine, strict=True):
                position[p, offset] = k, e
        found = run(spark, broker, topic, plan, tmp_path)
    assert found.keys() == position.keys()
    learners = stored_learners(spark, tmp_path / "checkpoint")
    assert len(learners) == N_KEYS
    for k, row in learners.items():
        places = sorted(place for place, (key, _) in position.items() if key == k)
        learner, expected = plain_loop(prior, [position[place][1] for place in places])
        assert [json.loads(found[place].value)["y_pred"] for place in places] == expected
        assert bytes(row.learner) == packed(state_of(learner))
        assert row.n == len(places)
        assert row.positions == f"{places[-1][0]}:{places[-1][1]}"


@pytest.mark.timeout(600)
def test_a_field_can_be_the_key(spark, broker, prior, tmp_path):
    """Records without keys are learned by a field; one without the field becomes a dead letter."""
    topic = create_topic(broker.bootstrap)
    events = [{**e, "x": {**e["x"], "shop": int(k[1:])}} for k, e in keyed_events(60, 3)]
    payloads = [*(json.dumps(e).encode() for e in events), b'{"x": {"a": 1}, "y": 2}', b"{"]
    produce(broker.bootstrap, topic, ((None, payload) for payload in payloads))
    found = run(spark, broker, topic, KeyedPlan(topic, prior), tmp_path, by_key="x.shop")
    kinds = [found[0, offset].kind for offset in range(62)]
    assert kinds == ["prediction"] * 60 + ["dead letter"] * 2
    assert "name the field with the key" in json.loads(found[0, 60].value)["reason"]
    for k in range(3):
        mine = [i for i, e in enumerate(events) if e["x"]["shop"] == k]
        _, expected = plain_loop(prior, [events[i] for i in mine])
        assert [json.loads(found[0, i].value)["y_pred"] for i in mine] == expected


@pytest.mark.parametrize("path", ["", "x['a']", "x.*", "$.x"])
def test_odd_paths_are_refused(path):
    """A path that Spark would read as another one, or as none, is an error."""
    from iln_stream.spark.job import _field

    with pytest.raises(PlanError, match="by_key"):
        _field(path)
