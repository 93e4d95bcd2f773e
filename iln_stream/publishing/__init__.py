"""Published versions of a learner, with which other processes such as the HTTP API predict.

- `publisher.py`: a listener of the loop that writes a version when the last one is old enough;
- `follower.py`: reads the newest version in another process;
- `capture.py`: a learner as arrays, and back;
- `writer.py`: writes versions on a thread;
- `file.py`: the format of the file.
"""

from iln_stream.publishing.file import DamagedError, Header, VersionFile
from iln_stream.publishing.follower import Follower, Published
from iln_stream.publishing.publisher import Publisher

__all__ = ["DamagedError", "Follower", "Header", "Published", "Publisher", "VersionFile"]
