"""docs/fits.json: boards fitted to a third of the published numbers, kept for the pages.

`keep` fits each of five published tables to every third of its numbers. The results replace the
file's entry of the same experiment: the parameters, and the cells before and after. Runs are kept
in the cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope._engine import Stop
from cyclescope.errors import UsageError
from cyclescope.host import processors
from cyclescope.sweeps import Store

if TYPE_CHECKING:
    from cyclescope.fitting.requests import Request

EVERY = 3
# For each table, the spans that move its cells most: at most one for four numbers used by the fit,
# and one if there are fewer numbers.
FREE: Mapping[str, Mapping[str, str | None]] = {
    "quad-spi-throughput": {"spi0.cyclescope,read-cycles": None},
    "rhealstone": {
        "h64mx.cyclescope,request-cycles": None,
        "apb_h32mx.cyclescope,request-cycles": None,
    },
    "bitbang-spi": {
        "apb.cyclescope,request-cycles": None,
        "cpu0.cyclescope,coprocessor-cycles": None,
    },
    "fat-write": {"card0.cyclescope,page-copy-us": "300:900"},
    "rpmsg-tty": {"cm4.cyclescope,taken-branch-cycles": None},
}

Fits = Mapping[str, Mapping[str, Any]]


def request(name: str) -> Request:
    """The request for an experiment's fit. Raises `UsageError` if it is not fitted here."""
    from cyclescope.fitting.requests import from_data  # the import needs SciPy

    if name not in FREE:
        raise UsageError(f"{name}: no fit; there are {', '.join(FREE)}")
    free = {path: bounds or [] for path, bounds in FREE[name].items()}
    return from_data({"target": name, "free": free, "every": EVERY})


def fitted(name: str, threads: int | None = None) -> dict[str, Any]:
    """The file's entry of an experiment, from a new fit."""
    from cyclescope.fitting.models import Running

    how = Running(threads or processors.count(), Stop(), Store())
    found = request(name).plan().run(how).to_dict()
    parameters = ("path", "bounds", "before", "value", "told")
    cells = ("label", "measured", "before", "after", "fitted")
    return {
        "parameters": [{key: one[key] for key in parameters} for one in found["parameters"]],
        "cells": [{key: one[key] for key in cells} for one in found["cells"]],
    }


def keep(names: Iterable[str], stored: Path, threads: int | None = None) -> None:
    """Fit the named experiments, by default all, and put them into the file."""
    found = dict(load(stored))
    for name in names or FREE:
        found[name] = fitted(name, threads)
        ordered = {one: found[one] for one in FREE if one in found}
        stored.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def load(stored: Path) -> Fits:
    """The file's fits, by experiment; empty without a file."""
    return json.loads(stored.read_text(encoding="utf-8")) if stored.is_file() else {}
