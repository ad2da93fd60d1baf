"""`cyclescope list`: the names that other commands take."""

from __future__ import annotations

import click

from cyclescope import experiments, suites
from cyclescope.board import Board, shipped_boards


@click.command("list")
def list_command() -> None:
    """List boards and experiments."""
    for name in shipped_boards():
        click.echo(f"board       {name:24} {Board(name).describe()['model']}")
    for name, experiment in experiments.KNOWN.items():
        click.echo(f"experiment  {name:24} {experiment.title}")
    for name, suite in suites.ALL.items():
        click.echo(f"experiment  {name:24} {suite.title} (of your ELFs: --elfs)")
