"""The command line: `cyclescope bench | run | ipc | list | board`.

Exit status: 0 is success, 1 a run of the bench or a test of `ipc` that failed, 2 bad usage, a bad
board or a bad ELF, 124 the limit on simulated time, 125 a fault of the firmware, 130 an
interruption. `run` gives the firmware's own status when the firmware ends by itself. What goes
wrong is one line on stderr, never a traceback.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import click

from cyclescope import disks, experiments, tables
from cyclescope.bench_command import bench_command
from cyclescope.board import Board, shipped_boards
from cyclescope.errors import EngineError
from cyclescope.export import write_text
from cyclescope.ipc.command import ipc_command
from cyclescope.overrides import parse_set
from cyclescope.results import RunResult
from cyclescope.units import parse_time_ps

USAGE, LIMIT, FAULT, INTERRUPTED = 2, 124, 125, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cyclescope")
def cli() -> None:
    """Run firmware on virtual boards with timing, and see where every cycle went."""


cli.add_command(bench_command)
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


@cli.command("run")
@click.argument("elf", type=click.Path(path_type=Path))
@click.option("--board", required=True, help="A shipped board's name, or the path of a .dts.")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a property.")
@click.option("--limit", default="10s", show_default=True, help="Most simulated time to run.")
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="FUNCTION",
    help="Also show the cycle stack of a function's calls; CORE:FUNCTION for another core.",
)
@click.option(
    "--skip-polling/--no-skip-polling",
    default=True,
    help="Skip rounds of polling loops (same result, sooner), or run each.",
)
@click.option("--json", "json_file", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--vcd", metavar="FILE", help="Write the waveforms of the board's wires.")
def run_command(
    elf: Path,
    board: str,
    sets: tuple[str, ...],
    limit: str,
    sections: tuple[str, ...],
    skip_polling: bool,
    json_file: str | None,
    vcd: str | None,
) -> int:
    """Run your own firmware ELF on a virtual board, with its console on stdout."""
    limit_ps = parse_time_ps(limit)
    loaded = Board(board, dict(map(parse_set, sets))).load(elf)
    console = sys.stderr if json_file == "-" else sys.stdout
    writer = _Writer(console)
    result = _interruptible(
        lambda: loaded.run(
            limit_ps, writer.console, sections, skip_polling, vcd, None, writer.stream
        )
    )
    writer.end_line()
    if json_file:
        _write_json(json_file, result)
    console.flush()
    tables.console(stderr=json_file == "-").print(tables.run_summary(result))
    sys.stdout.flush()
    for note in result.notes:
        print(f"cyclescope: note: {note}", file=sys.stderr)
    return _status(result)


class _Writer:
    """Writes the console as it comes, and between its lines those of other serial lines behind
    their names.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._within_line = False
        self._held: list[str] = []

    def console(self, text: str) -> None:
        line, end, rest = text.partition("\n")
        self._write(line + end)
        if end:
            self._release()
            if rest:
                self._write(rest)

    def stream(self, name: str, line: str) -> None:
        self._held.append(f"{name}: {line}\n")
        if not self._within_line:
            self._release()

    def end_line(self) -> None:
        """Begins a new line, unless that has been done, with nothing left to write."""
        if self._within_line:
            self._write("\n")
        self._release()

    def _release(self) -> None:
        for line in self._held:
            self._write(line)
        self._held.clear()

    def _write(self, text: str) -> None:
        self._within_line = not text.endswith("\n")
        self._file.write(text)
        self._file.flush()


def _write_json(json_file: str, result: RunResult) -> None:
    text = json.dumps(result.to_dict(), indent=2) + "\n"
    if json_file == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(json_file), text)


def _status(result: RunResult) -> int:
    """The exit status of a run; a reason to stop that isn't the firmware's is said on stderr."""
    if result.outcome == "exit":
        code = result.exit_code or 0
        return code if 0 <= code <= 255 else 1
    _complain(result.message or result.outcome)
    return LIMIT if result.outcome == "limit" else FAULT


def _interruptible(run: Callable[[], RunResult]) -> RunResult:
    """Run beside the main thread, which alone hears of an interruption."""
    outcome: list[RunResult | BaseException] = []

    def body() -> None:
        try:
            outcome.append(run())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _complain(message: str) -> None:
    print(f"cyclescope: error: {message}", file=sys.stderr)


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
        _complain(error.format_message())
        status = USAGE
    except EngineError as error:
        _complain(str(error))
        status = USAGE
    except BrokenPipeError:
        # the reader of our output left: nothing is wrong, and nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        status = USAGE
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        _leave(INTERRUPTED)
    sys.exit(status or 0)
