"""The command line: `cyclescope bench | show | run | ipc | disassemble | binding | list | board`.

Exit statuses are in `statuses.py`. What goes wrong is one line on stderr, never a traceback.

An interruption stops runs at once, and what they did by then is written as at any end.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import click

from cyclescope import experiments, statuses
from cyclescope.board import Board, shipped_boards
from cyclescope.board.overrides import parse_set
from cyclescope.cli import tables
from cyclescope.cli.bench_command import bench_command
from cyclescope.cli.binding_command import binding_command
from cyclescope.cli.disassemble_command import disassemble_command
from cyclescope.cli.ipc_command import ipc_command
from cyclescope.cli.run_command import run_command
from cyclescope.cli.show_command import show_command
from cyclescope.errors import EngineError, UsageError, complain, fault, warn
from cyclescope.host import interrupts, terminal
from cyclescope.host.inputs import printable
from cyclescope.host.interrupts import Interrupted
from cyclescope.statuses import Status


class _Group(click.Group):
    """Click would end the program by itself when a pipe breaks."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _NobodyReadsError from error


class _NobodyReadsError(Exception):
    """Who read standard output has left."""


@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=statuses.epilog()
)
@click.version_option(package_name="cyclescope")
def cli() -> None:
    """Run firmware on virtual boards with timing, and see where every cycle went."""


cli.add_command(bench_command)
cli.add_command(show_command)
cli.add_command(run_command)
cli.add_command(ipc_command)
cli.add_command(disassemble_command)
cli.add_command(binding_command)


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
    board = Board(name, dict(map(parse_set, sets)))
    for warning in board.warnings:
        warn(warning)
    tables.console().print(tables.board_tables(board.describe()))


def main(arguments: list[str] | None = None) -> None:
    """The entry point: runs a command and exits with its status."""
    with terminal.prepared(), _threads_told(), interrupts.handled():
        try:
            status = _ended(lambda: _run(arguments))
            # what is still held has to go where it can fail
            status = _ended(lambda: _flush(status))
        except Interrupted as interrupted:
            complain(str(interrupted))
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            interrupts.leave(interrupted.status)
    sys.exit(status)


@contextlib.contextmanager
def _threads_told() -> Iterator[None]:
    """What goes wrong in a thread is a line, too."""
    before = threading.excepthook
    threading.excepthook = lambda ended: complain(fault(ended.exc_value or Exception()))
    try:
        yield
    finally:
        threading.excepthook = before


def _run(arguments: list[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if any("\0" in argument for argument in given):
        raise UsageError("an argument has a zero byte")
    return cli.main(arguments, prog_name="cyclescope", standalone_mode=False) or 0


def _flush(status: int) -> int:
    sys.stdout.flush()
    return status


def _ended(work: Callable[[], int]) -> int:
    """The status of what a command gives; what went wrong is said."""
    try:
        return work()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        complain(printable(error.format_message()))
    except EngineError as error:
        complain(str(error))
    except (BrokenPipeError, _NobodyReadsError):
        # the reader of our output left: nobody to tell
        terminal.hush()
        return Status.BROKEN_PIPE
    except OSError as error:
        complain(_words(error))
        if error.filename == terminal.STANDARD_OUTPUT:
            terminal.hush()
    except MemoryError:
        complain("this takes more memory than the host has")
    except (Interrupted, SystemExit):
        raise
    except BaseException as error:  # a panic of the engine is no Exception
        complain(fault(error))
        return Status.OWN_FAULT
    return Status.USAGE


def _words(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{printable(str(error.filename))}: {reason}" if error.filename else reason
