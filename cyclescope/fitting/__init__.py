"""Fits: values of a board's parameters from measured numbers, and how certain they are.

Start at `fit`. `parameters` reads the free parameters, `cells` the measured numbers, `published`
the cells of experiments. `models` makes the runs and `searching` finds the values. `judging` says
how well the cells determine them, with intervals from `profiling`; `crossing` cross-validates.
`overlays` writes a result as a board.
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
    """Raises `UsageError` without SciPy, which only a fit needs."""
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
    """Fit timing parameters of a board to measured cells; returns values with their intervals.

    `target` is the path of an ELF, the name of an experiment (its published cells are fitted), or a
    .toml file that describes the whole fit. `free` names parameters by their paths, as a list of
    "PATH" and "PATH=LOW:HIGH" or as a mapping from path to bounds; the default bounds are those
    that the board calls plausible. `cells` is a CSV file with one number a line: `value`, `metric`,
    `error`, and settings by their paths. `prior` is the standard deviation of a normal prior around
    the board's values, as a fraction of their ranges. With `every` N, only each N-th number is
    fitted. `seed` deals cells into the folds of the cross-validation. `threads` is the number of
    parallel runs.

    Raises `EngineError` for invalid input, before anything runs, and for a run that fails or was
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
