import numpy as np
import pytest
from support.spark_keys import KeyInMemory

from iln_stream.errors import StateError
from iln_stream.spark.stored import AppendedBlocks
from iln_stream.state import ArrayBlock


def grown(stored, blocks, states):
    for state in states:
        for block in state:
            blocks.name(block)
        blocks.write(stored)
    return blocks


def test_restored_learner_appends_only_what_is_new():
    """After a restart blocks are other objects with the same values: they are not written again."""
    stored = KeyInMemory()
    grown(stored, AppendedBlocks(), [[ArrayBlock(np.arange(3)), ArrayBlock(np.arange(4))]])
    again = AppendedBlocks.read(stored.blocks())
    grown(
        stored,
        again,
        [[ArrayBlock(np.arange(3)), ArrayBlock(np.arange(4)), ArrayBlock(np.arange(5))]],
    )
    assert len(stored.list) == 3
    assert again.n_stored == 3


def test_list_does_not_grow_for_ever():
    """A learner that forgets old blocks keeps a bounded list, rewritten rarely."""
    stored, everything = KeyInMemory(), [ArrayBlock(np.full(10, i)) for i in range(200)]
    blocks = grown(stored, AppendedBlocks(), (everything[max(0, n - 5) : n] for n in range(1, 201)))
    assert len(stored.list) == blocks.n_stored <= 18
    assert stored.n_replaced <= 200 / 10
    kept = AppendedBlocks.read(stored.blocks())
    for block in everything[-5:]:
        assert kept.array(AppendedBlocks().name(block)).tolist() == block.tolist()


def test_missing_block_is_an_error():
    """A list that lacks a block can't restore the learner."""
    with pytest.raises(StateError, match="lacks b7"):
        AppendedBlocks().array("b7")
