"""A run that a signal or a failed output may stop before its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from cyclescope.board.results import INTERRUPTED, RunResult
from cyclescope.errors import complain
from cyclescope.host import terminal
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.host.terminal import Outlet
from cyclescope.statuses import Status
from cyclescope.units import format_ps


def beside(
    run: Callable[[], RunResult],
    meanwhile: Callable[[], object],
    progress: AbstractContextManager[object],
) -> RunResult:
    """Run in a second thread, as only the main thread receives signals; it first calls `meanwhile`.

    `progress` follows the run from its start to its end.
    """
    outcome: list[RunResult | BaseException] = []

    def body() -> None:
        try:
            outcome.append(run())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    with progress:
        try:
            meanwhile()
        finally:
            thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def with_reason(result: RunResult, held: Held, outlet: Outlet) -> RunResult:
    """The result with the reason of the stop, if it was stopped."""
    if result.outcome != INTERRUPTED:
        return result
    by = f" by {held.name}" if held.name else ""
    why = f": {_words(outlet.error)}" if outlet.error else ""
    when = format_ps(result.elapsed_ps)
    return replace(result, message=f"interrupted{by} after {when} of simulated time{why}")


def status(result: RunResult, held: Held, outlet: Outlet) -> int | None:
    """The exit status of a stopped run, or of one whose console was not written; None otherwise.

    Prints the reason on stderr. Raises `Interrupted` after a signal.
    """
    is_stopped = result.outcome == INTERRUPTED
    if is_stopped and held.number is not None:
        raise Interrupted(held.number, str(result.message))
    if outlet.error is None:
        return None
    terminal.hush()
    nobody_reads = isinstance(outlet.error, BrokenPipeError)
    # a run that has ended by itself does not fail because a reader has left
    if nobody_reads and not is_stopped:
        return None
    complain(str(result.message) if is_stopped else _words(outlet.error))
    return Status.BROKEN_PIPE if nobody_reads else Status.USAGE


def _words(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}"
