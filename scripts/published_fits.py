"""How well the other cells of a published table come out, fitted to a third of them.

`python scripts/published_fits.py [EXPERIMENT...]` fits the five published tables, each to every
third of its cells, and prints the lines of the table in docs/trust.md. Runs are kept in the cache.
"""

from __future__ import annotations

import os
import sys

from cyclescope._engine import Stop
from cyclescope.fitting.judging import TOLD
from cyclescope.fitting.models import Running
from cyclescope.fitting.requests import from_data
from cyclescope.fitting.results import FitResult
from cyclescope.sweeps import Store

EVERY = 3
# Of each table, what moves its cells most and is a span: one for four numbers that are seen, at the
# most, and one where there are fewer.
FREE = {
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


def fitted(name: str, threads: int) -> FitResult:
    """The fit of an experiment's board to every third of its cells."""
    free = {path: bounds or [] for path, bounds in FREE[name].items()}
    request = from_data({"target": name, "free": free, "every": EVERY})
    return request.plan().run(Running(threads, Stop(), Store()))


def line(name: str, result: FitResult) -> str:
    """A row of the table: parameters, cells, mean deviations before and after."""
    values = ", ".join(
        f"{one.free.path.replace('cyclescope,', '')} {one.free.board_value} -> {one.value}"
        f"{'' if one.told == TOLD else f' ({one.told})'}"
        for one in result.parameters
    )
    seen, others = result.fitted, result.others
    assert others is not None
    numbers = [
        sum(abs(cell.before_pct) for cell in seen) / len(seen),
        sum(abs(cell.after_pct) for cell in seen) / len(seen),
        others.before_mean_pct,
        others.mean_pct,
        others.before_worst_pct,
        others.worst_pct,
    ]
    told = " | ".join(f"{number:.2f} %" for number in numbers)
    return f"| {name} | {values} | {len(seen)} | {others.cells} | {told} |"


HEADING = """\
| experiment | fitted | seen | not seen | seen, before | after | not seen, before | after \
| worst not seen, before | after |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"""


def main(names: list[str]) -> None:
    """Fit, and print."""
    print(HEADING)
    threads = os.cpu_count() or 1
    for name in names or list(FREE):
        result = fitted(name, threads)
        print(line(name, result), flush=True)
        for warning in result.warnings:
            print(f"{name}: {warning}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
