"""Which partitions each learner reads, and its seed."""

import hashlib
from typing import NamedTuple

from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Resume, Scheme, Start


class Reader(NamedTuple):
    """The partitions that one learner reads.

    Parameters
    ----------
    name
        Identifies the reader within its stream, in folder names and transactional ids.
    partitions
        Partition numbers, ascending.
    seed
        Seed of the learner.

    """

    name: str
    partitions: tuple[int, ...]
    seed: int


def readers(settings: Settings, stream: Scheme) -> list[Reader]:
    """Return the readers that the settings describe.

    Raises
    ------
    SettingsError
        When `start` is an offset and there are several partitions.

    """
    if not stream.is_log:
        return [Reader("0", (0,), settings.seed)]
    if settings.partitions == "all":
        chosen = tuple(stream.partitions())
    else:
        chosen = tuple(sorted({int(number) for number in settings.partitions.split(",")}))
    if isinstance(settings.start, int) and len(chosen) > 1:
        raise SettingsError(
            f"start = {settings.start}: an offset needs a single partition, and {len(chosen)} are "
            "read: give earliest, latest or a time, or name one of --partitions"
        )
    if len(chosen) == 1 or settings.learner_per == "partition":
        return [Reader(str(p), (p,), seed_of(settings.seed, p)) for p in chosen]
    name = "all" if settings.partitions == "all" else "+".join(map(str, chosen))
    return [Reader(name, chosen, settings.seed)]


def start_of(settings: Settings) -> Start | None:
    """Return where to start reading each partition of a log; None: unset."""
    if isinstance(settings.start, int):
        return Resume(settings.start, None, settings.accept_loss)
    return settings.start


def seed_of(seed: int, partition: int) -> int:
    """Return the seed of a partition's learner: `seed` for partition 0, else a hash of both.

    So learners of two partitions draw independently, and each draws the same in any process.

    Examples
    --------
    >>> from iln_stream.service.readers import seed_of
    >>> seed_of(7, 0), seed_of(7, 1) == seed_of(8, 1)
    (7, False)

    """
    if partition == 0:
        return seed
    digest = hashlib.sha256(f"iln_stream seed {seed} partition {partition}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
