"""Sweeps: one program or experiment run in many settings, on one machine or many.

Start at `sweep`. `axes` has what is varied and `designs` which combinations are run; `targets`
makes `trials` of them, `planning` checks all before anything runs, and `running` runs what the
`store` of earlier outcomes has not, `dask_runs` on a cluster. `results` is the table, `effects`
says what matters how much, `prices` what it costs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope._engine import Stop
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.host import processors
from cyclescope.sweeps.effects import Effect, Effects, effects
from cyclescope.sweeps.requests import Request, Runner, from_data, read_toml
from cyclescope.sweeps.results import SweepResult, SweepRow
from cyclescope.sweeps.running import Ended, run
from cyclescope.sweeps.store import Store

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "Effect",
    "Effects",
    "Request",
    "Store",
    "SweepResult",
    "SweepRow",
    "effects",
    "from_data",
    "read_toml",
    "runner",
    "sweep",
]


def sweep(
    target: str | os.PathLike[str],
    board: str | os.PathLike[str] | None = None,
    vary: Mapping[str, str | Sequence[object]] | None = None,
    *,
    overrides: Mapping[str, OverrideValue] | None = None,
    zips: Iterable[Sequence[str]] = (),
    samples: int = 0,
    sampling: str | None = None,
    seed: int = 0,
    metrics: Iterable[str] = (),
    sections: Iterable[str] = (),
    more_is_worse: Iterable[str] = (),
    less_is_worse: Iterable[str] = (),
    prices: Mapping[str, Any] | None = None,
    limit: str | None = None,
    scripts: Iterable[str] = (),
    threads: int | None = None,
    dask: str | Client | None = None,
    again: bool = False,
    stop: Stop | None = None,
    ended: Ended | None = None,
) -> SweepResult:
    """Run a program, or an experiment, in many settings; gives a row a run.

    `target` is the path of an ELF, an experiment's name, or a .toml file that has all of a sweep;
    then, nothing but what is behind `threads` may be given. `vary` has values by path, as a list or
    as text such as "10M:40M:10M"; "elf" and "board" are paths, too, and "flags" of an experiment.
    `zips` names paths that advance together. With `samples`, so many points are drawn: `sampling`
    is "random", "latin" (a Latin hypercube) or "sobol". `more_is_worse` and `less_is_worse` name
    metrics whose units do not tell which row is better. `prices` has the prices of values by path.
    `scripts` are files with what is sent on the console's line and expected there ("LABEL=FILE" for
    another serial port).
    `threads` runs are made at a time, by default one a core; with `dask`, on the workers of a
    cluster: a client, the address of a scheduler, or "local" for as many processes. Runs that were
    made before are taken from the cache unless they are to be made `again`. `ended` is called with
    the number of a row and its outcome as runs end. After `stop` is requested, the rows that are
    finished are given.

    Raises `EngineError` for what can't be, before anything runs.
    """
    request = _request(
        target,
        board=None if board is None else os.fspath(board),
        vary=dict(vary or {}),
        set=dict(overrides or {}),
        zip=[list(group) for group in zips],
        samples=samples,
        sampling=sampling,
        seed=seed,
        metrics=list(metrics),
        sections=list(sections),
        more_is_worse=list(more_is_worse),
        less_is_worse=list(less_is_worse),
        prices=dict(prices or {}),
        limit=limit,
        scripts=list(scripts),
    )
    planned = request.plan()
    with runner(threads or processors.count(), dask) as made:
        return request.run(
            planned,
            made,
            stop or Stop(),
            None if again else Store(),
            ended or (lambda row, outcome: None),
        )


@contextlib.contextmanager
def runner(threads: int, dask: str | Client | None = None) -> Iterator[Runner]:
    """What makes the runs of a sweep: so many threads, or a Dask cluster by address or client.

    With "local" it is a cluster of so many processes. Raises `UsageError` if there is none.
    """
    if dask is None:
        yield lambda planned, stop, store, ended: run(planned, threads, stop, store, ended)
        return
    from cyclescope.sweeps import dask_runs  # few sweeps need it, and it takes long to import

    with contextlib.ExitStack() as opened:
        if isinstance(dask, str):
            client = opened.enter_context(dask_runs.connected(dask, threads))
        else:
            client = dask
        yield lambda planned, stop, store, ended: dask_runs.run(planned, client, stop, store, ended)


def _request(target: str | os.PathLike[str], **data: Any) -> Request:
    given = {key: value for key, value in data.items() if value}
    if os.fspath(target).endswith(".toml"):
        if given:
            raise TypeError(f"{target} says all of the sweep: not {', '.join(given)}")
        return read_toml(Path(target))
    return from_data({"target": os.fspath(target), **given})
