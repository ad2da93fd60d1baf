"""Advice: changes that would make a program faster on its board, each measured by a run.

Start at `advise`. `options` has what a designer can choose about a board's parts, `registers` what
firmware could enable, `hot_code` which code could be in faster memory, `ways` how an experiment's
app could be built; `study` runs all of that, `judging` compares, and `results` has the result.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cyclescope._engine import Stop
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.comparing import directions
from cyclescope.errors import UsageError
from cyclescope.host import processors

if TYPE_CHECKING:
    from cyclescope.advising.results import Advice

__all__ = ["advise"]


def advise(
    target: str | os.PathLike[str],
    board: str | os.PathLike[str] | None = None,
    *,
    metrics: Iterable[str] = (),
    overrides: Mapping[str, OverrideValue] | None = None,
    sections: Iterable[str] = (),
    more_is_worse: Iterable[str] = (),
    less_is_worse: Iterable[str] = (),
    tries: Mapping[str, str] | None = None,
    quick: bool = False,
    limit: str | None = None,
    threads: int | None = None,
    again: bool = False,
    stop: Stop | None = None,
) -> Advice:
    """Try the changes that a board allows on a program, and rank them by their gain.

    `target` is the path of an ELF, or an experiment's name; of an experiment, the first run on the
    board is used, with `overrides`. `metrics` are what has to get better, named as `sweep` does; by
    default the times and rates that the program prints, or else its time. `sections` are functions
    whose calls are measured; `more_is_worse` and `less_is_worse` name metrics whose units do not
    show the direction; `tries` are further properties of the board with values. With `quick`, an
    experiment runs in its short form. `threads` is the number of parallel runs.

    Raises `EngineError` for invalid input, and for a program that fails or was stopped.
    """
    from cyclescope.advising import study
    from cyclescope.sweeps.requests import Request
    from cyclescope.sweeps.store import Store

    request = Request(
        os.fspath(target),
        None if board is None else os.fspath(board),
        sets=dict(overrides or {}),
        metrics=tuple(metrics),
        worse=directions.given(more_is_worse, less_is_worse),
        sections=tuple(sections),
        limit=limit,
    )
    stop = stop or Stop()
    how = study.Running(threads or processors.count(), stop, None if again else Store())
    try:
        return study.study(request, dict(tries or {}), quick, stop).run(how)
    except study.StoppedError:
        raise UsageError(f"{request.target}: the study was stopped") from None
