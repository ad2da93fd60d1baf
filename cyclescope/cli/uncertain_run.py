"""`cyclescope run --uncertainty`: the ranges of a run's results over the board's assumptions."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.core import ParameterSource
from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from cyclescope import sweeps
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.setup.loading import Loading
from cyclescope.cli.counted_runs import CountedRuns
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.columns import Fitted
from cyclescope.errors import UsageError, complain
from cyclescope.host import interrupts, outputs, processors, terminal
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.statuses import Status
from cyclescope.sweeps import uncertainty, words
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.requests import Request
from cyclescope.sweeps.uncertainty import Interval, Study, Uncertainty
from cyclescope.units import count, rounded

# The other options of such a run.
_TOGETHER = {
    "elf",
    "board",
    "sets",
    "option_bytes",
    "baud",
    "devices",
    "core",
    "base",
    "entry",
    "unmapped",
    "svd",
    "limit",
}
_TOGETHER |= {"sections", "json_file", "uncertainty", "no_color"}
_MOST_CAUSES = 3
# Larger numbers are shown without fractions.
_WHOLE_FROM = 100_000


def run(
    elf: Path,
    board: str | None,
    sets: tuple[str, ...],
    program: Loading,
    limit: str | None,
    sections: tuple[str, ...],
    json_file: str | None,
    samples: int,
) -> int:
    """Make the runs and print the intervals; returns the exit status.

    Raises `UsageError` for options of a single run.
    """
    _check_options()
    request = Request(
        str(elf),
        board,
        sets=dict(map(parse_set, sets)),
        sections=sections,
        limit=limit,
        loading=program,
    )
    if board is None:
        program.load(board, request.sets, elf)  # the error names the boards that the program fits
    own_json = None if json_file == "-" else json_file
    outputs.check_outputs({"--json": own_json}, {str(elf): "the firmware"})
    study = uncertainty.study(request, samples)
    threads = processors.count()
    with sweeps.runner(threads) as runner, interrupts.held_back() as held:
        found = _measure(study, runner, held)
        if held.number is not None:
            raise Interrupted(
                held.number,
                f"interrupted by {held.name}: the same command continues from there",
            )
        with terminal.shown(False):
            tables.console(stderr=json_file == "-").print(Group(*_screen(found)))
            text = json.dumps(found.to_dict(), indent=2) + "\n"
            if json_file == "-":
                sys.stdout.write(text)
            elif json_file is not None:
                outputs.write_text(json_file, text)
    for failure in found.failures:
        complain(f"a run failed: {failure}")
    return Status.FAILED if found.failures else Status.SUCCESS


def _measure(study: Study, runner: sweeps.Runner, held: Held) -> Uncertainty:
    done, samples = 0, len(study.planned.rows)
    title = f"{samples} runs of {words.short(study.drawn.target)}"
    with CountedRuns("uncertainty", title) as shown:

        def ended(row: int, outcome: Outcome) -> None:
            nonlocal done
            done += 1
            shown.progress(done, samples)

        return study.measure(runner, held.stop, sweeps.Store(), ended)


def _check_options() -> None:
    """Raises `UsageError` for an option that applies to a single run only."""
    context = click.get_current_context()
    for param in context.command.params:
        given = context.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT
        if given and isinstance(param, click.Option) and param.name not in _TOGETHER:
            raise UsageError(f"{param.opts[0]} is for a single run: --uncertainty makes many")


def _screen(found: Uncertainty) -> Iterator[RenderableType]:
    part = f"{uncertainty.PART:.0%}".replace("%", " %")
    yield Text(
        f"{count(found.samples, 'run')} with {count(len(found.ranged), 'value')} drawn "
        f"from their ranges: {part} of the runs lie between"
    )
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("number", is_name=True)
    for heading in ("unchanged board", "from", "to"):
        table.add_column(heading, justify="right", no_wrap=True)
    moved = [one for one in found.intervals if not one.is_sure]
    has_causes = any(one.causes for one in moved)
    if has_causes:
        table.add_column("mostly because of", overflow="fold", goes=1)
    for one in moved:
        numbers = [_number(value) for value in (one.nominal, one.low, one.high)]
        causes = [Text(_causes(one))] if has_causes else []
        table.add_row(Text(_name(one)), *numbers, *causes)
    yield table
    if moved and not has_causes:
        yield Text(
            f"Causes: {count(found.samples, 'run')} are too few to distinguish them from chance"
        )
    if sure := [one.measure.name for one in found.intervals if one.is_sure]:
        yield Text(f"Equal in all runs: {', '.join(sure)}")
    if found.unranged:
        names = ", ".join(
            f"{one.owner}.{words.short(one.property_name)}" for one in found.unranged[:4]
        )
        more = " ..." if len(found.unranged) > 4 else ""
        yield Text(f"Not drawn, as the board gives no range: {names}{more}")


def _name(one: Interval) -> str:
    unit = one.measure.unit
    return (
        one.measure.name if not unit or unit in one.measure.name else f"{one.measure.name} ({unit})"
    )


def _number(value: float) -> str:
    if isinstance(value, int) or abs(value) >= _WHOLE_FROM:
        return f"{round(value):,}"
    return rounded(value, 6)


def _causes(one: Interval) -> str:
    named = [f"{words.short(effect.name)} {effect.first:.0%}" for effect in one.causes]
    return ", ".join(named[:_MOST_CAUSES]).replace("%", " %")
