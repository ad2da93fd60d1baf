"""The command line: `cyclescope demo | bench | show | run | board | devices | list | doctor ...`.

Exit statuses are in `statuses.py`. An error is one line on stderr, never a traceback.

An interruption stops runs at once, and their results up to then are written as usual.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import click

from cyclescope import statuses
from cyclescope.cli.colour import no_color_option
from cyclescope.errors import EngineError, UsageError, complain, fault
from cyclescope.host import interrupts, terminal
from cyclescope.host.inputs import printable
from cyclescope.host.interrupts import Interrupted
from cyclescope.similar_names import did_you_mean_or
from cyclescope.statuses import Status

# By heading of the help. Each is `<name>_command` in a module of that name, with underscores.
_GROUPS = {
    "Run and look": ("demo", "run", "boot", "profile", "annotate", "disassemble", "debug"),
    "Compare and decide": ("compare", "sweep", "advise", "fit"),
    "Boards and files": ("board", "devices", "list", "new-board", "completion", "doctor"),
    "The bench": ("bench", "show", "ipc"),
}
_COMMANDS = tuple(name for names in _GROUPS.values() for name in names)


class _Group(click.Group):
    """The commands, each imported on request, so that none waits for imports of others.

    Click itself would end the program when a pipe breaks.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, if there is one."""
        if cmd_name not in _COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        return getattr(import_module(f"cyclescope.cli.commands.{name}"), f"{name}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, each with its full summary."""
        for heading, names in _GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, one.get_short_help_str(limit=200)) for name, one in commands if one]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; an unknown one is an error with similar names."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            shown = printable(name)
            hint = did_you_mean_or(shown, _COMMANDS, f"there are {', '.join(_COMMANDS)}")
            raise UsageError(f"unknown command '{shown}'{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _NobodyReadsError from error


class _NobodyReadsError(Exception):
    """The reader of standard output has closed it."""


@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=statuses.EPILOG
)
@click.version_option(package_name="cyclescope")
@no_color_option
def cli() -> None:
    """Run firmware on virtual boards with timing, and see where every cycle went.

    Start with `cyclescope demo`, which needs no files.
    """


def main(arguments: list[str] | None = None) -> None:
    """The entry point: runs a command and exits with its status."""
    with terminal.prepared(), _faults_of_threads_shown(), interrupts.handled():
        try:
            status = _ended(lambda: _run(arguments))
            # flush the rest here, where an error can be reported
            status = _ended(lambda: _flush(status))
        except Interrupted as interrupted:
            complain(str(interrupted))
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            interrupts.leave(interrupted.status)
    # the process ends: garbage collection would only take time
    gc.freeze()
    sys.exit(status)


@contextlib.contextmanager
def _faults_of_threads_shown() -> Iterator[None]:
    """Print an error in a thread as one line on stderr, like any other error."""
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
    # click treats a group without arguments as an error
    return cli.main(given or ["--help"], prog_name="cyclescope", standalone_mode=False) or 0


def _flush(status: int) -> int:
    sys.stdout.flush()
    return status


def _ended(work: Callable[[], int]) -> int:
    """The exit status of a command; an error is printed as one line."""
    try:
        return work()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        complain(printable(error.format_message()))
    except EngineError as error:
        complain(str(error))
    except (BrokenPipeError, _NobodyReadsError):
        # the reader of our output has closed it: nothing more can be written
        terminal.hush()
        return Status.BROKEN_PIPE
    except OSError as error:
        complain(_words(error))
        if error.filename == terminal.STANDARD_OUTPUT:
            terminal.hush()
    except MemoryError:
        complain("out of memory: this command needs more memory than the host has")
    except (Interrupted, SystemExit):
        raise
    except BaseException as error:  # a panic of the engine is not an Exception
        complain(fault(error))
        return Status.OWN_FAULT
    return Status.USAGE


def _words(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{printable(str(error.filename))}: {reason}" if error.filename else reason
