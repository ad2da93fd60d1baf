"""`cyclescope new-board`: a first board for a chip, from its CMSIS-SVD file."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.board.description.svd import read_svd
from cyclescope.board.description.svd_board import MODELLED, Memory, board_source
from cyclescope.errors import UsageError, warn
from cyclescope.units import parse_number


@click.command("new-board")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--clock", required=True, metavar="HZ", help="Clock of the core: 16M.")
@click.option(
    "--memory",
    "memories",
    multiple=True,
    required=True,
    metavar="NAME=ADDRESS:SIZE",
    help="A memory: flash=0x8000000:512Ki or ram=0x20000000:128Ki.",
)
def new_board_command(file: Path, clock: str, memories: tuple[str, ...]) -> None:
    """Print a board file for the chip of a CMSIS-SVD FILE.

    The board has a Cortex-M4, the memories, and each peripheral as registers that keep what is
    written: enough for firmware to start, and a file to add models and timing to.
    """
    chip = read_svd(file)
    source = board_source(chip, _hertz(clock), tuple(map(_memory, memories)))
    if chip.core and not chip.core.name.startswith(MODELLED):
        warn(f"{chip.name} has a {chip.core.name}; the board's core is a Cortex-M4, with M4 timing")
    click.echo(source, nl=False)


def _hertz(text: str) -> int:
    number = parse_number(text)
    if not isinstance(number, int) or not 0 < number < 2**32:
        raise UsageError(f"--clock {text}: expected a frequency in hertz, as in 16M")
    return number


def _memory(text: str) -> Memory:
    name, equals, place = text.partition("=")
    base, colon, size = place.partition(":")
    numbers = parse_number(base), parse_number(size)
    is_word = name.isidentifier() and name.isascii()
    if not (equals and colon and is_word and all(isinstance(one, int) for one in numbers)):
        raise UsageError(f"--memory {text}: expected NAME=ADDRESS:SIZE, as in ram=0x20000000:128Ki")
    memory = Memory(name, int(numbers[0] or 0), int(numbers[1] or 0))
    if memory.size_bytes <= 0 or memory.base < 0 or memory.base + memory.size_bytes > 2**32:
        raise UsageError(f"--memory {text}: the memory is empty, or ends beyond 4 GiB")
    return memory
