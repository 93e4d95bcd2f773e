"""`iln-stream warm`: compiles the learners' loops ahead of their first use."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from rich.console import Console

from iln_stream.cli.logs import report
from iln_stream.errors import IlnError
from iln_stream.kernels.jit import cache_folder, cache_is_writable
from iln_stream.learners.keyed.regressor import NAME
from iln_stream.learners.warming import PUBLIC
from iln_stream.service.warming import Warming


def warm_cache(names: Sequence[str], console: Console) -> None:
    """Compile what each learner needs, by name, and report it; by default for all learners.

    As many learners at a time as there are processors.

    Raises
    ------
    IlnError
        When a name is unknown, or the cache can't be written to.

    """
    known = [*PUBLIC, NAME]
    for name in names:
        if name not in known:
            raise IlnError(f"--profile: {name!r} must be one of {', '.join(known)}")
    if not cache_is_writable():
        raise IlnError(
            f"compiled code can't be kept in {cache_folder() or 'any folder'}: set NUMBA_CACHE_DIR "
            "to a folder that can be written to, here and wherever the learners run"
        )
    begun = time.monotonic()
    report(console, f"compiling into {cache_folder()}")
    wanted = list(names) or known
    titles = [f"{name} ({i} of {len(wanted)})" for i, name in enumerate(wanted, 1)]
    warmings = [
        Warming(name, partial(_report, console, title))
        for name, title in zip(wanted, titles, strict=True)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for title, warming in zip(titles, pool.map(_run, warmings), strict=True):
                n = warming.n_compiled
                count = f"{n} functions compiled" if n else "nothing was left to compile"
                report(console, f"{title}: {count}")
        except BaseException:
            for warming in warmings:
                warming.stop()
            raise
    report(console, f"done in {time.monotonic() - begun:.0f} s")


def _run(warming: Warming) -> Warming:
    warming.run()
    return warming


def _report(console: Console, title: str, function: str, seconds: float) -> None:
    report(console, f"{title}: {function}, {seconds:.1f} s")
