"""Sweeps: one program or experiment run in many settings, on one machine.

Start at `sweep`. `axes` has what is varied and `designs` which combinations are run; `targets`
makes `trials` of them, `planning` checks all before anything runs, and `running` runs what the
`store` of earlier outcomes has not. `results` is the table, `effects` says what matters how much,
`prices` what it costs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclescope._engine import Stop
from cyclescope.board.overrides import OverrideValue
from cyclescope.sweeps.effects import Effect, Effects, effects
from cyclescope.sweeps.requests import Request, from_data, read_toml
from cyclescope.sweeps.results import SweepResult, SweepRow
from cyclescope.sweeps.running import Ended
from cyclescope.sweeps.store import Store

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
    prices: Mapping[str, Any] | None = None,
    limit: str | None = None,
    threads: int | None = None,
    again: bool = False,
    stop: Stop | None = None,
    ended: Ended | None = None,
) -> SweepResult:
    """Run a program, or an experiment, in many settings; gives a row a run.

    `target` is the path of an ELF, an experiment's name, or a .toml file that has all of a sweep;
    then, nothing but what is behind `threads` may be given. `vary` has values by path, as a list or
    as text such as "10M:40M:10M"; "elf" and "board" are paths, too, and "flags" of an experiment.
    `zips` names paths that advance together. With `samples`, so many points are drawn: `sampling`
    is "random", "latin" (a Latin hypercube) or "sobol". `prices` has the prices of values by path.
    `threads` runs are made at a time, by default one a core; those that were made before are taken
    from the cache unless they are to be made `again`. `ended` is called with the number of a row
    and its outcome as runs end. After `stop` is requested, the rows that are finished are given.

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
        prices=dict(prices or {}),
        limit=limit,
    )
    return request.run(
        request.plan(),
        threads or os.cpu_count() or 1,
        stop or Stop(),
        None if again else Store(),
        ended or (lambda row, outcome: None),
    )


def _request(target: str | os.PathLike[str], **data: Any) -> Request:
    given = {key: value for key, value in data.items() if value}
    if os.fspath(target).endswith(".toml"):
        if given:
            raise TypeError(f"{target} says all of the sweep: not {', '.join(given)}")
        return read_toml(Path(target))
    return from_data({"target": os.fspath(target), **given})
