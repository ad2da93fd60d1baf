"""Details of `cyclescope run --verbose`: loaded segments, all counters, the host's work."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.text import Text

from cyclescope.board import Board
from cyclescope.board.board import LoadedSegment
from cyclescope.board.results import RunResult
from cyclescope.cli.tables.columns import Fitted


def before(board: Board) -> Iterator[str]:
    """One line for each core of the board, and for each segment of the firmware."""
    described = board.describe()
    for core in described["cores"]:
        caches = "; ".join(core["caches"]) or "no caches"
        yield f"{board.name}: {core['name']}: {core['type']}, {core['hz']:,} Hz, {caches}"
    for segment in board.loaded:
        yield _where(described["map"], segment)


def _where(regions: list[dict[str, int]], segment: LoadedSegment) -> str:
    last = segment.address + segment.memory_bytes - 1
    inside = (
        region["name"]
        for region in regions
        if region["base"] <= segment.address < region["base"] + region["size"]
    )
    name = next(inside, "nowhere")
    zeroes = segment.memory_bytes - segment.file_bytes
    more = f" and {zeroes:,} zero bytes" if zeroes else ""
    return (
        f"{segment.core}: {segment.address:#010x}-{last:#010x} in {name}: "
        f"{segment.file_bytes:,} bytes from the file{more}"
    )


def after(result: RunResult) -> Group:
    """All counters, and how the host ran each core's code."""
    counters = Fitted(title="counters", title_justify="left")
    counters.add_column("name")
    counters.add_column("total", justify="right")
    for name, total in sorted(result.counters.items()):
        counters.add_row(Text(name), f"{total:,}")
    host = Fitted(title="on this host", title_justify="left")
    for heading in ("core", "regions compiled", "not compilable", "never compiled", "skipped"):
        host.add_column(heading, justify="left" if heading == "core" else "right")
    for core, work in zip(result.cores, result.host_work, strict=True):
        host.add_row(
            core.name,
            f"{work.compiled:,}",
            f"{work.refused:,}",
            f"{core.never_compiled:,} instructions",
            f"{work.skipped_cycles:,} cycles",
        )
    return Group(counters, host)
