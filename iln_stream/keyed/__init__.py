"""A model for each key: a small model for the key on top of a global one that all keys train."""

from iln_stream.keyed.key import key_of
from iln_stream.keyed.key_file import KEYS_FILE, KeyFile
from iln_stream.keyed.prior import (
    FrozenPrior,
    KeyPrior,
    LearningPrior,
    learn_event,
    predict_event,
)
from iln_stream.keyed.regressor import KeyedRegressor
from iln_stream.keyed.row import Row, key_state_from_bytes, key_state_to_bytes, new_row
from iln_stream.keyed.store import KeysInMemory, KeyStore
from iln_stream.keyed.stored import KeysElsewhere, KeysToRead, StoredKeys

__all__ = [
    "KEYS_FILE",
    "FrozenPrior",
    "KeyFile",
    "KeyPrior",
    "KeyStore",
    "KeyedRegressor",
    "KeysElsewhere",
    "KeysInMemory",
    "KeysToRead",
    "LearningPrior",
    "Row",
    "StoredKeys",
    "key_of",
    "key_state_from_bytes",
    "key_state_to_bytes",
    "learn_event",
    "new_row",
    "predict_event",
]
