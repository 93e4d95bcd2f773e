"""A real headless Chromium for the tests.

It is the one on PATH, or else Debian's package, which root can install.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from support.child_process import output_of
from support.debian_packages import PackageError, can_fetch, unpacked

_INSTALL_DEADLINE_SECONDS = 600.0
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server")
"""As root there is no sandbox; the pages are ours."""


class ChromiumError(RuntimeError):
    """There is no Chromium, and it could not be installed."""


@contextmanager
def chromium(*flags: str, fonts: Path | None = None) -> Iterator[Browser]:
    """Run a browser.

    Parameters
    ----------
    flags
        Further flags.
    fonts
        Folder of fonts that it finds beside this machine's.

    """
    environment: dict[str, Any] = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    if fonts is not None:
        environment["XDG_DATA_HOME"] = str(fonts)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=[*_FLAGS, *flags], env=environment
        )
        try:
            yield browser
        finally:
            browser.close()


def find_chromium() -> str:
    """Return the path of a Chromium, installed if necessary."""
    if found := _on_path():
        return found
    if not (can_fetch() and os.geteuid() == 0):
        raise ChromiumError(
            "These tests need Chromium: install Debian's package (`apt-get install chromium`), or "
            "run the tests as root on Debian, and they install it."
        )
    wait = ("-o", "DPkg::Lock::Timeout=300")  # another apt-get may be at work
    install = ("apt-get", *wait, "install", "--yes", "--no-install-recommends", "chromium")
    try:
        _run(*install)
    except PackageError:
        _run("apt-get", "update")  # the list of packages is missing or outdated
        _run(*install)
    found = _on_path()
    if found is None:
        raise ChromiumError("Debian's package chromium is installed, and no `chromium` is on PATH.")
    return found


def inter() -> Path:
    """Return a folder with the font Inter, so that pictures look alike on every machine."""
    package = unpacked("fonts-inter", ["fonts-inter"])
    return package / "usr" / "share"


def _on_path() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def _run(*command: str) -> str:
    return output_of(command, raising=PackageError, deadline=_INSTALL_DEADLINE_SECONDS)
