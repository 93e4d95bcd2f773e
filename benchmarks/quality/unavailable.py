"""The error of a stream or learner that is not available."""


class UnavailableError(Exception):
    """A package, a class or a data folder is missing; the message says how to get it."""
