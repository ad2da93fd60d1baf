"""The command line: `cyclescope bench | run | ipc | list | board`.

Exit status: 0 is success, 1 a run of the bench or a test of `ipc` that failed, or a result that
could not be saved, 2 bad usage, a bad board, a bad ELF or a place where results can't be saved, 124
the limit on simulated time, 125 a fault of the firmware, 130 an interruption. `run` gives the
firmware's own status when the firmware ends by itself. What goes wrong is one line on stderr, never
a traceback.
"""

from __future__ import annotations

import os
import sys

import click

from cyclescope import disks, experiments, tables
from cyclescope.bench_command import bench_command
from cyclescope.board import Board, shipped_boards
from cyclescope.errors import EngineError, complain
from cyclescope.ipc.command import ipc_command
from cyclescope.overrides import parse_set
from cyclescope.run_command import run_command

USAGE, INTERRUPTED = 2, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cyclescope")
def cli() -> None:
    """Run firmware on virtual boards with timing, and see where every cycle went."""


cli.add_command(bench_command)
cli.add_command(run_command)
cli.add_command(ipc_command)


@cli.command("list")
def list_command() -> None:
    """List the boards and experiments, one line each."""
    for name in shipped_boards():
        click.echo(f"board       {name:24} {Board(name).describe()['model']}")
    for name, experiment in experiments.ALL.items():
        click.echo(f"experiment  {name:24} {experiment.title}")


@cli.command("board")
@click.argument("name")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a property.")
def board_command(name: str, sets: tuple[str, ...]) -> None:
    """Show cores, memory map, devices, clocks and timing parameters of board NAME."""
    description = Board(name, dict(map(parse_set, sets))).describe()
    tables.console().print(tables.board_tables(description))


def _leave(status: int) -> None:
    """End at once: a simulation that still runs in a thread can't be waited for."""
    disks.discard()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main(arguments: list[str] | None = None) -> None:
    """The entry point: runs a command and exits with its status."""
    try:
        status = cli.main(arguments, prog_name="cyclescope", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        status = leaving.exit_code
    except click.ClickException as error:
        complain(error.format_message())
        status = USAGE
    except EngineError as error:
        complain(str(error))
        status = USAGE
    except BrokenPipeError:
        # the reader of our output left: nothing is wrong, and nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        status = USAGE
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted")
        _leave(INTERRUPTED)
    sys.exit(status or 0)
