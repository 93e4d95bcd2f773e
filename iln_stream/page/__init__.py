"""The live page that shows a learner in browsers: a separate process, which only reads."""

from iln_stream.page.settings import PageSettings

__all__ = ["PageSettings"]
