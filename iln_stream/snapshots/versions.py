"""Published versions that are kept beside the newest one, and the pin that chooses one of them."""

import json
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
    number of the one that all followers predict with until it is removed.

    Parameters
    ----------
    path
        The file of the newest version.
    keep
        Number of versions to keep, beside one that is pinned.
    seconds
        Least seconds from one kept version to the next.

    """

    def __init__(self, path: Path, keep: int = 0, seconds: float = 0.0) -> None:
        self.newest = VersionFile(path)
        self.folder = path.with_suffix(".versions")
        self._pin = self.folder / "pinned"
        self._keep, self._seconds = keep, seconds

    def kept(self) -> list[int]:
        """Return the numbers of the kept versions, ascending."""
        with suppress(OSError):
            names = [_NAME.fullmatch(file.name) for file in self.folder.iterdir()]
            return sorted(int(name[1]) for name in names if name)
        return []

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

    def replaced(self) -> int | None:
        """Keep the newest version, which another learner will replace, if versions are kept."""
        return self.add() if self._keep else None

    def add(self, only: int | None = None) -> int | None:
        """Keep the newest version, and remove the oldest kept ones; return its number.

        None: there is no version, or a damaged one, or its number is not `only`.
        """
        try:
            data = read_stored(self.newest.path)
            header, _ = version_in(data)
        except (FileNotFoundError, SnapshotError):
            return None
        if only not in (None, header.version):
            return None
        if not self._path(header.version).exists():
            self._write(self._path(header.version), data)
        too_old = self.kept()[: -self._keep] if self._keep else []
        pinned = self.pinned() if too_old else None
        for old in too_old:
            if old != pinned:
                self._path(old).unlink(missing_ok=True)
        return header.version

    def published(self, header: VersionHeader) -> int | None:
        """Keep the version that was published if the last one that is kept is old enough."""
        kept = self.kept() if self._keep else None
        last = _header(self.file(kept[-1])) if kept else None
        age = header.published_at - last.published_at if isinstance(last, VersionHeader) else -1.0
        if kept is not None and not 0.0 <= age < self._seconds:
            return self.add()
        return None

    def pinned(self) -> int | None:
        """Return the number of the pinned version; None: the newest predicts.

        Raises
        ------
        SnapshotError
            When the pin can't be read.

        """
        try:
            return int(json.loads(read_stored(self._pin))["version"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise SnapshotError(f"{self._pin} can't be read: pin a version again") from error

    def pin(self, version: int | None) -> None:
        """Let followers predict with a kept version until another call; None: with the newest.

        Raises
        ------
        SnapshotError
            When there is no such version, or it is damaged.

        """
        if version is None:
            self._pin.unlink(missing_ok=True)
            return
        try:
            self.file(version).read()
        except (FileNotFoundError, SnapshotError) as error:
            why = "is not kept" if isinstance(error, FileNotFoundError) else f"is damaged: {error}"
            known = ", ".join(map(str, self.kept())) or "none"
            raise SnapshotError(
                f"version {version} of {self.newest.path.stem} {why}; kept: {known}"
            ) from error
        self._write(self._pin, json.dumps({"version": version}).encode())

    def forget(self) -> int:
        """Remove all versions and the pin; return how many versions there were."""
        files = [*map(self._path, self.kept()), *filter(Path.exists, [self.newest.path])]
        for file in (*files, self._pin):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # there is none, or somebody else has files there
            self.folder.rmdir()
        return len(files)

    def _write(self, path: Path, data: bytes) -> None:
        make_folder(self.folder)
        write_whole(path, lambda file: file.write(data))
        sync_folder(self.folder)

    def _path(self, version: int) -> Path:
        return self.folder / f"{version:012}.model"


def _header(file: VersionFile) -> VersionHeader | SnapshotError | None:
    try:
        return file.read_header()
    except FileNotFoundError:
        return None
    except SnapshotError as error:
        return error
