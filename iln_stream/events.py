"""Kept for code of 0.2: see `iln_stream.records`."""

from iln_stream.records import *  # noqa: F403
