"""Kept for code of 0.2: see `iln_stream.research.related`."""

from iln_stream.research.related import *  # noqa: F403
