"""The option `--devices`, of each command that makes a board."""

from __future__ import annotations

from typing import Any

import click


def _load(_context: click.Context, _param: click.Parameter, files: tuple[str, ...]) -> None:
    if files:
        # what nobody asks for takes no time
        from cyclescope.devices import load

        for file in files:
            load(file)


def devices_option(command: Any) -> Any:
    """A decorator: the command has `--devices`, whose files are run before it begins."""
    option = click.option(
        "--devices",
        multiple=True,
        metavar="FILE",
        expose_value=False,
        callback=_load,
        help="Run a Python file that defines devices of the board.",
    )
    return option(command)
