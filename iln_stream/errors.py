"""What iln_stream raises and warns of."""


class IlnError(Exception):
    """Something the user can mend; the message names it and says how."""


class UnrecoverableError(IlnError):
    """A restart would end in the same way: a person has to decide first."""


class SourceError(IlnError):
    """A source can't go on in order, or can't start where it was told to."""


class NoStreamError(SourceError):
    """There is no such topic or file."""


class SinkError(IlnError):
    """A prediction or dead letter could not be stored, so the stream must not go on."""


class ReaderGoneError(SinkError):
    """Whoever read standard output has enough, as `head` does: the end of the run, and no fault."""


class StateError(IlnError):
    """A learner's state can't be saved, or what was saved can't be read."""


class SnapshotError(IlnError):
    """A snapshot can't be written, or can't be gone on from."""


class RefusedError(SnapshotError, UnrecoverableError):
    """A snapshot is of other settings or another topic: a person has to say which is meant."""


class LostPlaceError(SourceError, UnrecoverableError):
    """The records to go on with are gone, or the log is another one."""


class IlnWarning(UserWarning):
    """The run goes on, but something about it deserves a look."""
