"""Kept for code of 0.2: see `iln_stream.learners.explaining`."""

from iln_stream.learners.explaining import Explanation, explain_one

__all__ = ["Explanation", "explain_one"]
