"""`cyclescope annotate`: a function's source and instructions, with their costs in a run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from cyclescope.board import Board
from cyclescope.board.results import RunResult
from cyclescope.cli.colour import no_color_option
from cyclescope.cli.options.groups import TakesArguments
from cyclescope.cli.profiled_run import GROUPS, ProfiledRun, profiled_run_options
from cyclescope.cli.shown_run import print_note
from cyclescope.cli.tables import listings
from cyclescope.errors import EngineError, UsageError
from cyclescope.host import inputs
from cyclescope.host.outputs import write_text
from cyclescope.profile.annotation import Code, annotate
from cyclescope.profile.model import FUNCTION, CoreProfile
from cyclescope.profile.profile import Profile

_GROUPS = {**GROUPS, "Output": ("sources", "html", "quiet", "no_color")}
_OTHERWISE = "`cyclescope disassemble` shows all functions"
_MOST_SOURCE_BYTES = 8 << 20
_TAB = 8
# Instructions that assemblers put between functions to align them.
_FILLING = ("nop", "nop.w", "movs r0, r0", "c.nop", "udf #0")


@click.command("annotate", cls=TakesArguments, groups=_GROUPS)
@click.argument("elf", type=click.Path(path_type=Path))
@click.argument("function", metavar="FUNCTION|ADDRESS")
@profiled_run_options
@click.option(
    "--sources",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the sources, if they are not at the paths that the ELF names.",
)
@click.option("--html", metavar="FILE", help="Write an HTML page with source and instructions.")
@no_color_option
def annotate_command(
    elf: Path, function: str, options: ProfiledRun, sources: Path | None, html: str | None
) -> int:
    """Run a firmware ELF and show the cost of each line of FUNCTION.

    Each instruction is shown with its cost, too. An ADDRESS (0x80000124) stands for the function
    that contains it. Inlined code counts at the line of the call, and is shown separately as well.
    Arguments after -- are passed to the firmware. The exit status is that of `profile`.
    """
    listed = listings.rows(elf)
    loaded = options.load(elf)
    # before the run: an unknown function is an error at once
    listings.found(elf, listings.functions(listed), function, _OTHERWISE)

    def show(result: RunResult, profile: Profile) -> None:
        functions = listings.functions(listed, _nameless(profile) | {listings.entry(elf)})
        rows = listings.found(elf, functions, function, _OTHERWISE)
        code = _code(rows, profile, _size(loaded, rows[0][0]))
        found = [
            annotate(
                core,
                function if function in rows[0][5] else _name(rows),
                code,
                loaded.places(core.name, [one.address for one in code]),
                lambda file: source_lines(file, sources),
            )
            for core in _cores(profile, code)
        ]
        if html is not None:
            from cyclescope.report.annotate import annotate_page

            write_text(html, annotate_page(found, profile))
        from cyclescope.cli.tables import annotated as annotated_text
        from cyclescope.cli.tables import run as tables  # imported while the firmware ran

        screen = tables.console()
        for one in found:
            screen.print(annotated_text.text(one, screen.width), soft_wrap=True, end="")
        sys.stdout.flush()
        for note in () if options.quiet else dict.fromkeys(n for one in found for n in one.notes):
            print_note(note)

    return options.run(loaded, (), {"--html": html}, show, to_stderr=False)


def _nameless(profile: Profile) -> set[int | None]:
    """Start addresses of functions without a symbol, known from calls to them."""
    paths = [path for core in profile.cores for path in core.paths]
    return {path.address for path in paths if path.kind == FUNCTION and path.place is None}


def _name(rows: list[listings.Row]) -> str:
    return rows[0][5][0] if rows[0][5] else f"{rows[0][0]:#010x}"


def _size(board: Board, address: int) -> int:
    """The size in bytes of the function at an address; 0 if its symbol has no size."""
    found = [0]
    for core in board.describe()["cores"]:
        with contextlib.suppress(EngineError):  # a core without known functions
            named = board.functions(core["name"])
            found += [size for begin, size, _ in named if begin == address]
    return max(found)


def _code(rows: list[listings.Row], profile: Profile, size: int) -> list[Code]:
    """The instructions of a function, without data between them and alignment after its end."""
    ran = {cost.address for core in profile.cores for cost in core.costs}
    end = rows[0][0] + size
    own = [row for row in rows if row[0] in ran or not size or row[0] < end]
    code = [Code(*row[:5]) for row in own if not row[3].startswith(".") or row[0] in ran]
    while len(code) > 1 and code[-1].text in _FILLING and code[-1].address not in ran:
        code.pop()
    return code or [Code(*row[:5]) for row in rows]


def _cores(profile: Profile, code: Sequence[Code]) -> list[CoreProfile]:
    """The cores that ran some of the code; the first one if none did."""
    addresses = {one.address for one in code}
    ran = [core for core in profile.cores if any(cost.address in addresses for cost in core.costs)]
    return ran or list(profile.cores[:1])


def source_lines(file: str, folder: Path | None) -> list[str] | None:
    """The printable lines of a source; None if it can't be read.

    The source is searched in the folder first, then at the ELF's path.
    """
    for path in _candidates(file, folder):
        try:
            text = inputs.read(path, _MOST_SOURCE_BYTES).decode("utf-8", "replace")
        except (OSError, UsageError):
            continue
        return [inputs.printable(line.expandtabs(_TAB)) for line in text.splitlines()]
    return None


def _candidates(file: str, folder: Path | None) -> list[Path]:
    """Candidate paths of a source: shorter and shorter ends of its path in the folder, its path."""
    path = Path(file)
    if folder is None:
        return [path]
    parts = path.parts[1:] if path.is_absolute() else path.parts
    return [*(folder.joinpath(*parts[first:]) for first in range(len(parts))), path]
