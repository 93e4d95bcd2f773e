"""`PendingEvents`: labels that come in records of their own."""

import pytest
from river import linear_model, naive_bayes, preprocessing
from support.list_source import ListSource

from iln_stream.prequential import (
    Classification,
    Listener,
    PendingEvents,
    PrequentialLoop,
    RecentIds,
    Regression,
)
from iln_stream.state import pack, unpack
from iln_stream.streams import Record


class Heard(Listener):
    """Records all calls."""

    def __init__(self):
        self.steps, self.letters, self.repeats = [], [], []

    def on_step(self, step):
        self.steps.append(step)

    def on_dead_letter(self, letter):
        self.letters.append(letter.reason)

    def on_repeat(self, partition, offset):
        self.repeats.append(offset)


class Recording:
    """Predicts the number of learned events, and records them."""

    def __init__(self):
        self.learned = []

    def predict_one(self, x):
        return float(len(self.learned))

    def learn_one(self, x, y):
        self.learned.append((x, y))


class RecordingLate(Recording):
    """A learner with tokens."""

    def predict_token(self, x):
        return self.predict_one(x), {"seen": len(self.learned), "x": x}

    def learn_token(self, token, y):
        self.learned.append((token["x"], y, token["seen"]))


def run(learner, *payloads, size=10, recent=None, task=None, pending=None):
    heard, pending = Heard(), pending or PendingEvents(learner, size)
    source = ListSource(
        Record(i, payload, timestamp=100.0 + i) for i, payload in enumerate(payloads)
    )
    PrequentialLoop(
        source, learner, [heard], recent_ids=recent, task=task, pending=pending
    ).run()  # fmt: skip
    return heard, pending


EVENT, OTHER = b'{"x": {"a": 1}, "id": "e"}', b'{"x": {"a": 2}, "y": 5}'
LABEL = b'{"id": "e", "y": 7}'


def test_label_of_an_earlier_event():
    """An event is predicted when it comes and learned, with its own x, when its label comes; the
    loss is that of the published prediction."""
    learner = Recording()
    heard, pending = run(learner, EVENT, OTHER, LABEL)
    assert learner.learned == [({"a": 2.0}, 5.0), ({"a": 1.0}, 7.0)]
    event, other, label = heard.steps
    assert (event.y, event.y_pred, event.late) == (None, 0.0, False)
    assert (other.y, other.late) == (5.0, False)
    assert (label.offset, label.y, label.y_pred, label.late) == (2, 7.0, 0.0, True)
    assert label.loss == 7.0**2 / 2
    assert (label.x, label.time) == ({"a": 1.0}, 100.0)
    assert len(pending) == 0


@pytest.mark.parametrize(
    ("make", "task", "predict"),
    [
        (
            lambda: preprocessing.StandardScaler() | linear_model.LinearRegression(),
            Regression(),
            "predict_one",
        ),
        (naive_bayes.GaussianNB, Classification(), "predict_proba_one"),
    ],
)
def test_any_river_learner(make, task, predict):
    """A River learner, which makes no tokens, predicts the event when it comes, and learns its x
    when its label comes."""
    learner, by_hand = make(), make()
    heard, _ = run(learner, OTHER, EVENT, OTHER, LABEL, EVENT, task=task)
    ask = getattr(by_hand, predict)
    predictions = []
    for x, y in (({"a": 2.0}, 5), ({"a": 1.0}, None), ({"a": 2.0}, 5)):
        predictions.append(ask(x))
        if y is not None:
            by_hand.learn_one(x, y)
    by_hand.learn_one({"a": 1.0}, 7)
    assert [step.y_pred for step in heard.steps] == [
        *predictions, predictions[1], ask({"a": 1.0})
    ]  # fmt: skip


def test_learner_with_tokens():
    """A learner with tokens learns from the state at the time of the prediction."""
    learner = RecordingLate()
    run(learner, EVENT, OTHER, LABEL)
    assert learner.learned[-1] == ({"a": 1.0}, 7.0, 0)


def test_the_same_event_with_its_label():
    """An event that is sent again with its label counts as the label of the waiting event."""
    learner = Recording()
    heard, _ = run(learner, EVENT, b'{"x": {"a": 1}, "id": "e", "y": 7}', recent=RecentIds(9))
    assert learner.learned == [({"a": 1.0}, 7.0)]
    assert heard.steps[-1].late


def test_repeats_of_either_kind():
    """Repeated events and repeated labels are skipped and reported as repeats."""
    learner = Recording()
    heard, _ = run(learner, EVENT, EVENT, LABEL, LABEL, recent=RecentIds(9))
    assert heard.repeats == [1, 3]
    assert len(learner.learned) == 1


def test_a_label_without_its_event():
    """A label without a waiting event is a dead letter that names the id."""
    heard, _ = run(Recording(), LABEL)
    assert heard.letters == [
        "id: no event 'e' waits for a label: no such event came, it already has its label, or it "
        "expired (see pending_events)"
    ]


def test_labels_need_the_setting():
    """Without `pending_events`, a label is a dead letter that names this setting."""
    heard = Heard()
    PrequentialLoop(ListSource([Record(0, LABEL)]), Recording(), [heard]).run()
    assert "pending_events" in heard.letters[0]


def test_the_oldest_expires():
    """Beyond the size the oldest event expires, and is counted."""
    events = [b'{"x": {}, "id": "%d"}' % n for n in range(5)]
    _, pending = run(Recording(), *events, size=3)
    assert ("1" in pending, "2" in pending) == (False, True)
    assert {spec.name: spec.read() for spec in pending.metrics()} == {
        "iln_pending_events": 3,
        "iln_pending_expired_total": 2,
    }


def test_an_event_that_comes_again_is_the_newest():
    """An event that waits and is predicted again expires after the others."""
    events = [b'{"x": {}, "id": "%s"}' % name for name in (b"a", b"b", b"a", b"c")]
    _, pending = run(Recording(), *events, size=2)
    assert ("a" in pending, "b" in pending, "c" in pending) == (True, False, True)


def test_a_label_that_the_learner_fails_on_can_come_again():
    """After a failure of the learner the event still waits."""

    class FailingOnce(Recording):
        failed = False

        def learn_one(self, x, y):
            if not self.failed:
                self.failed = True
                raise ArithmeticError("not now")
            super().learn_one(x, y)

    learner = FailingOnce()
    heard, _ = run(learner, EVENT, LABEL, LABEL, recent=RecentIds(5))
    assert "the learner failed" in heard.letters[0]
    assert learner.learned == [({"a": 1.0}, 7.0)]


@pytest.mark.parametrize(
    ("make", "task"),
    [(linear_model.LinearRegression, Regression()), (naive_bayes.GaussianNB, Classification())],
)
def test_state(make, task):
    """Waiting events survive a restart, with their predictions."""
    first, second = make(), make()
    for learner in (first, second):
        for n in range(5):
            learner.learn_one({"a": n}, n % 2)
    _, pending = run(first, EVENT, task=task)
    restored = PendingEvents(second, 10)
    restored.restore(unpack(*pack(pending.state())))
    labels = [
        run(m, LABEL, task=task, pending=p) for m, p in ((first, pending), (second, restored))
    ]
    one, other = (heard.steps[0] for heard, _ in labels)
    assert one._replace(seconds=0, ended=0) == other._replace(seconds=0, ended=0)


def test_scores_count_an_event_once():
    """An event whose label comes late counts as one event and one labelled event."""
    heard, _ = run(Recording(), EVENT, OTHER, LABEL)
    scores = Regression().scores(10)
    scores.update(heard.steps)
    assert (scores.n_events, scores.n_labelled) == (2, 2)


def test_a_token_does_not_bypass_the_check():
    """If a learner with tokens predicts nan, the event is a dead letter."""

    class Broken(RecordingLate):
        def predict_token(self, x):
            return float("nan"), {}

    heard, pending = run(Broken(), EVENT)
    assert "it predicted nan" in heard.letters[0]
    assert len(pending) == 0
