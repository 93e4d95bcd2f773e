"""The page on which a person sees a learner learn: a process of its own, which only reads."""

from iln_stream.page.settings import PageSettings

__all__ = ["PageSettings"]
