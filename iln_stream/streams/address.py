"""Addresses of streams; only this module knows all kinds of streams."""

import importlib
import re
from importlib.metadata import entry_points

from iln_stream.errors import UnrecoverableError
from iln_stream.streams.scheme import Scheme, StreamOptions

GROUP = "iln_stream.streams"
"""Entry points with schemes of other packages: `name = package.module:SchemeSubclass`."""

_SCHEMES = {
    "kafka": "iln_stream.streams.kafka.scheme:KafkaScheme",
    "sqlite": "iln_stream.streams.sqlite.scheme:SqliteScheme",
    "river": "iln_stream.streams.river.scheme:RiverScheme",
    "synthetic": "iln_stream.streams.river.scheme:RiverScheme",
    "file": "iln_stream.streams.files.scheme:FileScheme",
    "-": "iln_stream.streams.files.scheme:StandardScheme",
}
"""Import paths, so that each is imported when it is needed: a file needs no Kafka client."""

_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


class AddressError(UnrecoverableError):
    """An address that names no stream."""


def stream_at(address: str, options: StreamOptions) -> Scheme:
    """Return the stream at an address, without opening it.

    Parameters
    ----------
    address
        `SCHEME:NAME`, such as `kafka:iln-events`, `sqlite:log.db` or `river:TrumpApproval`;
        `-` for standard input and output; `package.module:attribute` of a source, or of a function
        that returns one; or the path of a file.
    options
        Options for all kinds of streams.

    Raises
    ------
    AddressError
        When the address names no stream.

    Examples
    --------
    >>> from iln_stream.streams import StreamOptions, stream_at
    >>> stream_at("events.jsonl", StreamOptions()).is_log
    False
    >>> stream_at("kafka:", StreamOptions())
    Traceback (most recent call last):
    ...
    iln_stream.streams.address.AddressError: 'kafka:' names nothing: give kafka:NAME

    """
    if address == "-":
        return _scheme("-")("-", "", options)
    head, colon, name = address.partition(":")
    if head != "-" and (head in _SCHEMES or (colon and head in schemes())):  # from packages: slow
        if not name:
            raise AddressError(f"{address!r} names nothing: give {head}:NAME")
        return _scheme(head)(head, name, options)
    if colon and _IMPORT_PATH.fullmatch(address):
        from iln_stream.streams.imported import ImportedScheme

        return ImportedScheme(head, name, options)
    return _scheme("file")("file", address, options)


def schemes() -> list[str]:
    """Return the names of all schemes, including those of other packages."""
    return [*_SCHEMES, *(point.name for point in entry_points(group=GROUP))]


def _scheme(name: str) -> type[Scheme]:
    if name in _SCHEMES:
        module, _, attribute = _SCHEMES[name].partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    points = list(entry_points(group=GROUP, name=name))
    if len(points) > 1:
        both = " and ".join(point.value for point in points)
        raise AddressError(
            f"{name}: several packages define this scheme: {both}; uninstall all but one"
        )
    return points[0].load()  # type: ignore[no-any-return]
