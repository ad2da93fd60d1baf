"""Uses of the pins of a board, as a section of `cyclescope board`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.board import Board


def pins(board: Board) -> Iterator[RenderableType]:
    """Each port, and the pins that are connected."""
    ports = board.pins.ports
    if not ports:
        yield Text("the board has no GPIO ports with modelled pins")
        return
    table = Table(title="pins", title_justify="left")
    table.add_column("pin")
    table.add_column("connected to", overflow="fold")
    functions = board.pin_functions
    if functions:
        table.add_column("can carry (function)", overflow="fold")
    found: dict[str, list[str]] = {}
    for use in board.pin_uses:
        found.setdefault(use.pin, []).append(use.what)
    for pin, uses in found.items():
        carried = [Text(", ".join(functions.get(pin, ())))] if functions else []
        table.add_row(pin, Text("; ".join(uses)), *carried)
    if found:
        yield table
    counts = ", ".join(f"{port} {count}" for port, count in sorted(ports.items()))
    yield Text(f"pins of ports: {counts}")
