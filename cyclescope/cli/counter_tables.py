"""What a run counted: misses of caches, TLBs and predictors, and what devices did.

The engine's counters are named `owner.what`. Of first-level caches it counts misses, not accesses:
one that hits costs nothing, so nothing looks at it. A second-level cache is asked by each request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

from cyclescope.board.results import CoreResult, RunResult

# Of a core: the engine's name, what users call it, and what else there is to say, by its name.
_OF_CORES = (
    ("i-cache fills", "instruction cache", None, ""),
    ("d-cache fills", "data cache", "d-cache write-backs", "written back"),
    ("micro TLB misses", "micro TLBs", "table walks", "table walks"),
    ("mispredicted branches", "branch prediction", None, ""),
)
_SECOND_LEVEL = (
    ("instruction reads", "instruction read hits"),
    ("data reads", "data read hits"),
    ("data writes", "data write hits"),
)


def tables(result: RunResult) -> list[Table]:
    """Misses by core and second-level cache, then what devices did; none where nothing was counted.

    What is zero is left out.
    """
    owners = _by_owner(result.counters)
    cores = {core.name: owners.pop(core.name, {}) for core in result.cores}
    outer = {name: counts for name, counts in owners.items() if _SECOND_LEVEL[0][0] in counts}
    devices = {name: counts for name, counts in owners.items() if name not in outer}
    found = [_misses(result.cores, cores, outer), _devices(devices)]
    return [table for table in found if table.row_count]


def _by_owner(counters: Mapping[str, int]) -> dict[str, dict[str, int]]:
    owners: dict[str, dict[str, int]] = defaultdict(dict)
    for name, total in counters.items():
        # RISC-V cores have a dot behind the cache's name
        plain = name.replace("-cache.", "-cache ")
        owner, _, what = plain.rpartition(".")
        owners[owner][what] = total
    return dict(owners)


def _misses(
    cores: tuple[CoreResult, ...],
    counts: Mapping[str, Mapping[str, int]],
    outer: Mapping[str, Mapping[str, int]],
) -> Table:
    table = Table(title="misses", title_justify="left")
    table.add_column("where")
    table.add_column("misses", justify="right")
    table.add_column("per 1000 instructions", justify="right")
    table.add_column("hit rate", justify="right")
    table.add_column("also")
    for core in cores:
        for name, what, beside, words in _OF_CORES:
            misses = counts[core.name].get(name, 0)
            if misses:
                rate = f"{1000 * misses / max(core.instructions, 1):.3f}"
                more = counts[core.name].get(beside or "", 0)
                also = f"{more:,} {words}" if more else ""
                table.add_row(f"{core.name}: {what}", f"{misses:,}", rate, "", also)
    for name, totals in outer.items():
        for asked, hits in _SECOND_LEVEL:
            requests = totals.get(asked, 0)
            if requests:
                misses = requests - totals.get(hits, 0)
                share = f"{totals.get(hits, 0) / requests:.1%}".replace("%", " %")
                table.add_row(f"{name}: {asked}", f"{misses:,}", "", share, f"of {requests:,}")
    return table


def _devices(devices: Mapping[str, Mapping[str, int]]) -> Table:
    table = Table(title="devices", title_justify="left")
    table.add_column("device", no_wrap=True)
    table.add_column("what it did", overflow="fold")
    for name, counts in devices.items():
        done = ", ".join(_did(counts))
        if done:
            table.add_row(Text(name), Text(done))
    return table


def _did(counts: Mapping[str, int]) -> Iterator[str]:
    for what, total in counts.items():
        if total:
            yield f"{what.replace('_', ' ')} {total:,}"
