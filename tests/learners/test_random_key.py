from iln_stream.learners.random_key import random_key


def test_a_seed_gives_a_key():
    """The same seed gives the same two words; another, or none, gives others."""
    assert random_key(1).tolist() == random_key(1).tolist()
    assert random_key(1).shape == (2,)
    keys = [tuple(random_key(seed).tolist()) for seed in (1, 2, None, None)]
    assert len(set(keys)) == 4
