"""`cyclescope devices`: the device models, and the properties of their nodes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.board.description import devicetree_bindings
from cyclescope.board.description.devicetree_bindings import Binding, BindingProperty
from cyclescope.cli import completions, json_output
from cyclescope.cli.json_output import json_option
from cyclescope.cli.options.board import devices_option
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.columns import Fitted


@click.command("devices")
@click.argument("compatible", required=False, shell_complete=completions.compatibles)
@devices_option
@json_option
def devices_command(compatible: str | None, json_file: str | None) -> None:
    """List device models, or the properties of COMPATIBLE.

    The list has everything that a node of a board can be: cores, memories, buses, devices, and
    chips on wires.
    """
    found = [devicetree_bindings.binding(compatible)] if compatible else None
    if json_file is not None:
        json_output.write(json_file, _plain(found or devicetree_bindings.bindings()))
    elif found is None:
        tables.console().print(_all())
    else:
        tables.console().print(_one(found[0]))


def _plain(entries: list[Binding]) -> dict[str, Any]:
    common = devicetree_bindings.common_properties()
    devices = [{"title": entry.title} | asdict(entry) for entry in entries]
    return {"devices": devices, "common_properties": common}


def _all() -> Table:
    table = Fitted(box=None, pad_edge=False)
    table.add_column("compatible", no_wrap=True)
    table.add_column("description")
    group = None
    for entry in devicetree_bindings.bindings():
        if entry.group != group:
            group = entry.group
            table.add_row()
            table.add_row(Text(group, style="bold"))
        table.add_row(Text(entry.compatible), Text(entry.title))
    return table


def _one(entry: Binding) -> Group:
    table = Fitted(title=entry.compatible, title_justify="left")
    table.add_column("property", overflow="fold")
    table.add_column("value", overflow="fold")
    table.add_column("need", overflow="fold")
    table.add_column("meaning", overflow="fold")
    for prop in (prop for prop in entry.properties if not prop.ignored):
        table.add_row(*map(Text, (prop.name, _value(prop), _need(prop), prop.meanings)))
    ignored = [prop.name for prop in entry.properties if prop.ignored]
    paragraphs = map(_filled, entry.about.split("\n\n"))
    parts: list[RenderableType] = [table]
    if ignored:
        parts.append(Text(f"accepted, without effect: {', '.join(ignored)}"))
    parts.append(Text("common to all nodes: " + ", ".join(devicetree_bindings.common_properties())))
    return Group(*(Text(f"{text}\n") for text in paragraphs), *parts)


def _filled(paragraph: str) -> str:
    """A paragraph as one line, or a list with one line for each item."""
    items = paragraph.replace("\n- ", "\0- ").split("\0")
    return "\n".join(" ".join(item.split()) for item in items)


def _value(prop: BindingProperty) -> str:
    unit = f", {prop.unit}" if prop.unit else ""
    allowed = f": {prop.range}" if prop.range else ""
    return f"{prop.kind}{unit}{allowed}"


def _need(prop: BindingProperty) -> str:
    need = prop.need
    if prop.default is not None:
        need += f"; {prop.default} by default"
    return f"{need}; timing, with a source" if prop.timing else need
