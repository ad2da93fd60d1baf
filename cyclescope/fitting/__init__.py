"""Fits: values of a board's parameters from measured numbers, with what these numbers can tell.

Start at `fit`. `parameters` has what is free, `cells` what was measured, `published` the cells of
experiments; `models` makes the runs, `searching` finds the values, `judging` says how far they are
told, with intervals by `profiling`, `crossing` how well other cells come out. `overlays` makes a
board of a result.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cyclescope._engine import Stop
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.errors import UsageError
from cyclescope.host import processors

if TYPE_CHECKING:
    from cyclescope.fitting.results import FitResult

__all__ = ["NO_SCIPY", "check_scipy", "fit"]

NO_SCIPY = "SciPy is not installed: pip install 'cyclescope[fit]'"


def check_scipy() -> None:
    """Raises `UsageError` without SciPy, which few need beside a fit."""
    try:
        import scipy  # noqa: F401
    except ImportError as absent:
        raise UsageError(NO_SCIPY) from absent


def fit(
    target: str | os.PathLike[str],
    board: str | os.PathLike[str] | None = None,
    free: Iterable[str] | Mapping[str, str | None] = (),
    cells: str | os.PathLike[str] | None = None,
    *,
    overrides: Mapping[str, OverrideValue] | None = None,
    metric: str | None = None,
    prior: float | None = None,
    every: int = 1,
    seed: int = 0,
    limit: str | None = None,
    threads: int | None = None,
    again: bool = False,
    stop: Stop | None = None,
) -> FitResult:
    """Fit timing parameters of a board to measured cells; gives values with what they may be.

    `target` is the path of an ELF, an experiment's name (its cells are those that were published),
    or a .toml file that has all of a fit. `free` names parameters by their paths, as a list of
    "PATH" and "PATH=LOW:HIGH" or with the bounds by path; without bounds they are what the board
    calls plausible. `cells` is a CSV file: a line a number, with `value`, `metric`, `error`, and
    settings by their paths. `prior` is the standard deviation of a normal prior around the board's
    values, as a part of their ranges. Only every so many-th number is fitted to. `seed` deals cells
    into the folds of the cross-validation. `threads` runs are made at a time.

    Raises `EngineError` for what can't be, before anything runs, and for a run that fails or was
    stopped.
    """
    check_scipy()
    from cyclescope.fitting import models, requests
    from cyclescope.sweeps.store import Store

    given = {
        "board": None if board is None else os.fspath(board),
        "free": free if isinstance(free, Mapping) else list(free),
        "cells": None if cells is None else os.fspath(cells),
        "set": dict(overrides or {}),
        "metric": metric,
        "prior": prior,
        "every": every if every != 1 else None,
        "seed": seed,
        "limit": limit,
    }
    request = requests.made(os.fspath(target), {key: one for key, one in given.items() if one})
    how = models.Running(threads or processors.count(), stop or Stop(), None if again else Store())
    try:
        return request.plan().run(how)
    except models.StoppedError:
        raise UsageError(f"{request.target}: the fit was stopped") from None
