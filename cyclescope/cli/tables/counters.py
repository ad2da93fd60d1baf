"""The counters of a run: misses of caches, TLBs and predictors, and totals of devices.

The engine's counters are named `owner.what`. First-level caches count misses, not accesses: a hit
costs nothing and is not simulated as an event. A second-level cache counts each request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from cyclescope.board.results import CoreResult, RunResult
from cyclescope.cli.tables.columns import Fitted

# A core's counters: the engine's name, the user's name, and a related counter with its name.
_OF_CORES = (
    ("i-cache fills", "instruction cache", "", ""),
    ("d-cache fills", "data cache", "d-cache write-backs", "written back"),
    ("micro TLB misses", "micro TLBs", "table walks", "table walks"),
    ("mispredicted branches", "branch prediction", "", ""),
)
_HEADINGS = {
    "where": "where",
    "misses": "misses",
    "rate": "per 1000 instructions",
    "hits": "hit rate",
    "also": "also",
}
_TEXTS = ("where", "also")
# Columns that are left out on a narrow screen, the lowest first.
_GOES = {"also": 1, "rate": 2}
_SECOND_LEVEL = (
    ("instruction reads", "instruction read hits"),
    ("data reads", "data read hits"),
    ("data writes", "data write hits"),
)


def tables(result: RunResult) -> list[Table]:
    """Misses by core and second-level cache, then totals of devices; empty without counts.

    Zero counters are left out.
    """
    owners = _by_owner(result.counters)
    cores = {core.name: owners.pop(core.name, {}) for core in result.cores}
    outer = {name: counts for name, counts in owners.items() if _SECOND_LEVEL[0][0] in counts}
    devices = {name: counts for name, counts in owners.items() if name not in outer}
    rows = [row for core in result.cores for row in _of_core(core, cores[core.name])]
    rows += [row for name, counts in outer.items() for row in _of_second_level(name, counts)]
    return [table for table in (_misses(rows), _devices(devices)) if table.row_count]


def _by_owner(counters: Mapping[str, int]) -> dict[str, dict[str, int]]:
    owners: dict[str, dict[str, int]] = defaultdict(dict)
    for name, total in counters.items():
        # RISC-V cores have a dot after the cache's name
        plain = name.replace("-cache.", "-cache ")
        owner, _, what = plain.rpartition(".")
        owners[owner][what] = total
    return dict(owners)


@dataclass(frozen=True)
class _Row:
    where: str
    misses: str
    rate: str = ""
    hits: str = ""
    also: str = ""


def _misses(rows: list[_Row]) -> Table:
    """A table without empty columns."""
    table = Fitted(title="misses", title_justify="left")
    shown = [field for field in _HEADINGS if any(getattr(row, field) for row in rows)]
    for field in shown:
        justify = "left" if field in _TEXTS else "right"
        table.add_column(_HEADINGS[field], justify=justify, goes=_GOES.get(field))
    for row in rows:
        table.add_row(*(getattr(row, field) for field in shown))
    return table


def _of_core(core: CoreResult, counts: Mapping[str, int]) -> Iterator[_Row]:
    for name, what, beside, words in _OF_CORES:
        misses = counts.get(name, 0)
        if misses:
            rate = f"{1000 * misses / max(core.instructions, 1):.3f}"
            more = counts.get(beside, 0)
            also = f"{more:,} {words}" if more else ""
            yield _Row(f"{core.name}: {what}", f"{misses:,}", rate, also=also)


def _of_second_level(name: str, counts: Mapping[str, int]) -> Iterator[_Row]:
    for asked, hits in _SECOND_LEVEL:
        requests = counts.get(asked, 0)
        if requests:
            share = f"{counts.get(hits, 0) / requests:.1%}".replace("%", " %")
            misses = requests - counts.get(hits, 0)
            yield _Row(f"{name}: {asked}", f"{misses:,}", hits=share, also=f"of {requests:,}")


def _devices(devices: Mapping[str, Mapping[str, int]]) -> Table:
    table = Fitted(title="devices", title_justify="left")
    table.add_column("device", no_wrap=True)
    table.add_column("totals", overflow="fold")
    for name, counts in devices.items():
        done = ", ".join(_did(counts))
        if done:
            table.add_row(Text(name), Text(done))
    return table


def _did(counts: Mapping[str, int]) -> Iterator[str]:
    for what, total in counts.items():
        if total:
            yield f"{what.replace('_', ' ')} {total:,}"
