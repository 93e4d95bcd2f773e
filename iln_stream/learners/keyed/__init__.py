"""A model for each key: a small model for the key on top of a global one that all keys train."""

from iln_stream.learners.keyed.aggregates import Aggregate, AggregateInputs, Aggregates
from iln_stream.learners.keyed.key_file import (
    KEYS_FILE,
    KeyFile,
    KeysElsewhere,
    KeysToRead,
    NewestKeys,
    StoredKeys,
)
from iln_stream.learners.keyed.prior import FrozenPrior, LearningPrior, learn_event, predict_event
from iln_stream.learners.keyed.regressor import KeyedRegressor
from iln_stream.learners.keyed.store import (
    HasKeys,
    KeysInMemory,
    Row,
    key_of,
    key_state_from_bytes,
    key_state_to_bytes,
    new_row,
)

__all__ = [
    "KEYS_FILE",
    "Aggregate",
    "AggregateInputs",
    "Aggregates",
    "FrozenPrior",
    "HasKeys",
    "KeyFile",
    "KeyedRegressor",
    "KeysElsewhere",
    "KeysInMemory",
    "KeysToRead",
    "LearningPrior",
    "NewestKeys",
    "Row",
    "StoredKeys",
    "key_of",
    "key_state_from_bytes",
    "key_state_to_bytes",
    "learn_event",
    "new_row",
    "predict_event",
]
