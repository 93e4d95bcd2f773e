"""Kept for code of 0.2: see `iln_stream.learners.keyed`."""

from iln_stream.learners.keyed import *  # noqa: F403
