"""Runs side by side, on threads: the engine releases the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from cyclescope._engine import Stop

# how often it is looked whether all is to stop, and how long runs may take to do so
_LOOK_S = 0.2
_STOPPING_S = 3.0
# For each thread, so many runs are handed out: the one that it does, and the next.
_HANDED_OUT = 2
Result = TypeVar("Result")


def side_by_side(
    runs: Iterable[Callable[[], Result]],
    threads: int,
    stop: Stop,
    ended: Callable[[int, Result], None],
) -> None:
    """Run all, `threads` at a time, in their order; `ended` is called here with each as it ends.

    It is told the run's place and what it gave. Runs are taken from `runs` as there is room for
    them, so there may be very many. After `stop` is requested nothing begins, and what does not end
    soon is left. What a run or `ended` raises is raised, and requests `stop`.
    """
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="run")
    try:
        for place, future in _as_completed(pool, enumerate(runs), threads * _HANDED_OUT, stop):
            ended(place, future.result())
    except BaseException:
        stop.request()
        raise
    finally:
        # the compiler may be at work after a stop: it can't be waited for
        pool.shutdown(wait=not stop.requested, cancel_futures=True)


def _as_completed(
    pool: ThreadPoolExecutor,
    runs: Iterator[tuple[int, Callable[[], Result]]],
    most: int,
    stop: Stop,
) -> Iterator[tuple[int, Future[Result]]]:
    """Each as it ends, with its place; after `stop` was requested, only those that end soon.

    At most so many are handed out at a time.
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
