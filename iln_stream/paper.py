"""Kept for code of 0.2: see `iln_stream.research.paper`."""

from iln_stream.research.paper import *  # noqa: F403
