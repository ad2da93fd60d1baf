"""The size of `rhealstone`'s code relative to the caches: the reason of the note's conclusion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cyclescope.bench.rows import DERIVED, UNPUBLISHED, Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board import board_tree
from cyclescope.firmware import build_app, code_size, load_app

_PORT, _KERNEL = "the kernel's port", "the kernel"
_OPERATIONS, _BOARD = "the operations", "drivers and start-up"
_PARTS = (_KERNEL, _PORT, _OPERATIONS, _BOARD)
_PIVOT = Pivot(
    "Code size against the caches",
    ("part",),
    ("measure",),
    values=True,
    words=(
        Words("part", "code of"),
        Words("measure", "of it"),
    ),
    digits=3,
)
# The table of the rows that follow, by metric.
PIVOTS = {"code_size": _PIVOT}


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """Bytes of each part of the program from flash, and their shares of the caches."""
    row = next((row for row in found if row.settings.get("memory") == "qspi"), None)
    if row is None or row.basis == DERIVED:
        return
    names = load_app(row.run.app).settings
    settings = {name: row.run.settings[name] for name in names if name in row.run.settings}
    bytes_of = _by_part(code_size.functions(build_app(row.run.app, row.board, settings)))
    bytes_of["all code"] = sum(bytes_of.values())
    for part, size in bytes_of.items():
        yield _row(row, part, "bytes", size, "bytes")
        for cache, cache_bytes in _caches(row.board).items():
            share = round(100 * size / cache_bytes, 1)
            yield _row(row, part, f"% of {cache}", share, "%")


def _by_part(functions: Mapping[str, int]) -> dict[str, int]:
    sizes = dict.fromkeys(_PARTS, 0)
    for path, size in functions.items():
        sizes[part_of(path)] += size
    return sizes


def part_of(path: str) -> str:
    """The part of the program that a source file belongs to."""
    if "/portable/GCC/" in path or "freertos_port" in path:
        return _PORT
    if path.startswith("freertos-next") or "/freertos_" in path:
        return _KERNEL
    return _OPERATIONS if path.startswith("apps/") else _BOARD


def _caches(board: str) -> Mapping[str, int]:
    """Sizes of the caches that hold code, as the board's devicetree has them."""
    sizes = {}
    for node in board_tree(board).walk():
        for name in ("i-cache-size", "cache-size"):
            if name in node.props:
                called = "the L1 I-cache" if name == "i-cache-size" else "the L2 cache"
                sizes[called] = int.from_bytes(node.props[name].value, "big")
    return sizes


def _row(row: Row, part: str, measure: str, value: float, unit: str) -> Row:
    return row.following(
        settings={"part": part, "measure": measure},
        metric="code_size",
        unit=unit,
        simulated=value,
        published=None,
        digits=None,
        basis=UNPUBLISHED,
        label=f"{part}, {measure}",
        timed=(),
        pivot=_PIVOT,
        sweeps=(),
    )
