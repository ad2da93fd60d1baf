"""Sweeps: one program or experiment run with many settings, on one machine or many.

Start at `sweep`. `axes` describes what is varied and `designs` which combinations are run;
`targets` makes `trials` of them. `planning` checks all of them before anything runs. `running` runs
those that the `store` of earlier outcomes lacks, `dask_runs` on a cluster. `results` makes the
table, `effects` finds which settings matter most, `prices` adds up costs.
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
    """Run a program, or an experiment, with many settings; returns one row for each run.

    `target` is the path of an ELF, an experiment's name, or a .toml file that describes the whole
    sweep; then only the arguments after `threads` may be given. `vary` has values by path, as a
    list or as text such as "10M:40M:10M"; "elf" and "board" are paths, too, and "flags" of an
    experiment. `zips` names paths that advance together. With `samples`, that number of points is
    drawn: `sampling` is "random", "latin" (a Latin hypercube) or "sobol". `more_is_worse` and
    `less_is_worse` name metrics whose units do not show which row is better. `prices` has the
    prices of values by path. `scripts` are files with input for the console's line and expected
    output ("LABEL=FILE" for another serial port). `threads` is the number of parallel runs, by
    default one a core; with `dask`, runs are made on the workers of a cluster: a client, the
    address of a scheduler, or "local" for as many processes. Earlier outcomes are taken from the
    cache unless the runs are to be made `again`. `ended` is called with the number of a row and its
    outcome as runs end. After `stop` is requested, the finished rows are returned.

    Raises `EngineError` for invalid input, before anything runs.
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
    """The runner of a sweep: `threads` threads, or a Dask cluster by its address or client.

    "local" is a cluster of `threads` processes. Raises `UsageError` if there is no cluster.
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
            raise TypeError(f"{target} describes the whole sweep: remove {', '.join(given)}")
        return read_toml(Path(target))
    return from_data({"target": os.fspath(target), **given})
