"""Programs that few tests need: from PATH, or from a package of this machine's Debian."""

import shutil
from pathlib import Path

from support.debian_packages import unpacked


def program(path: str, package: str) -> Path:
    """Return a program's path, fetched into the cache if necessary.

    Parameters
    ----------
    path
        Where the package has it, such as `usr/bin/amtool`.
    package
        Its package, whose libraries this machine has.

    """
    found = shutil.which(Path(path).name)
    return Path(found) if found else unpacked(f"debian-{package}", [package]) / path
