"""Events learned in a row: the same steps, scores, curves and snapshots as one by one."""

import json
import random
from decimal import Decimal
from hashlib import sha256

import pytest
from support.heard import Heard
from support.list_source import LIST, ListSource

from iln_stream.errors import IlnError, SourceError
from iln_stream.learners import InfiniteLayerRegressor
from iln_stream.loop import (
    MOST_IN_A_ROW,
    EventWeights,
    LearnerError,
    Listener,
    PrequentialLoop,
    RecentIds,
    Regression,
    Step,
)
from iln_stream.loop.live import About, LiveModel
from iln_stream.loop.metrics import ModelMetrics
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.state import pack
from iln_stream.streams import Record


class Batches(Listener):
    """Counts the calls that bring many steps."""

    most_steps = MOST_IN_A_ROW

    def __init__(self):
        self.sizes = []

    def on_steps(self, steps):
        self.sizes.append(len(steps))


class Saves:
    """A checkpoint that is due every so many records, and keeps what a snapshot would have."""

    def __init__(self, every, parts):
        self._every, self._parts = every, parts
        self._n, self.n_passed, self.saved = 0, 0, {}

    @property
    def n_until_due(self):
        return self._every - self._n

    def passed(self, records):
        self._n += len(records)
        self.n_passed += len(records)
        if self._n >= self._every:
            self._n = 0
            states = [pack(part.state()) for part in self._parts]
            found = [(text, {k: v.tobytes() for k, v in arrays.items()}) for arrays, text in states]
            self.saved[self.n_passed] = sha256(repr(found).encode()).hexdigest()

    def idle(self):
        pass


def mixed_records(seed, n=1500):
    """Return records of all kinds; most are usual events."""
    draw = random.Random(seed)
    for i in range(n):
        a, b = draw.gauss(0, 1), draw.gauss(5, 2)
        record = {"a": a, "b": b, "y": 3 * a + draw.gauss(0, 0.1), "at": 60.0 * i}
        match draw.randrange(60):
            case 0:
                record["y"] = None
            case 1:
                record["y"] = "wrong"
            case 2:
                record["weight"] = 2.5
            case 3:
                del record["a"]
            case 4:
                record["sky"] = draw.choice("uvw")
            case 5:
                record["user"] = f"u{draw.randrange(10**6)}"
            case 6:
                record["a"] = 1e200
            case 7:
                record["y"] = 1e40
            case 8:
                record["id"] = f"e{draw.randrange(20)}"
            case _:
                record["id"] = f"id-{i}"
        payload = json.dumps(record).encode()
        yield Record(i, b"{" if draw.randrange(90) == 0 else payload, LIST)


def run(records, *listeners, every=50, ids=400):
    """Run a loop; return what is heard, seen on the page, and saved."""
    learner, heard = InfiniteLayerRegressor("fast", seed=1), Heard()
    watched = ModelMetrics(learner, ListSource([]), "m", Regression(), 100)
    live = LiveModel(watched)
    live.about = About("regression", "list", "fast", "v1")
    recent = RecentIds(ids)
    mapping = FieldMapping(
        target="y", id_field="id", time_field="at", weight_field="weight", types={}
    )
    decoder = MappedDecoder(mapping, parse_json)
    heard.most_steps = MOST_IN_A_ROW
    saves = Saves(every, [learner, watched, recent, decoder])
    PrequentialLoop(
        ListSource(list(records), batch=300), learner, [heard, watched, live, *listeners],
        recent_ids=recent, checkpoint=saves, decoder=decoder, weights=EventWeights(),
    ).run()  # fmt: skip
    return heard, live, saves


def without_clocks(step: Step) -> Step:
    return step._replace(seconds=0.0, ended=0.0)


@pytest.mark.filterwarnings("ignore")  # of texts, times and categories
@pytest.mark.parametrize("seed", range(3))
def test_all_is_as_one_by_one(seed):
    """Order, predictions, losses, dead letters, repeats, curves and states at each checkpoint."""
    batches = Batches()
    records = list(mixed_records(seed))
    heard, live, saves = run(records, batches)
    one_by_one, its_live, its_saves = run(records, Listener())  # it may look at the learner
    stride = live.data(0)["curves"]["stride"]
    assert max(batches.sizes) == stride  # from one point of the curves to the next
    assert heard.told == one_by_one.told
    assert [*map(without_clocks, heard.steps)] == [*map(without_clocks, one_by_one.steps)]
    assert [each.reason for each in heard.letters] == [each.reason for each in one_by_one.letters]
    assert live.data(0)["curves"] == its_live.data(0)["curves"]
    assert live.data(0)["recent"] == its_live.data(0)["recent"]
    assert len(saves.saved) == 30
    assert saves.saved == its_saves.saved


@pytest.mark.parametrize("every", [1, 7, 128, 500])
def test_a_checkpoint_is_not_late(every):
    """It is due after so many records, also within those that could be learned in a row."""
    records = [event(i) for i in range(1000)]
    _, _, saves = run(records, every=every)
    assert list(saves.saved) == [*range(every, 1001, every)]


def event(i):
    return Record(i, json.dumps({"a": i % 7, "b": i % 5, "y": i % 7}).encode(), LIST)


def run_mapped(records, learner=None, **options):
    """Run a loop in which nobody looks at the learner; return what is heard, and the error."""
    heard = Heard()
    heard.most_steps = MOST_IN_A_ROW
    options = {"decoder": MappedDecoder(FieldMapping(target="y"), parse_json), **options}
    loop = PrequentialLoop(
        ListSource(records, batch=60), learner or InfiniteLayerRegressor("fast", seed=1), [heard],
        **options,
    )  # fmt: skip
    try:
        loop.run()
    except IlnError as error:
        return heard, error
    return heard, None


class Wrong(MappedDecoder):
    """Makes inputs that are no numbers of records with a null, and can't read those with an e."""

    def __call__(self, payload, written, key=None):
        example = super().__call__(payload, written, key)
        if b"null" in payload:
            return example._replace(x={"a": Decimal("NaN"), "b": 1.0})
        if b'"e"' in payload:
            raise SourceError("the registry is away")
        return example


def test_events_that_fail_are_dead_letters():
    """Those before and after them in the row are learned; a hundred failures in a row end the run
    although rows are shorter."""
    decoder = Wrong(FieldMapping(target="y"), parse_json)
    null = b'{"a": null, "b": 1, "y": 1}'
    records = [event(i) if i % 10 else Record(i, null, LIST) for i in range(1, 60)]
    heard, error = run_mapped(records, decoder=decoder)
    assert (len(heard.steps), len(heard.letters), error) == (54, 5, None)
    records = [event(i) if i < 10 else Record(i, null, LIST) for i in range(300)]
    heard, error = run_mapped(records, decoder=decoder)
    assert isinstance(error, LearnerError)
    assert (len(heard.steps), len(heard.letters)) == (10, 100)


def test_events_before_an_error_are_learned():
    """They are told before the source's error, also one that comes when records are read ahead."""
    decoder = Wrong(FieldMapping(target="y"), parse_json)
    records = [*(event(i) for i in range(40)), Record(40, b'{"e": 1, "y": 1}', LIST)]
    heard, error = run_mapped(records, decoder=decoder)
    assert (len(heard.steps), str(error)) == (40, "the registry is away")
    heard, error = run_mapped([*map(event, range(40)), event(39)])
    assert (len(heard.steps), type(error)) == (40, SourceError)


def test_a_repeat_within_a_row():
    """An id that came a few events before, and is not learned yet, is known; also that of an event
    with a weight, which is learned alone."""
    ids, weights = [*range(20), 19, 20, 20], {21: ', "w": 2'}
    records = [
        Record(i, b'{"id": "e%d", "a": %d, "y": 3%s}' % (e, i, weights.get(i, "").encode()), LIST)
        for i, e in enumerate(ids)
    ]
    mapping = FieldMapping(target="y", id_field="id", weight_field="w")
    options = {"recent_ids": RecentIds(50), "weights": EventWeights()}
    heard, _ = run_mapped(records, decoder=MappedDecoder(mapping, parse_json), **options)
    assert (len(heard.steps), heard.repeats) == (21, [20, 22])


class Looks(Listener):
    """Notes how many events the learner has learned at each step."""

    def __init__(self, learner):
        self._learner, self.seen = learner, []

    def on_step(self, step):
        self.seen.append(self._learner.n_learned)


def test_a_listener_sees_the_learner_after_each_step():
    """Unless it says that it does not look."""
    learner = InfiniteLayerRegressor("fast", seed=1)
    looks = Looks(learner)
    decoder = MappedDecoder(FieldMapping(target="y"), parse_json)
    PrequentialLoop(
        ListSource([event(i) for i in range(40)]), learner, [looks], decoder=decoder
    ).run()
    assert looks.seen == [*range(1, 41)]


class Doubling(InfiniteLayerRegressor):
    """Learns twice the label."""

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, 2 * y, w)


def test_a_learner_of_ones_own():
    """A subclass's own `learn_one` is called for each event."""
    records = [Record(i, b'{"a": 1, "b": 2, "y": 3}', LIST) for i in range(20)]
    heard, _ = run_mapped(records, Doubling("fast", seed=1))
    assert heard.steps[-1].y_pred == 6.0
