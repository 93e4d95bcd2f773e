import pytest

from iln_stream.learners.restoring import random_key


def test_a_seed_gives_a_key():
    """The same seed gives the same two words; another, or none, gives others."""
    assert random_key(1).tolist() == random_key(1).tolist()
    assert random_key(1).shape == (2,)
    keys = [tuple(random_key(seed).tolist()) for seed in (1, 2, None, None)]
    assert len(set(keys)) == 4


@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_what_is_no_seed_is_refused(seed):
    """The error names the argument, not NumPy's generator."""
    with pytest.raises(ValueError, match=f"^seed = {seed!r} must be a whole number"):
        random_key(seed)
