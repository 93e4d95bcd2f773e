"""Published versions that are kept beside the newest one, and the pin that chooses one of them."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from iln_stream.errors import SnapshotError
from iln_stream.files import make_folder, read_stored, sync_folder, write_whole
from iln_stream.snapshots.published_file import VersionFile, VersionHeader, version_in

_NAME = re.compile(r"(\d{12})\.model")


class Versions:
    """The versions of one learner: the newest, `FOLDER/NAME.model`, and those that are kept.

    These are in `FOLDER/NAME.versions`, durable and never changed. The file `pinned` there has the
    number of the one that all followers predict with until it is removed. When all versions are
    removed, `FOLDER/NAME.last` has the last number, as no other version may get it.

    Parameters
    ----------
    path
        The file of the newest version.
    keep
        Number of versions to keep, beside one that is pinned.
    seconds
        Least seconds from one kept version to the next.
    days
        Days for which a version is kept, unless it is pinned; None: without limit.

    """

    def __init__(
        self, path: Path, keep: int = 0, seconds: float = 0.0, days: float | None = None
    ) -> None:
        self.newest = VersionFile(path)
        self.folder = path.with_suffix(".versions")
        self._pin, self._last = self.folder / "pinned", path.with_suffix(".last")
        self._keep, self._seconds = keep, seconds
        self._longest = math.inf if days is None else 86_400.0 * days

    def kept(self) -> list[int]:
        """Return the numbers of the kept versions, ascending."""
        with suppress(OSError):
            names = [_NAME.fullmatch(file.name) for file in self.folder.iterdir()]
            return sorted(int(name[1]) for name in names if name)
        return []

    def last(self) -> int:
        """Return the highest number of a version, also of those that were removed; 0: none."""
        newest = _header(self.newest)
        number = newest.version if isinstance(newest, VersionHeader) else 0
        remedy = 'write {"version": N} into it, with the last number that was used'
        return max(number, _number_in(self._last, remedy) or 0, *self.kept())

    def file(self, version: int | None) -> VersionFile:
        """Return the file of a kept version; None: that of the newest."""
        return self.newest if version is None else VersionFile(self._path(version))

    def headers(self) -> Iterator[tuple[VersionFile, VersionHeader | SnapshotError]]:
        """Yield the files and headers of the kept versions and of the newest, or what is wrong."""
        newest = _header(self.newest)
        number = newest.version if isinstance(newest, VersionHeader) else None
        for file in (*(self.file(each) for each in self.kept() if each != number), self.newest):
            if (header := _header(file)) is not None:
                yield file, header

    def keep(self, header: VersionHeader | None = None) -> int | None:
        """Keep the newest version, if any are kept; with its header, if the last kept one is old.

        Return its number; None: it is not kept now.
        """
        kept = self.kept()
        if header is not None and kept and 0.0 <= self._age(kept[-1], header) < self._seconds:
            return None
        return self.add() if self._keep else None

    def _age(self, version: int, header: VersionHeader) -> float:
        """Return how many seconds older a kept version is; nan: it can't be read."""
        found = _header(self.file(version))
        if not isinstance(found, VersionHeader):
            return math.nan
        return header.published_at - found.published_at

    def add(self) -> int | None:
        """Keep the newest version, and remove those that are too many or old; return its number.

        None: there is no version, or a damaged one.
        """
        try:
            data = read_stored(self.newest.path)
            header, _ = version_in(data)
        except (FileNotFoundError, SnapshotError):
            return None
        if not self._path(header.version).exists():
            _write(self._path(header.version), data)
        kept = self.kept() if self._keep else []
        expired = [each for each in kept if self._age(each, header) > self._longest]
        too_old = {*kept[: -self._keep], *expired}
        pinned = self.pinned() if too_old else None
        for old in too_old - {pinned}:
            self._path(old).unlink(missing_ok=True)
        return header.version

    def pinned(self) -> int | None:
        """Return the number of the pinned version; None: the newest predicts.

        Raises
        ------
        SnapshotError
            When the pin can't be read.

        """
        return _number_in(self._pin, "pin a version again")

    def pin(self, version: int | None = None) -> int:
        """Let followers predict with a version, by default the newest, until `unpin`.

        Returns its number.

        Raises
        ------
        SnapshotError
            When there is no such version, or it is damaged.

        """
        newest = _header(self.newest)
        if version is None:
            version = self.add()
        elif isinstance(newest, VersionHeader) and newest.version == version:
            self.add()
        if version is None:
            raise SnapshotError(f"{self.newest.path} can't be read: pin a version that is kept")
        try:
            self.file(version).read()
        except (FileNotFoundError, SnapshotError) as error:
            why = "is not kept" if isinstance(error, FileNotFoundError) else f"is damaged: {error}"
            known = ", ".join(map(str, self.kept())) or "none"
            raise SnapshotError(
                f"version {version} of {self.newest.path.stem} {why}; kept: {known}"
            ) from error
        _write_number(self._pin, version)
        return version

    def unpin(self) -> None:
        """Let followers predict with the newest version."""
        self._pin.unlink(missing_ok=True)

    def forget(self) -> int:
        """Remove all versions and the pin; return how many versions there were."""
        files = [*map(self._path, self.kept()), *filter(Path.exists, [self.newest.path])]
        if files:
            _write_number(self._last, self.last())
        for file in (*files, self._pin):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # there is none, or somebody else has files there
            self.folder.rmdir()
        return len(files)

    def _path(self, version: int) -> Path:
        return self.folder / f"{version:012}.model"


def _header(file: VersionFile) -> VersionHeader | SnapshotError | None:
    try:
        return file.read_header()
    except FileNotFoundError:
        return None
    except (OSError, SnapshotError) as error:
        return error if isinstance(error, SnapshotError) else SnapshotError(str(error))


def _number_in(path: Path, remedy: str) -> int | None:
    """Return the number of a version that a file has; None: there is no file."""
    try:
        return int(json.loads(read_stored(path))["version"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise SnapshotError(f"{path} can't be read: {remedy}") from error


def _write_number(path: Path, version: int) -> None:
    _write(path, json.dumps({"version": version}).encode())


def _write(path: Path, data: bytes) -> None:
    make_folder(path.parent)
    write_whole(path, lambda file: file.write(data))
    sync_folder(path.parent)
