"""The sections of `cyclescope board --section`: a table or two for each, by its name.

A new section is a function of a board, and a line in `SECTIONS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.board import Board
from cyclescope.cli.tables import board_pins
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.columns import Fitted
from cyclescope.units import count, format_bytes, format_hz

# The least width of columns that are hard to read when they are folded more often.
_LEAST_WIDTHS = {"property": 41, "plausible": 9, "source": 28}
_NAMES = ("name", "node", "compatible")
_NO_WRAP = ("first", "last", "base", "clock", "value")
# Columns that are left out on a narrow screen, the first one first.
_GO = ("uncached fetch", "path", "isa", "plausible", "class", "last")
# The most lines of an overview, which fits a screen.
_MOST_CLOCKS, _MOST_LINES = 8, 8


def cores(board: Board) -> Iterator[RenderableType]:
    """Each core with its clock and caches."""
    columns = ("name", "type", "isa", "clock", "caches", "uncached fetch")
    yield _table("cores", columns, map(_core, board.describe()["cores"]))


def clocks(board: Board) -> Iterator[RenderableType]:
    """Each clock with its rate."""
    rows = ((clock["name"], format_hz(clock["hz"])) for clock in board.describe()["clocks"])
    yield _table("clocks", ("name", "clock"), rows)


def memory(board: Board) -> Iterator[RenderableType]:
    """The devices and memories by address, with their paths."""
    regions = sorted(board.describe()["map"], key=lambda region: region["base"])
    yield _table("memory map", ("first", "last", "name", "kind", "path"), map(_region, regions))


def devices(board: Board) -> Iterator[RenderableType]:
    """Each device with its description."""
    columns = ("name", "compatible", "base", "path")
    yield _table("devices", columns, map(_device, board.describe()["devices"]))


def interrupts(board: Board) -> Iterator[RenderableType]:
    """The interrupts of devices, by the controller that they go to."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, controller, interrupt in board.interrupts:
        found.setdefault((name, controller), []).append(interrupt)
    rows = ((*names, ", ".join(numbers)) for names, numbers in found.items())
    yield _table("interrupts", ("name", "controller", "interrupts"), rows)


def serial(board: Board) -> Iterator[RenderableType]:
    """The serial lines that can receive input, and the console."""
    ports, console = board.serial_ports
    rows = ((port, "the console" if port == console else "") for port in ports)
    yield _table("serial lines", ("name", "what"), rows)


def timing(board: Board) -> Iterator[RenderableType]:
    """Each timing parameter with the source of its value."""
    yield parameters(board.describe()["parameters"])


SECTIONS: dict[str, Callable[[Board], Iterable[RenderableType]]] = {
    "cores": cores,
    "clocks": clocks,
    "memory": memory,
    "devices": devices,
    "interrupts": interrupts,
    "serial": serial,
    "pins": board_pins.pins,
    "timing": timing,
}
"""The sections, in the order of `--section all`."""
ALL = "all"


def title(board: Board) -> Text:
    """The board's name and model."""
    return Text(board.describe()["model"], style="bold")


def overview(board: Board) -> Iterator[RenderableType]:
    """A page that fits a screen: the parts of the board, and the sections with more details."""
    described = board.describe()
    yield title(board)
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("cores", Text("\n".join(map(_core_line, described["cores"]))))
    facts.add_row("memory", Text("\n".join(_memories(described["map"]))))
    facts.add_row("clocks", Text(_few(_clock_lines(described["clocks"]))))
    facts.add_row("devices", Text(", ".join(one["name"] for one in described["devices"])))
    facts.add_row("interrupts", count(len(board.interrupts), "line"))
    ports, console = board.serial_ports
    lines = [f"{port} (the console)" if port == console else port for port in ports]
    facts.add_row("serial lines", Text(", ".join(lines) or "none"))
    classes = Counter(one["basis"] for one in described["parameters"])
    known = ", ".join(f"{number:,} {basis}" for basis, number in classes.most_common())
    facts.add_row("timing", Text(f"{count(classes.total(), 'parameter')}: {known}"))
    yield facts
    yield Text(f"--section {', '.join(SECTIONS)}, {ALL} shows more; the option is repeatable.")


def _core_line(core: dict[str, Any]) -> str:
    caches = "; ".join(core["caches"])
    return ", ".join(filter(None, (f"{core['name']}: {core['type']}", core["isa"], caches)))


def _memories(regions: list[dict[str, Any]]) -> list[str]:
    """The large memories, one line each, and the number of other regions."""
    memories = [one for one in regions if one["kind"] == "memory" or one["name"].endswith("window")]
    shown = sorted(memories, key=lambda region: -region["size"])[:_MOST_LINES]
    shown.sort(key=lambda region: region["base"])
    lines = [
        f"{tables.hexadecimal(region['base'])}  {region['name']}, {format_bytes(region['size'])}"
        for region in shown
    ]
    left = len(regions) - len(shown)
    return [*lines, f"and {count(left, 'other region')}"] if left else lines


def _clock_lines(clocks: list[dict[str, Any]]) -> list[str]:
    return [f"{clock['name']} {format_hz(clock['hz'])}" for clock in clocks]


def _few(names: list[str]) -> str:
    left = len(names) - _MOST_CLOCKS
    shown = ", ".join(names[:_MOST_CLOCKS])
    return f"{shown} and {left:,} more" if left > 0 else shown


def parameters(found: Iterable[dict[str, Any]]) -> Table:
    """Timing parameters as a table."""
    columns = ("node", "property", "value", "class", "plausible", "source")
    return _table("timing parameters", columns, map(_parameter, found))


def _table(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Fitted:
    table = Fitted(title=title, title_justify="left")
    for column in columns:
        table.add_column(
            column,
            overflow="fold",
            min_width=_LEAST_WIDTHS.get(column),
            no_wrap=column in _NO_WRAP,
            is_name=column in _NAMES,
            goes=_GO.index(column) if column in _GO else None,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _core(core: dict[str, Any]) -> tuple[str, ...]:
    caches = "\n".join(core["caches"]) or "none"
    clock = format_hz(core["hz"])
    return core["name"], core["type"], core["isa"], clock, caches, core["fetch_policy"]


def _region(region: dict[str, Any]) -> tuple[str, ...]:
    last = region["base"] + region["size"] - 1
    return (
        tables.hexadecimal(region["base"]),
        tables.hexadecimal(last),
        region["name"],
        region["kind"],
        region["path"],
    )


def _device(device: dict[str, Any]) -> tuple[str, ...]:
    base = device["base"]
    shown = "" if base is None else tables.hexadecimal(base)
    return device["name"], device["compatible"], shown, device["path"]


def _parameter(parameter: dict[str, Any]) -> tuple[str, ...]:
    value = f"{parameter['value']} {parameter['unit']}".strip()
    node = parameter["label"] or parameter["node"]
    basis, source = parameter["basis"], parameter["source"]
    return node, parameter["property"], value, basis, parameter["plausible"], source
