"""Runs side by side, on threads: the engine releases the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from cyclescope._engine import Stop

# how often it is looked whether all is to stop, and how long runs may take to do so
_LOOK_S = 0.2
_STOPPING_S = 3.0
Result = TypeVar("Result")


def side_by_side(
    runs: Sequence[Callable[[], Result]],
    threads: int,
    stop: Stop,
    ended: Callable[[int, Result], None],
) -> None:
    """Run all, `threads` at a time, in their order; `ended` is called here with each as it ends.

    It is told the run's place and what it gave. After `stop` is requested nothing begins, and what
    does not end soon is left. What a run or `ended` raises is raised, and requests `stop`.
    """
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="run")
    try:
        places = {pool.submit(run): place for place, run in enumerate(runs)}
        for future in _as_completed(places, stop):
            ended(places[future], future.result())
    except BaseException:
        stop.request()
        raise
    finally:
        # the compiler may be at work after a stop: it can't be waited for
        pool.shutdown(wait=not stop.requested, cancel_futures=True)


def _as_completed(futures: Iterable[Future[Result]], stop: Stop) -> Iterator[Future[Result]]:
    """Each as it ends; after `stop` was requested, only those that end soon."""
    waiting = set(futures)
    while waiting and not stop.requested:
        done, waiting = wait(waiting, _LOOK_S, FIRST_COMPLETED)
        yield from done
    done, _ = wait({future for future in waiting if not future.cancel()}, _STOPPING_S)
    yield from done
