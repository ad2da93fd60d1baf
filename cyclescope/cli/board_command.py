"""`cyclescope board`: what a board consists of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cyclescope.board import Board
from cyclescope.board.overrides import parse_set
from cyclescope.board.parameters import BASES
from cyclescope.cli import board_pins, completions, tables
from cyclescope.cli.board_options import devices_option, sets_option
from cyclescope.errors import warn
from cyclescope.units import format_hz

SECTIONS = {"pins": board_pins.pins}
"""What can be shown by itself."""
# Of columns that are hard to read when they are folded more often.
_LEAST_WIDTHS = {"property": 41, "plausible": 9, "source": 28}


@click.command("board", cls=completions.ArgumentsKnown)
@click.argument("name", shell_complete=completions.boards)
@sets_option
@devices_option
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice(tuple(SECTIONS)),
    metavar="SECTION",
    help=f"Show {', '.join(SECTIONS)} only; may be given several times.",
)
@click.option(
    "--class",
    "basis",
    type=click.Choice(BASES),
    help="Show only the timing parameters whose value is of this class.",
)
def board_command(
    name: str, sets: tuple[str, ...], sections: tuple[str, ...], basis: str | None
) -> None:
    """Show cores, memory map, devices, clocks and timing parameters of board NAME.

    NAME is a shipped board's, or the path of a .dts.
    """
    board = Board(name, dict(map(parse_set, sets)))
    for warning in board.warnings:
        warn(warning)
    for section in dict.fromkeys(sections):
        tables.console().print(*SECTIONS[section](board), sep="\n")
    if sections:
        return
    described = board.describe()
    if basis is None:
        tables.console().print(_tables(described))
        return
    of_class = [one for one in described["parameters"] if one["basis"] == basis]
    tables.console().print(_parameters(of_class))


def _tables(description: dict[str, Any]) -> Group:
    return Group(
        Text(description["model"], style="bold"),
        _table(
            "cores",
            ("name", "type", "isa", "clock", "caches", "uncached fetch"),
            map(_core, description["cores"]),
        ),
        _table("clocks", ("name", "clock"), map(_clock, description["clocks"])),
        _table(
            "memory map",
            ("first", "last", "name", "kind", "path"),
            map(_region, sorted(description["map"], key=lambda region: region["base"])),
        ),
        _table(
            "devices",
            ("name", "compatible", "base", "path"),
            map(_device, description["devices"]),
        ),
        _parameters(description["parameters"]),
    )


def _parameters(parameters: Iterable[dict[str, Any]]) -> Table:
    columns = ("node", "property", "value", "class", "plausible", "source")
    return _table("timing parameters", columns, map(_parameter, parameters))


def _table(title: str, columns: tuple[str, ...], rows: Any) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold", min_width=_LEAST_WIDTHS.get(column))
    for row in rows:
        table.add_row(*row)
    return table


def _core(core: dict[str, Any]) -> tuple[str, ...]:
    caches = "\n".join(core["caches"]) or "none"
    clock = format_hz(core["hz"])
    return core["name"], core["type"], core["isa"], clock, caches, core["fetch_policy"]


def _clock(clock: dict[str, Any]) -> tuple[str, ...]:
    return clock["name"], format_hz(clock["hz"])


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
