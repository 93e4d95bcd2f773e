"""Calls a function in a process of its own.

A separate process has its own memory figures, limits a crash to one cell, and starts a Java virtual
machine only once.
"""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from benchmarks.quality.unavailable import UnavailableError

A = TypeVar("A")
Work = Callable[[A], dict[str, Any]]


def call(work: Work[A], argument: A, time_limit: float | None = None) -> dict[str, Any]:
    """Return the function's figures, or the error as `failed`.

    Parameters
    ----------
    work
        A function of a module.
    argument
        Its argument.
    time_limit
        Seconds after which the process is killed; None: no limit.

    Raises
    ------
    UnavailableError
        If something that the function needs is not available here.

    """
    # Forking from a process that has threads is unsafe; the fork server has none.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=send_figures, args=(work, argument, sending))
    process.start()
    sending.close()
    try:
        if not receiving.poll(time_limit):
            process.kill()
            return {"failed": f"took longer than {time_limit:g} s"}
        figures: dict[str, Any] | UnavailableError = receiving.recv()
    except EOFError:
        process.join()
        return {"failed": f"its process ended with code {process.exitcode}"}
    finally:
        process.join(timeout=10)
    if isinstance(figures, UnavailableError):
        raise figures
    return figures


def send_figures(work: Work[A], argument: A, sending: Connection) -> None:
    """Send what the function returns, or why it failed, and end the process."""
    try:
        sending.send(work(argument))
    except UnavailableError as reason:
        sending.send(reason)
    except Exception as error:  # an error of a learner is a result
        sending.send({"failed": f"{type(error).__name__}: {error}"[:200]})
    sending.close()
    # A Java virtual machine may outlive a normal exit.
    os._exit(0)
