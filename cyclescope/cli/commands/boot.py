"""`cyclescope boot`: an unmodified Linux kernel on one board, with its console on stdout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cyclescope import statuses
from cyclescope.board import Board, board_tree
from cyclescope.board.description.overrides import OverrideValue, parse_set
from cyclescope.board.results import RunResult
from cyclescope.board.setup.programs import Program
from cyclescope.cli.commands.run import GROUPS, run_loaded, run_options
from cyclescope.cli.options.board import board_option, devices_option, sets_option
from cyclescope.cli.options.groups import GroupedCommand
from cyclescope.cli.shown_run import print_note
from cyclescope.errors import UsageError, complain
from cyclescope.host import inputs
from cyclescope.host.outputs import check_outputs, opened
from cyclescope.linux import stages
from cyclescope.linux.boards import SD_CARD, LinuxBoard, core_settings
from cyclescope.linux.booting import OF_BOARD, Added, Bootable, Request, bootable
from cyclescope.linux.packages import DEBIAN
from cyclescope.linux.panics import PanicWatch
from cyclescope.statuses import Status

if TYPE_CHECKING:
    from rich.console import Group

_BOARD = "stm32mp157c-dk2"
# A kernel needs some seconds until it has a console, and people type commands after that.
_LIMIT = "60s"
_NOT_OF_LINUX = ("Program", "Semihosting")
_GROUPS = {
    "Linux": (
        "kernel",
        "is_decompressed",
        "devicetree",
        "initrd",
        "modules",
        "modules_from",
        "files",
        "command_line",
        "disk",
        "symbols",
        "cores",
        "shows_stages",
        "elf_file",
    ),
    **{heading: names for heading, names in GROUPS.items() if heading not in _NOT_OF_LINUX},
}


@click.command("boot", cls=GroupedCommand, groups=_GROUPS, epilog=statuses.EPILOG)
@click.option(
    "--kernel", metavar="FILE", help=f"A zImage or an Image; `{DEBIAN}` for that of the package."
)
@click.option(
    "--decompressed",
    "is_decompressed",
    is_flag=True,
    help="Decompress a zImage before it is placed in RAM, so that the board need not.",
)
@click.option(
    "--dtb",
    "devicetree",
    default=OF_BOARD,
    show_default=True,
    metavar=f"FILE|{OF_BOARD}",
    help=(
        "A devicetree (.dtb), whose nodes without a model are disabled, or the one that is made "
        f"from the board's description; `{DEBIAN}` for that of the package."
    ),
)
@click.option(
    "--initrd",
    metavar="FILE|FOLDER|busybox",
    help="An initramfs, a folder to make one from, or one of Debian's busybox.",
)
@click.option(
    "--modules",
    multiple=True,
    metavar="NAME,...",
    help="Put modules of the kernel, and those that they need, into the initramfs.",
)
@click.option(
    "--modules-from",
    metavar="FOLDER",
    help="The folder lib/modules/RELEASE of the kernel [default: that of Debian's package].",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH=FILE",
    help="Put a file into the initramfs at a path, executable: bin/measure=measure.",
)
@click.option(
    "--append",
    "command_line",
    metavar="TEXT",
    help="The kernel's command line [default: that of the devicetree].",
)
@click.option(
    "--disk",
    metavar="FILE",
    help="An image of an SD card for the board's slot, which is read and written in place.",
)
@click.option(
    "--symbols",
    multiple=True,
    metavar="[NAME=]FILE",
    help=(
        "The kernel's vmlinux, for its functions' names, or the ELF file of a program with fixed "
        "addresses, under a name [default: the kernel's kallsyms]."
    ),
)
@click.option(
    "--cores",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="The board's cores that run Linux.",
)
@click.option(
    "--stages",
    "shows_stages",
    is_flag=True,
    help="Also show where the boot's time went: its stages, and the longest initcalls.",
)
@click.option(
    "--elf",
    "elf_file",
    metavar="FILE",
    help="Write what boots as an ELF file, for profile and debug, and do not run it.",
)
@board_option
@sets_option
@devices_option
@click.option(
    "--unmapped",
    type=click.Choice(["fault", "warn"]),
    help="Access to an unmapped address: a bus fault, or answered with 0 and reported in a table.",
)
@click.option(
    "--limit",
    metavar="TIME",
    help=f"Limit of simulated time [default: {_LIMIT}; none on an interactive console].",
)
@run_options
def boot_command(
    kernel: str | None,
    is_decompressed: bool,
    devicetree: str,
    initrd: str | None,
    modules: tuple[str, ...],
    modules_from: str | None,
    files: tuple[str, ...],
    command_line: str | None,
    disk: str | None,
    symbols: tuple[str, ...],
    cores: int,
    shows_stages: bool,
    elf_file: str | None,
    board: str | None,
    sets: tuple[str, ...],
    unmapped: str | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Boot an unmodified Linux kernel on a virtual board.

    Kernel, devicetree and initrd are placed in RAM, and the kernel is started as a boot loader
    does. Its console is on standard output; `poweroff` ends the run with status 0, and a panic of
    the kernel with status 1.
    """
    if kernel is None:
        brings = "scripts/install-debian-packages linux brings Debian's"
        raise UsageError(f"--kernel is missing: give a zImage or an Image, or {DEBIAN}: {brings}")
    name = board or _BOARD
    added = Added(_names(modules), modules_from, tuple(map(_placed, files)))
    request = replace(
        Request.named(kernel, devicetree, initrd, command_line, symbols, Path(name).stem),
        added=added,
        is_decompressed=is_decompressed,
    )
    settings = core_settings(name, board_tree(name), cores)

    inserted = {} if disk is None else _inserted(name, disk)

    def load(overrides: Mapping[str, OverrideValue]) -> Board:
        made = Board(name, {**settings, **inserted, **overrides}, unmapped=unmapped)
        found = _made(made, request, quiet)
        made.load_program(Program(inputs.printable(kernel), elf=found.elf), files=request.files)
        return made

    if elf_file is not None:
        given = {**settings, **inserted, **dict(map(parse_set, sets))}
        return _write(elf_file, Board(name, given), request, quiet)
    watch = PanicWatch()
    if shows_stages:
        options |= _keeping_calls(options)
    seen: list[Board] = []
    status = run_loaded(
        lambda overrides: _noted(load(overrides), seen, shows_stages),
        sets=sets,
        quiet=quiet,
        default_limit=_LIMIT,
        watch=watch.take,
        summary=(lambda result: _with_stages(result, seen[0])) if shows_stages else None,
        **options,
    )
    if watch.panic is not None:
        complain(watch.panic)
        return Status.FAILED
    return status


def _keeping_calls(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that keep the calls that stages are made of. Raises `UsageError` beside others."""
    if options["calls"] or options["longest"]:
        raise UsageError("--stages keeps calls itself: leave out --calls and --longest")
    return {"calls": stages.WATCHED, "longest": stages.MOST_CALLS}


def _noted(board: Board, seen: list[Board], has_stages: bool) -> Board:
    """The board, which is remembered; its kernel has names if stages are to be shown."""
    seen.append(board)
    if has_stages:
        stages.check_names(_functions(board))
    return board


def _functions(board: Board) -> list[tuple[int, int, str]]:
    """The functions of the kernel: address, bytes, name."""
    return board.functions(board.describe()["cores"][0]["name"])


def _with_stages(result: RunResult, board: Board) -> Group:
    """The usual tables of a run, and where the boot's time went."""
    from rich.console import Group

    from cyclescope.cli.tables import boot, run

    names = {address: name for address, _, name in _functions(board)}
    return Group(
        run.run_summary(stages.without_calls(result)),
        boot.stage_tables(result, names),
    )


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for names in given for name in names.split(",") if name.strip())


def _placed(given: str) -> tuple[str, str]:
    """The path in the initramfs and the file that an option names."""
    path, equals, file = given.partition("=")
    path = path.strip("/")
    if not equals or not path or not file or ".." in Path(path).parts:
        raise UsageError(f"--file {given}: expected PATH=FILE, as in bin/measure=./measure")
    return path, file


def _inserted(name: str, disk: str) -> dict[str, OverrideValue]:
    """What puts a card with this image into a board's first slot.

    Raises `UsageError` if the board has no slot, or there is no such file.
    """
    if not Path(disk).exists():
        raise UsageError(f"--disk: {inputs.printable(disk)}: no such file")
    for node in board_tree(name).walk():
        if SD_CARD in node.compatibles:
            return {f"{node.handle}.status": "okay", f"{node.handle}.cyclescope,image": disk}
    raise UsageError(f"--disk: {name} has no slot for an SD card (a node {SD_CARD})")


def _made(board: Board, request: Request, quiet: bool) -> Bootable:
    """What boots, with its notes printed."""
    found = bootable(request, LinuxBoard(board.name, board.tree, board.describe()["map"]))
    for note in () if quiet else found.notes:
        print_note(note)
    return found


def _write(path: str, board: Board, request: Request, quiet: bool) -> int:
    check_outputs({"--elf": path}, {**board.inputs, **request.files})
    found = _made(board, request, quiet)
    with opened(path, "wb") as file:
        file.write(found.elf)
    return Status.SUCCESS
