"""Why a stream or a learner can't take part here."""


class UnavailableError(Exception):
    """A package, a class or a data folder is missing; the message says how to get it."""
