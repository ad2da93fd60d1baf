"""`cyclescope board`: the parts of a board."""

from __future__ import annotations

import click

from cyclescope.board import Board
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.description.parameters import BASES
from cyclescope.cli import completions
from cyclescope.cli.options.board import devices_option, sets_option
from cyclescope.cli.tables import board_sections
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.board_sections import ALL, SECTIONS
from cyclescope.errors import warn


@click.command("board", cls=completions.ArgumentsKnown)
@click.argument("name", shell_complete=completions.boards)
@sets_option
@devices_option
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=click.Choice((*SECTIONS, ALL)),
    metavar="SECTION",
    help=f"Section to show: {', '.join(SECTIONS)}, or {ALL}; repeatable.",
)
@click.option(
    "--class",
    "basis",
    type=click.Choice(BASES),
    help="Show only timing parameters of this class.",
)
def board_command(
    name: str, sets: tuple[str, ...], sections: tuple[str, ...], basis: str | None
) -> None:
    """Show what is on a board: a summary, or sections in full.

    NAME is a shipped board, or the path of a .dts file.
    """
    board = Board(name, dict(map(parse_set, sets)))
    for warning in board.warnings:
        warn(warning)
    screen = tables.console()
    if basis is not None:
        found = board.describe()["parameters"]
        of_class = [one for one in found if one["basis"] == basis]
        screen.print(board_sections.parameters(of_class))
    elif not sections:
        screen.print(*board_sections.overview(board), sep="\n")
    else:
        if ALL in sections:
            screen.print(board_sections.title(board))
        for section in SECTIONS if ALL in sections else dict.fromkeys(sections):
            screen.print(*SECTIONS[section](board), sep="\n")
