"""The learners of many keys, on one worker."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from river import base

from iln_stream.errors import StateError
from iln_stream.learners import model_of, state_of
from iln_stream.learners.keyed import (
    FrozenPrior,
    Row,
    key_of,
    key_state_from_bytes,
    key_state_to_bytes,
    new_row,
)
from iln_stream.learners.keyed.prior import Look, checked
from iln_stream.learners.keyed.store import key_model
from iln_stream.loop import Classification, EventWeights, Regression, takes_weights
from iln_stream.records import DeadLetter, EnvelopeDecoder, PredictionEncoder, payload_bytes
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.spark.one_key import DEAD_LETTER, Message, OneKey
from iln_stream.spark.plan import KeyedPlan
from iln_stream.spark.records import in_order
from iln_stream.spark.stored import (
    AppendedBlocks,
    Meta,
    StoredKey,
    packed,
    packed_positions,
    unpacked,
    unpacked_positions,
)
from iln_stream.state import StateDict, from_bytes
from iln_stream.streams import Record


def core_of(prior: bytes, key_input: str | None) -> "Learners | SmallModels":
    """Return the core of a prior's bytes: what makes a new key's learner, writes and reads one.

    Parts of a learner that never change are written to blocks. What reads other bytes raises a
    StateError. The prior is that of a learner (`prior_of`) or of a `FrozenPrior`. `key_input` is
    the input that is the key, which small models must not have; None: no input is.
    """
    state = from_bytes(prior)
    if state.get("class") == "iln_stream.FrozenPrior":
        return SmallModels(FrozenPrior.from_state(state), key_input)
    return Learners(state)


class Learners:
    """Each key has a learner of its own, any that has a state.

    Each begins with the state `prior`.
    """

    def __init__(self, prior: StateDict) -> None:
        self._prior = prior

    def born(self) -> Any:
        """Return a learner with the prior's state."""
        return model_of(self._prior)

    def read(self, data: bytes, blocks: AppendedBlocks) -> Any:
        return model_of(unpacked(data, blocks.array))

    def write(self, learner: Any, blocks: AppendedBlocks) -> bytes:
        return packed(state_of(learner), blocks.name)


class SmallModels:
    """Each key has a small model, a row of numbers; what all keys share is frozen.

    `key_input` is the input that is the key; None: no input is.
    """

    def __init__(self, prior: FrozenPrior, key_input: str | None) -> None:
        self._prior = prior
        self._key_input = key_input
        self._scratch = key_model().new_scratch(prior.slopes + 1)

    def born(self) -> "SmallModel":
        """Return the model of a key without events."""
        return self._model(new_row(self._prior.slopes))

    def read(self, data: bytes, blocks: AppendedBlocks) -> "SmallModel":
        row = key_state_from_bytes(data)
        if len(row) != len(new_row(self._prior.slopes)):
            raise StateError("the state of a key has another number of slopes than the prior")
        return self._model(row)

    def write(self, learner: "SmallModel", blocks: AppendedBlocks) -> bytes:
        """Return the model's bytes, at most 1 kB with 12 slopes."""
        return key_state_to_bytes(learner.row)

    def _model(self, row: Row) -> "SmallModel":
        return SmallModel(self._prior, row, self._scratch, self._key_input)


class SmallModel:
    """A key's small model for the loop: `predict_event` and `learn_event`, to the bit.

    Learning changes `row`, the key's state. Models share `scratch`, room of compiled functions.
    """

    def __init__(self, prior: FrozenPrior, row: Row, scratch: Any, key_input: str | None) -> None:
        self.prior = prior
        self.row = row
        self.scratch = scratch
        self.key_input = key_input
        self._loops = key_model()
        self._last: tuple[Mapping[Any, float], Look] | None = None

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction of x."""
        look = self._look(x)
        self._last = x, look
        prior = self.prior
        return float(
            self._loops.predict_key(
                look.g, look.values, self.row, prior.stats, prior.shared, self.scratch
            )
        )

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Learn that y is the target of x."""
        y = checked(y, None)
        last, self._last = self._last, None
        # The loop learns the inputs that it has just predicted: what the prior said still holds.
        look = last[1] if last is not None and last[0] is x else self._look(x)
        prior = self.prior
        self._loops.learn_key(
            look.g, y, look.values, self.row, prior.stats, prior.shared, self.scratch, True
        )

    def _look(self, x: Mapping[Any, float]) -> Look:
        if self.key_input is not None:
            _, x = key_of(x, self.key_input)
        return self.prior.look(x)


INLINE_BYTES = 32 * 1024
"""A learner of at most so many bytes is stored with the small part, which saves a call to the store
when it is read and one when it is written."""


_OF_PLANS: dict[str, "KeyedLearners"] = {}


def learners_of(plan: KeyedPlan) -> "KeyedLearners":
    """Return this process's learners of a plan; Spark's workers live longer than a micro-batch."""
    found = _OF_PLANS.get(plan.run)
    if found is None:
        _OF_PLANS.clear()  # another query's learners would fill the memory
        found = _OF_PLANS[plan.run] = KeyedLearners(plan)
    return found


def without_key(record: Record) -> Message:
    """Return the dead letter of a record without a key."""
    letter = DeadLetter.of(
        *record.origin, record.offset, payload_bytes(record.payload),
        "key: the record has none, so no learner learns it; write events with a key, or name "
        "the field with the key (by_key)",
        written=record.timestamp,
    )  # fmt: skip
    return Message(DEAD_LETTER, letter.partition, letter.offset, letter.model_dump_json().encode())


class _Live(NamedTuple):
    """A learner in memory, and the stored state that it is the same as."""

    meta: Meta | None
    one: OneKey
    blocks: AppendedBlocks


class KeyedLearners:
    """Learns the records of many keys, each with its own learner, which is born from one prior.

    A learner stays in memory until `KeyedPlan.live_learners` others were used after it. It is used
    again only if the store still has the state that this object wrote last; if the micro-batch
    failed after that, or another worker went on with the key, the learner is restored from the
    store.
    """

    def __init__(self, plan: KeyedPlan) -> None:
        self.plan = plan
        self.n_restored = 0
        self._core = core_of(plan.prior, plan.key_input)
        learner = self._core.born()
        if isinstance(learner, base.Classifier):
            self._task: Any = Classification(only_booleans=not learner._multiclass)
        else:
            self._task = Regression()
        self._weights = EventWeights() if takes_weights(learner) else None
        self._encode = PredictionEncoder(plan.stream, plan.model, plan.model_version)
        self._decode: Any
        if plan.mapping is None:
            self._decode = EnvelopeDecoder(self._task.event_type, self._task.label_type)
        else:
            labels = "class" if self._task.name == "classification" else "number"
            self._decode = MappedDecoder(plan.mapping, parse_json, labels)  # type: ignore[arg-type]
        self._live: OrderedDict[Any, _Live] = OrderedDict()

    def learn(self, key: Any, stored: StoredKey, records: Iterable[Record]) -> Sequence[Message]:
        """Predict and learn a key's records of a micro-batch, and store the learner.

        `stored` has the key's variables in the state store. Records come in any order; those that
        were learned before are left out.

        Returns
        -------
        Sequence[Message]
            One message for each new record, by partition and offset.

        Raises
        ------
        StateError
            When the stored state can't be read, or was born from another prior.

        """
        live = self._taken(key, stored)
        new, _ = in_order(records, live.one.positions)
        messages = live.one.learn(new) if new else []
        if new:
            live = self._stored(live, stored, len(new))
        self._live[key] = live
        if len(self._live) > self.plan.live_learners:
            self._live.popitem(last=False)
        return messages

    def _taken(self, key: Any, stored: StoredKey) -> _Live:
        """Return the key's learner as the store has it; take it out of those that are live."""
        meta = stored.meta()
        # Taken out: if learning fails, no half-learned one is left behind.
        live = self._live.pop(key, None)
        if live is not None and live.meta == meta:
            return live
        if meta is None:
            return _Live(None, self._one(self._core.born(), {}), AppendedBlocks())
        if meta.prior != self.plan.prior_digest:
            raise StateError(
                f"prior: the checkpoint's learner of key {key!r} was born from another prior "
                f"({meta.prior.hex()}, now {self.plan.prior_digest.hex()}): start with the prior "
                "of the first run, or with a new checkpoint"
            )
        self.n_restored += 1
        data = stored.learner() if meta.inline is None else meta.inline
        if _digest(data) != meta.digest:
            raise StateError(f"the state store's learner of key {key!r} is damaged: its digest")
        blocks = AppendedBlocks.read(stored.blocks() if meta.n_blocks else ())
        learner = self._core.read(data, blocks)
        return _Live(meta, self._one(learner, unpacked_positions(meta.positions)), blocks)

    def _stored(self, live: _Live, stored: StoredKey, n_new: int) -> _Live:
        """Write what has changed; return the learner with what the store now has."""
        blocks = live.blocks
        data = self._core.write(live.one.learner, blocks)
        blocks.write(stored)
        is_small = len(data) <= INLINE_BYTES
        meta = Meta(
            packed_positions(live.one.positions),
            n_new + (0 if live.meta is None else live.meta.n),
            self.plan.prior_digest,
            _digest(data),
            data if is_small else None,
            blocks.n_stored,
        )
        if not is_small:
            stored.write_learner(data)
        stored.write_meta(meta)
        return live._replace(meta=meta)

    def _one(self, learner: Any, positions: dict[int, int]) -> OneKey:
        plan = self.plan
        return OneKey(
            learner, positions, plan.stream, self._task, self._decode, self._encode,
            self._weights, plan.max_failures_in_a_row,
        )  # fmt: skip


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()
