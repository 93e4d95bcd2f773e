"""Which partitions are learned, and the seed of each one's learner."""

import hashlib

from iln_stream.service.settings import Settings
from iln_stream.streams import KafkaPartition, Source


def first_partition(settings: Settings) -> int:
    """Return the lowest of the partitions that are named."""
    return 0 if settings.partitions == "all" else min(map(int, settings.partitions.split(",")))


def other_partitions(settings: Settings, first: Source) -> list[int]:
    """Return the partitions that are named beside the first, whose source is open."""
    if not isinstance(first, KafkaPartition):
        return []
    if settings.partitions == "all":
        return list(range(1, first.n_partitions))
    return sorted({int(number) for number in settings.partitions.split(",")})[1:]


def seed_of(seed: int, partition: int) -> int:
    """Return the seed of a partition's learner: the setting's for partition 0, else derived.

    Learners of two partitions so draw independently, and each draws the same wherever it runs.

    Examples
    --------
    >>> from iln_stream.service.partitions import seed_of
    >>> seed_of(7, 0), seed_of(7, 1) == seed_of(8, 1)
    (7, False)

    """
    if partition == 0:
        return seed
    digest = hashlib.sha256(f"iln_stream seed {seed} partition {partition}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
