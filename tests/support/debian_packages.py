"""Fetches Debian packages and unpacks them, without installing them or changing this machine."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from support.cache import kept
from support.child_process import output_of

_FETCH_DEADLINE_SECONDS = 600.0


class PackageError(RuntimeError):
    """Packages could not be fetched."""


def unpacked(name: str, packages: Sequence[str], suite: str | None = None) -> Path:
    """Return a folder with the contents of packages, kept in the cache.

    Parameters
    ----------
    name
        Name of the folder; one of that name is always complete.
    packages
        Names of the packages; their dependencies are not fetched.
    suite
        Debian's suite, such as `forky`; None: this machine's.

    """

    def fetch(folder: Path) -> None:
        for package in _downloaded(packages, suite, folder):
            _run("dpkg-deb", "--extract", str(package), str(folder))
            package.unlink()

    return kept(name, fetch)


def can_fetch() -> bool:
    """Whether this machine has Debian's tools."""
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


def _downloaded(packages: Sequence[str], suite: str | None, folder: Path) -> list[Path]:
    apt = ["apt-get"]
    if suite is not None:
        apt = ["env", f"APT_CONFIG={_own_apt(suite, folder / 'apt')}", "apt-get"]
        _run(*apt, "update", folder=folder)
    try:
        _run(*apt, "download", *packages, folder=folder)
    except PackageError:
        if suite is not None:
            raise
        _run(*apt, "update", folder=folder)  # the list of packages is missing or outdated
        _run(*apt, "download", *packages, folder=folder)
    shutil.rmtree(folder / "apt", ignore_errors=True)
    return list(folder.glob("*.deb"))


def _own_apt(suite: str, folder: Path) -> Path:
    """Configure an apt for one suite with its own lists; it reads this machine's sources."""
    for name in ("lists/partial", "archives/partial", "sources"):
        (folder / name).mkdir(parents=True)
    release = Path("/etc/os-release").read_text()
    machine = re.search(r"^VERSION_CODENAME=(\w+)$", release, re.MULTILINE)
    if machine is None:
        raise PackageError("this machine is no Debian: /etc/os-release has no VERSION_CODENAME")
    here = rf"\b{machine[1]}\b"
    for file in Path("/etc/apt/sources.list.d").glob("*.sources"):
        parts = [
            re.sub(here, suite, part)
            for part in re.split(r"\n\s*\n", file.read_text())
            if re.search(rf"^Suites:.*{here}", part, re.MULTILINE) and "-security" not in part
        ]
        (folder / "sources" / file.name).write_text("\n\n".join(parts))
    for file in (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list")):
        lines = file.read_text().splitlines() if file.is_file() else []
        chosen = [
            re.sub(here, suite, each) for each in lines if re.search(rf"^deb .*{here} ", each)
        ]
        (folder / "sources" / f"{file.stem}.list").write_text("\n".join([*chosen, ""]))
    config = folder / "apt.conf"
    config.write_text(
        f"""Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{folder}/sources";
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}";
Dir::Cache::archives "{folder}/archives";
Acquire::Languages "none";
APT::Sandbox::User "root";
Debug::NoLocking "1";
"""
    )
    return config


def _run(*command: str, folder: Path | None = None) -> str:
    return output_of(command, raising=PackageError, folder=folder, deadline=_FETCH_DEADLINE_SECONDS)
