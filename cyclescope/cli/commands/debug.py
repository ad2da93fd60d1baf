"""`cyclescope debug`: a firmware in GDB, with one command."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click

from cyclescope import statuses
from cyclescope.board import Board
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.setup.loading import Loading
from cyclescope.cli.options.board import (
    DEVICES_HELP,
    board_option,
    limit_option,
    load_devices,
    sets_option,
)
from cyclescope.cli.options.program import program_options
from cyclescope.cli.options.serial import script_option
from cyclescope.errors import UsageError
from cyclescope.host import debuggers

_ELF = b"\x7fELF"
# A run in a debugger must not end by itself.
_LIMIT = "1000s"


@click.command("debug", epilog=statuses.EPILOG)
@click.argument("elf", type=click.Path(path_type=Path))
@board_option
@sets_option
@click.option("--devices", multiple=True, metavar="FILE", callback=load_devices, help=DEVICES_HELP)
@program_options
@limit_option
@click.option(
    "--break-when",
    multiple=True,
    metavar="CONDITION",
    help="Halt when this condition becomes true: flash0.busy",
)
@click.option(
    "--console",
    "consoles",
    multiple=True,
    metavar="[LABEL=]WHERE",
    help="Connect a serial line, as in `run`: pty, tcp[:[HOST:]PORT] or file:PATH.",
)
@script_option
@click.option("--gdb", "gdb_path", metavar="PROGRAM", help="The GDB to use.")
@click.option(
    "-x",
    "gdb_scripts",
    multiple=True,
    metavar="FILE",
    help="Run the GDB commands of this file first.",
)
@click.option(
    "-ex", "--ex", "commands", multiple=True, metavar="COMMAND", help="Run this GDB command first."
)
@click.option("--batch", is_flag=True, help="Exit GDB after these commands.")
def debug_command(
    elf: Path,
    board: str | None,
    sets: tuple[str, ...],
    devices: tuple[str, ...],
    program: Loading,
    limit: str | None,
    break_when: tuple[str, ...],
    consoles: tuple[str, ...],
    scripts: tuple[str, ...],
    gdb_path: str | None,
    gdb_scripts: tuple[str, ...],
    commands: tuple[str, ...],
    batch: bool,
) -> int:
    """Debug a firmware ELF on a virtual board in GDB.

    The board halts at reset. Halting costs no simulated time: the firmware takes the same number of
    cycles as without a debugger. Each core is a thread; `monitor help` lists further commands.
    """
    overrides = dict(map(parse_set, sets))
    loaded = program.load(board, overrides, elf)
    gdb = gdb_path or debuggers.find(isa_of(loaded))
    if gdb is None:
        raise UsageError(
            "no installed GDB supports this core (Debian: install gdb-multiarch); "
            f"another debugger can connect to: cyclescope run {shlex.quote(str(elf))} ... --gdb"
        )
    run = [sys.executable, "-m", "cyclescope", "run", str(elf), "--gdb", "pipe"]
    run += _run_options(board, program, limit or _LIMIT)
    run += [f"--set={one}" for one in sets] + [f"--devices={one}" for one in devices]
    run += [f"--break-when={one}" for one in break_when]
    run += [f"--console={one}" for one in consoles] + [f"--script={one}" for one in scripts]
    arguments = ["-q"] + (["--batch"] if batch else [])
    with elf.open("rb") as file:
        if file.read(len(_ELF)) == _ELF:
            arguments.append(str(elf))
    arguments += ["-ex", f"target extended-remote | {shlex.join(run)}"]
    for script in gdb_scripts:
        arguments += ["-x", script]
    for command in commands:
        arguments += ["-ex", command]
    sys.stdout.flush()
    try:
        os.execvp(gdb, [gdb, *arguments])
    except OSError as error:
        raise UsageError(f"--gdb {gdb}: {error.strerror}") from None


def isa_of(board: Board) -> str:
    """The instruction set of the board's first core, for GDB."""
    isa = str(board.describe()["cores"][0]["isa"]).lower()
    return "riscv" if isa.startswith("rv") else "mips" if isa.startswith("mips") else "arm"


def _run_options(board: str | None, program: Loading, limit: str) -> list[str]:
    named = {
        "--board": board,
        "--core": program.core,
        "--base": program.base,
        "--entry": program.entry,
        "--unmapped": program.unmapped,
        "--svd": program.svd,
        "--limit": limit,
    }
    return [f"{name}={value}" for name, value in named.items() if value is not None]
