"""Kept for code of 0.2: see `iln_stream.learners.contest`."""

from iln_stream.learners.contest import *  # noqa: F403
