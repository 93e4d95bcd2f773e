import json
from dataclasses import replace

import numpy as np
import pytest
from river import base
from support.list_source import LIST
from support.spark_keys import KeyInMemory, keyed_events, plain_loop, records_of

from iln_stream.errors import StateError
from iln_stream.learners import RandomFeatureRidge, RestorableLearner, restorable, state_of
from iln_stream.learners.keyed import (
    FrozenPrior,
    KeyedRegressor,
    key_state_to_bytes,
    learn_event,
    new_row,
    predict_event,
)
from iln_stream.loop import LearnerError
from iln_stream.spark.keys import KeyedLearners
from iln_stream.spark.plan import KeyedPlan, prior_of
from iln_stream.spark.stored import packed
from iln_stream.state import ArrayBlock
from iln_stream.streams import Record

EVENTS = [event for _, event in keyed_events(240, 1)]


@pytest.fixture(scope="module")
def plan():
    return KeyedPlan("t", prior_of(RandomFeatureRidge(8, sampling="prior", seed=1)))


def predictions(messages):
    return [json.loads(message.value)["y_pred"] for message in messages]


def learned_in_batches(learners, stored, size=60, events=EVENTS):
    records, messages = records_of(events, "k"), []
    for start in range(0, len(records), size):
        messages += learners.learn(b"k", stored, reversed(records[start : start + size]))
    return messages


def test_state_and_predictions_are_those_of_the_plain_loop(plan):
    """The same events in the same order give the same bits, however batches split them."""
    learner, expected = plain_loop(plan.prior, EVENTS)
    for size in (240, 60, 7):
        learners, stored = KeyedLearners(plan), KeyInMemory()
        messages = learned_in_batches(learners, stored, size)
        assert predictions(messages) == expected
        assert stored.stored.inline == packed(state_of(learner))
        assert stored.stored.n == 240
        assert learners.n_restored == 0  # while the store has what this worker wrote


def test_restored_learner_goes_on_as_if_it_had_stayed(plan):
    """A new worker for each micro-batch gives the same bits as one that keeps the learner."""
    stored, moved, messages = KeyInMemory(), KeyInMemory(), []
    learned_in_batches(KeyedLearners(plan), stored)
    records = records_of(EVENTS, "k")
    for start in range(0, 240, 60):
        worker = KeyedLearners(plan)
        messages += worker.learn(b"k", moved, records[start : start + 60])
        assert worker.n_restored == (start > 0)
    assert moved.stored == stored.stored
    assert predictions(messages) == plain_loop(plan.prior, EVENTS)[1]


def test_failed_micro_batch_is_learned_again(plan):
    """Spark repeats a failed micro-batch on the state before: the live learner is too new."""
    learners, stored = KeyedLearners(plan), KeyInMemory()
    records = records_of(EVENTS, "k")
    learners.learn(b"k", stored, records[:100])
    before = stored.copy()
    first = learners.learn(b"k", stored, records[100:])
    again = learners.learn(b"k", before, records[100:])
    assert first == again
    assert before.stored == stored.stored
    assert learners.n_restored == 1


def test_learned_positions_are_dropped(plan):
    """Records that come again change nothing and give no second message."""
    learners, stored = KeyedLearners(plan), KeyInMemory()
    records = records_of(EVENTS, "k")
    learners.learn(b"k", stored, records[:100])
    meta = stored.stored
    assert learners.learn(b"k", stored, records[50:100]) == []
    assert stored.stored == meta


def test_least_recently_used_learner_leaves_memory(plan):
    """Memory is bounded: a worker keeps `live_learners` learners and restores the others."""
    learners = KeyedLearners(replace(plan, live_learners=2))
    stores = [KeyInMemory() for _ in range(3)]
    for first in (0, 10):
        for i, stored in enumerate(stores):
            learners.learn(i, stored, records_of(EVENTS[:10], "k", first))
    assert learners.n_restored == 3
    assert len({stored.stored.digest for stored in stores}) == 1


def test_another_prior_is_refused(plan):
    """Keys of one checkpoint begin alike: a changed prior is an error that says what to do."""
    stored = KeyInMemory()
    KeyedLearners(plan).learn(b"k", stored, records_of(EVENTS[:5], "k"))
    other = KeyedPlan("t", prior_of(RandomFeatureRidge(8, sampling="prior", seed=2)))
    with pytest.raises(StateError, match="another prior"):
        KeyedLearners(other).learn(b"k", stored, records_of(EVENTS[5:9], "k", 5))


def test_damaged_state_is_refused(plan):
    """A learner's bytes that do not fit their digest are not learned on."""
    stored = KeyInMemory()
    KeyedLearners(plan).learn(b"k", stored, records_of(EVENTS[:5], "k"))
    broken = stored.stored.inline[:-1] + b"\x07"
    stored.stored = stored.stored._replace(inline=broken)
    with pytest.raises(StateError, match="damaged"):
        KeyedLearners(plan).learn(b"k", stored, records_of(EVENTS[5:9], "k", 5))


def test_bad_records_become_dead_letters(plan):
    """A record that can't be decoded is not lost: it gives a letter, and its position is passed."""
    stored = KeyInMemory()
    records = [
        Record(0, b"{", LIST, 1.5, "k"),
        *records_of(EVENTS[:1], "k", 1),
        Record(2, None, LIST),
    ]
    messages = KeyedLearners(plan).learn(b"k", stored, records)
    assert [message.kind for message in messages] == ["dead letter", "prediction", "dead letter"]
    assert stored.stored.positions == "0:2"
    assert "no value" in json.loads(messages[2].value)["reason"]


def test_learner_that_always_fails_ends_the_query(plan):
    """A hundred failures in a row are the learner's fault, as in the service."""
    fails = KeyedPlan("t", prior_of(Failing()), max_failures_in_a_row=10)
    with pytest.raises(LearnerError, match="10 events in a row"):
        KeyedLearners(fails).learn(b"k", KeyInMemory(), records_of(EVENTS[:20], "k"))


def test_appended_parts_are_written_once():
    """Of a learner that remembers events in blocks, the store gets each block once."""
    plan = KeyedPlan("t", prior_of(Remembering()))
    stored = KeyInMemory()
    learned_in_batches(KeyedLearners(plan), stored, 16)
    _, expected = plain_loop(plan.prior, EVENTS)
    assert len(stored.list) == 240 // 8
    assert stored.stored.n_blocks == 30
    moved, messages = KeyInMemory(), []
    for start in range(0, 240, 16):
        records = records_of(EVENTS[start : start + 16], "k", start)
        messages += KeyedLearners(plan).learn(b"k", moved, records)
    assert predictions(messages) == expected
    assert moved.stored == stored.stored
    assert moved.list == stored.list


def test_large_learner_is_in_a_value_of_its_own():
    """The small part, which each micro-batch reads, stays small."""
    plan = KeyedPlan("t", prior_of(RandomFeatureRidge(128, sampling="prior", seed=1)))
    stored = KeyInMemory()
    learned_in_batches(KeyedLearners(plan), stored)
    assert stored.stored.inline is None
    assert stored.data == packed(state_of(plain_loop(plan.prior, EVENTS)[0]))


def test_small_models_are_those_of_the_service():
    """With a keyed prior, a key's row and predictions are those of `learn_event`, to the bit."""
    teacher = KeyedRegressor("customer")
    for key, event in keyed_events(600, 20, seed=5):
        teacher.learn_one({**event["x"], "customer": key}, event["y"])
    prior_bytes = prior_of(teacher)
    stored = KeyInMemory()
    messages = learned_in_batches(KeyedLearners(KeyedPlan("t", prior_bytes)), stored)
    prior = FrozenPrior.from_bytes(prior_bytes)
    row, expected = new_row(), []
    for event in EVENTS:
        expected.append(predict_event(prior, row, event["x"]))
        row = learn_event(prior, row, event["x"], event["y"])
    assert predictions(messages) == expected
    assert stored.stored.inline == key_state_to_bytes(row)
    with_key = [{**event, "x": {**event["x"], "customer": "k"}} for event in EVENTS]
    named = KeyInMemory()
    plan = KeyedPlan("t", prior_bytes, key_input="customer")
    learned_in_batches(KeyedLearners(plan), named, events=with_key)
    assert named.stored == stored.stored


@restorable(name="test.spark.Failing")
class Failing(RestorableLearner, base.Regressor):
    def predict_one(self, x):
        raise RuntimeError("broken")

    def learn_one(self, x, y):
        raise RuntimeError("broken")

    def state(self):
        return self._write_state()

    def restore(self, state):
        self._read_state(state)


@restorable(name="test.spark.Remembering")
class Remembering(RestorableLearner, base.Regressor):
    """Predicts the target of the nearest event of all, kept in blocks of eight."""

    def __init__(self):
        super().__init__()
        self.full = []
        self.rest = []

    def learn_one(self, x, y):
        self.rest.append([x["x0"], y])
        if len(self.rest) == 8:
            self.full.append(ArrayBlock(np.array(self.rest)))
            self.rest = []

    def predict_one(self, x):
        events = np.concatenate([*self.full, np.array(self.rest).reshape(-1, 2)])
        if not len(events):
            return 0.0
        return float(events[np.argmin(np.abs(events[:, 0] - x["x0"])), 1])

    def state(self):
        return self._write_state(full=list(self.full), rest=np.array(self.rest).reshape(-1, 2))

    def restore(self, state):
        full, rest = self._read_state(state, "full", "rest")
        self.full = [ArrayBlock(block) for block in full]
        self.rest = rest.tolist()
