"""A run's result as tables on a terminal, and the terminal itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.board.observing.unmodelled import UnmodelledRegister
from cyclescope.board.results import CoreResult, RunResult, StackEntry, TriggerResult
from cyclescope.cli.tables import calls as call_tables
from cyclescope.cli.tables import counters as counter_tables
from cyclescope.cli.tables.columns import Fitted
from cyclescope.cli.tables.critical_path import path_tables
from cyclescope.cli.tables.leds import led_table
from cyclescope.units import format_hz, format_ps, format_share

# The folders of a file's path in a place.
_FOLDERS = re.compile(r"[^ (]*/(?=[^/ ]+:\d+\))")
WORDS_A_LINE = 4
MOST_LINES = 32


def run_summary(result: RunResult) -> Group:
    """A run's time, its results, the LEDs, each core's cycle stack, and the counters."""
    wall_s = result.wall_ns / 1e9
    mips = result.instructions / max(wall_s, 1e-9) / 1e6
    facts = Table.grid(padding=(0, 2))
    facts.add_row("instructions", f"{result.instructions:,}")
    facts.add_row("cycles", f"{result.cycles:,}")
    facts.add_row("simulated time", format_ps(result.elapsed_ps))
    facts.add_row("wall time", f"{wall_s:.3f} s ({mips:.1f} million instructions a second)")
    stacks = [table for core in result.cores for table in _core_stacks(core)]
    # with one core, the path is equal to the core's waits
    path = result.critical_path if len(result.cores) > 1 else None
    paths = [*path_tables(path)] if path else []
    words = [_words(name, words) for name, words in result.results.items()]
    unmodelled = [unmodelled_table(result.unmodelled)] if result.unmodelled else []
    found = [triggers_table(result.triggers)] if result.triggers else []
    counted = counter_tables.tables(result)
    leds = [led_table(result.leds)] if any(led.moved for led in result.leds) else []
    return Group(facts, *words, *leds, *stacks, *paths, *found, *counted, *unmodelled)


def triggers_table(triggers: tuple[TriggerResult, ...]) -> Table:
    """How often conditions became true, when, and for how long."""
    table = Fitted(title="conditions", title_justify="left")
    table.add_column("condition", overflow="fold")
    for column, goes in {"times": None, "true for": 2, "first at": 3, "last at": 1}.items():
        table.add_column(column, justify="right", goes=goes)
    for one in triggers:
        times = [None if at is None else format_ps(at) for at in (one.first_ps, one.last_ps)]
        shown = [at or "never" for at in times]
        table.add_row(Text(one.condition), f"{one.count:,}", format_ps(one.true_ps), *shown)
    return table


def unmodelled_table(registers: tuple[UnmodelledRegister, ...]) -> Table:
    """The unmodelled registers that the firmware used, and their effect on time."""
    table = Fitted(title="registers without a model", title_justify="left")
    table.add_column("register", is_name=True)
    table.add_column("address", no_wrap=True)
    table.add_column("loads", justify="right", goes=3)
    table.add_column("stores", justify="right", goes=2)
    table.add_column("first from", is_name=True)
    table.add_column("matters for time", goes=1)
    for one in registers[:MOST_LINES]:
        place = _FOLDERS.sub("", one.places[0]) if one.places else "a DMA engine"
        counts = f"{one.reads:,}", f"{one.writes:,}"
        table.add_row(one.full_name, hexadecimal(one.address), *counts, place, one.effect_on_time)
    if len(registers) > MOST_LINES:
        left = f"{len(registers) - MOST_LINES:,} more"
        table.add_row(left, "", "", "", "", "--json has them all")
    return table


def _words(name: str, words: tuple[int, ...]) -> Text:
    """Words in hexadecimal under a heading; at most a limit, then the number of omitted words."""
    lines = [f"results of {name}: {len(words):,} {'word' if len(words) == 1 else 'words'}"]
    shown = words[: WORDS_A_LINE * MOST_LINES]
    for start in range(0, len(shown), WORDS_A_LINE):
        lines.append("  " + " ".join(map(hexadecimal, shown[start : start + WORDS_A_LINE])))
    if len(shown) < len(words):
        lines.append(f"  ... {len(words) - len(shown):,} more; --json has them all")
    return Text("\n".join(lines))


def _core_stacks(core: CoreResult) -> Iterator[RenderableType]:
    """A core's clock if it changed, the stacks of its whole run, then its sections' stacks."""
    if len(core.clock_rates) > 1:
        yield _rates_table(core)
    yield stack_table(f"cycle stack of {core.name}", core.stack)
    if core.waits is not None:
        yield _waits_table(f"what {core.name} waited for", core.waits)
    for section in core.sections:
        if section.longest_calls is not None:
            yield from call_tables.calls(core.name, section)
            continue
        calls = f"{section.calls:,} {'call' if section.calls == 1 else 'calls'}"
        title = f"{core.name}: {section.name}, {calls}"
        yield stack_table(title, section.stack)
        if section.waits is not None:
            yield _waits_table(f"what {section.name} waited for", section.waits)


def _rates_table(core: CoreResult) -> Table:
    table = Fitted(title=f"clock of {core.name}", title_justify="left")
    for heading in ("rate", "cycles", "time"):
        table.add_column(heading, justify="right")
    for rate in core.clock_rates:
        table.add_row(format_hz(rate.hz), f"{rate.cycles:,}", format_ps(rate.ps))
    return table


def stack_table(title: str, stack: Sequence[StackEntry]) -> Table:
    """A cycle stack with its total, the cause of most time first."""
    table = Fitted(title=title, title_justify="left", show_footer=True)
    table.add_column("cause", footer="total")
    total_cycles = sum(entry.cycles for entry in stack)
    table.add_column("cycles", footer=f"{total_cycles:,}", justify="right")
    total_ps = sum(entry.ps for entry in stack)
    table.add_column("time", footer=format_ps(total_ps), justify="right", goes=1)
    table.add_column("share", footer="100.0 %", justify="right")
    for entry in sorted(stack, key=lambda entry: -entry.ps):
        share = format_share(entry.ps, total_ps)
        table.add_row(entry.cause, f"{entry.cycles:,}", format_ps(entry.ps), share)
    return table


def _waits_table(title: str, waits: tuple[StackEntry, ...]) -> Table:
    """Waits in their own order: waits, other accesses, the core's own work."""
    total_ps = sum(entry.ps for entry in waits)
    table = Fitted(title=title, title_justify="left", show_footer=True)
    table.add_column("waited for", footer="total")
    table.add_column("time", footer=format_ps(total_ps), justify="right")
    table.add_column("share", footer="100.0 %", justify="right")
    for entry in waits:
        table.add_row(Text(entry.cause), format_ps(entry.ps), format_share(entry.ps, total_ps))
    return table


def hexadecimal(word: int) -> str:
    """A word or an address, with all of its digits."""
    return f"0x{word:08x}"


class _Console(Console):
    """A console that leaves a broken pipe to its caller; rich itself would end the program."""

    def on_broken_pipe(self) -> None:
        """Called by rich when it handles the error; re-raises it."""
        raise


def console(stderr: bool = False) -> Console:
    """A console with the terminal's width, or of 120 columns (or COLUMNS) for a file or pipe."""
    probe = _Console(stderr=stderr)
    if probe.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return probe
    return _Console(stderr=stderr, width=120)
