"""Kept for code of 0.2: see `iln_stream.learners.frozen`."""

from typing import TYPE_CHECKING, Any

from iln_stream.learners import frozen

if TYPE_CHECKING:
    from iln_stream.learners.frozen import *  # noqa: F403

__all__ = frozen.__all__


def __getattr__(name: str) -> Any:
    return getattr(frozen, name)
