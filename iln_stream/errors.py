"""Errors and warnings of iln_stream."""


class IlnError(Exception):
    """An error that the user can correct; the message says how."""


class UnrecoverableError(IlnError):
    """A restart would fail in the same way: a person has to decide first."""


class SourceError(IlnError):
    """A source can't read on in order, or can't start where it should."""


class NoStreamError(SourceError):
    """The topic or file does not exist."""


class SinkError(IlnError):
    """A prediction or dead letter could not be stored, so the loop must stop."""


class ReaderGoneError(SinkError):
    """The reader of standard output closed it, as `head` does: the run ends without an error."""


class StateError(IlnError):
    """A learner's state can't be saved, or a saved state can't be read."""


class SnapshotError(IlnError):
    """A snapshot can't be written, or a run can't resume from it."""


class PublishingError(IlnError):
    """A version of a learner can't be published, or a published one can't be read."""


class NotFiniteError(SnapshotError):
    """A learner's state has a number that is not finite, so no snapshot of it is written."""


class RefusedError(SnapshotError, UnrecoverableError):
    """A snapshot has other settings or another topic: a person has to choose."""


class LostPlaceError(SourceError, UnrecoverableError):
    """The next records were deleted, or the log is a different one."""


class ContenderError(IlnError):
    """A challenger failed, and its policy is to stop the run."""


class IlnWarning(UserWarning):
    """The run continues, but the user should check something."""
