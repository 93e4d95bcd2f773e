"""Read-only file systems for a single process, in its own mount namespace."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

# A mount that has files open for writing stays writable: a second one covers it. The process may
# open one there, too, before it is made read-only, so try again.
_READ_ONLY_ONCE = """
make_read_only() {
  mount --bind "$0" "$0"
  until mount -o remount,bind,ro "$0" 2>/dev/null; do sleep 0.01; done
}
if [ -e "$1" ]; then
  make_read_only
else
  (while [ ! -e "$1" ]; do sleep 0.05; done; make_read_only) &
fi
shift
exec "$@"
"""


def read_only_once(folder: Path, there_is: Path) -> tuple[str, ...]:
    """Return the prefix of a command for which a folder is read-only once a given file exists.

    File modes do not stop root, and a machine-wide mount would affect other processes.
    """
    folder.mkdir(exist_ok=True)
    return (*private_mounts(), "sh", "-ec", _READ_ONLY_ONCE, str(folder), str(there_is))


def private_mounts() -> tuple[str, ...]:
    """Return the prefix of a command that has mounts of its own; skip the test if it can't."""
    own = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]
    if shutil.which("unshare") is None or subprocess.run([*own, "true"], check=False).returncode:
        pytest.skip("no mount namespace of one's own here")
    return tuple(own)
