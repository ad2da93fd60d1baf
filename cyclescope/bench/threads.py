"""Runs in parallel, on threads: the engine releases the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from cyclescope._engine import Stop

# how often a stop is checked, and how long runs may take to stop
_LOOK_S = 0.2
_STOPPING_S = 3.0
# The number of runs handed out for each thread: the current one and the next.
_HANDED_OUT = 2
Result = TypeVar("Result")


def side_by_side(
    runs: Iterable[Callable[[], Result]],
    threads: int,
    stop: Stop,
    ended: Callable[[int, Result], None],
) -> None:
    """Run all, `threads` at a time, in their order; `ended` is called in this thread as each ends.

    It is called with the run's place and result. Runs are taken from `runs` as there is room for
    them, so there may be very many. After `stop` is requested no run starts, and a run that does
    not end soon is abandoned. An exception of a run or of `ended` is raised, and requests `stop`.
    """
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="run")
    try:
        for place, future in _as_completed(pool, enumerate(runs), threads * _HANDED_OUT, stop):
            ended(place, future.result())
    except BaseException:
        stop.request()
        raise
    finally:
        # a compiler may still run after a stop: don't wait for it
        pool.shutdown(wait=not stop.requested, cancel_futures=True)


def _as_completed(
    pool: ThreadPoolExecutor,
    runs: Iterator[tuple[int, Callable[[], Result]]],
    most: int,
    stop: Stop,
) -> Iterator[tuple[int, Future[Result]]]:
    """Each run as it ends, with its place; after `stop` was requested, only those that end soon.

    At most `most` are handed out at a time.
    """
    places: dict[Future[Result], int] = {}
    while not stop.requested:
        free = islice(runs, most - len(places))
        places |= {pool.submit(run): place for place, run in free}
        if not places:
            return
        done, _ = wait(places, _LOOK_S, FIRST_COMPLETED)
        for future in done:
            yield places.pop(future), future
    done, _ = wait({future for future in places if not future.cancel()}, _STOPPING_S)
    for future in done:
        yield places.pop(future), future
