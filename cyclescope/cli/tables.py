"""Results and boards as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from cyclescope.bench import influence, pivots, trust
from cyclescope.bench.results import ExperimentResult
from cyclescope.board.parameters import Parameter
from cyclescope.board.results import CoreResult, RunResult, StackEntry
from cyclescope.units import count, format_hz, format_ps

# Of columns that are hard to read when they are folded more often.
_LEAST_WIDTHS = {"property": 41, "plausible": 9, "source": 28}
WORDS_A_LINE = 4
MOST_LINES = 32
MOST_OFF = 20


def experiment_table(result: ExperimentResult) -> Group:
    """An experiment's rows: published, simulated, error, basis; its source and notes below.

    Rows that a pivot shows together are in tables of their own.
    """
    table = Table(title=f"{result.name}: {result.title}", title_justify="left")
    table.add_column("row")
    table.add_column("settings", overflow="fold")
    for heading in ("published", "simulated", "error"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("plausible", justify="right", no_wrap=True)
    table.add_column("basis", no_wrap=True)
    for row in pivots.loose(result.rows):
        table.add_row(
            row.label,
            " ".join(f"{name}={value}" for name, value in row.told_settings.items()),
            "" if row.published is None else f"{row.published} {row.unit}",
            f"{row.simulated} {row.unit}",
            "" if row.error_pct is None else f"{row.error_pct:+.1f} %",
            pivots.format_interval(row),
            row.basis,
        )
    shown = [part for pivot in pivots.tables(result.rows) for part in _pivot(pivot)]
    heading = [table] if table.row_count or not shown else [Text(table.title, style="italic")]
    source = Text(f"published: {result.source}")
    return Group(*heading, *shown, source, *_rests_on(result), *map(Text, result.notes))


def _rests_on(result: ExperimentResult) -> Iterator[Text]:
    """What an experiment's published numbers rest on, and what the model leaves out."""
    found = trust.of(result)
    if not found.published or result.exact:
        return
    yield Text(
        f"{count(found.published, 'published number')}, {found.effective} of them independent: "
        f"{found.predicted} predicted, {found.calibrated} calibrated; "
        f"{found.inside} lie in the interval that the plausible values of "
        f"{count(len(found.assumed), 'assumption')} give."
    )
    if found.fitted:
        yield Text(f"calibrated: {len(found.fitted)} to {found.effective} independent numbers:")
    for _, parameter in found.fitted:
        value = f"{parameter.value} {parameter.unit}".strip()
        moved = influence.load().moved(result.name, names(parameter))
        cells = sum(abs(pct) > influence.MOST_PCT for pct in moved.values())
        yield Text(
            f"  {parameter.owner}: {parameter.property} = {value} "
            f"(moves {count(cells, 'cell')} by more than {influence.MOST_PCT:g} %): "
            f"{parameter.source}"
        )
    if result.left_out:
        yield Text("left out, by the estimated effect:")
    for omission in result.left_out:
        yield Text(
            f"  {omission.effect_pct:g} % of {omission.cells}: {omission.what}: {omission.why}"
        )


def names(parameter: Parameter) -> tuple[str, ...]:
    """What a parameter, or a choice, is called in the accounting of influence."""
    owners = parameter.owner.split(", ")
    return (
        f"{parameter.owner}: {parameter.property}",
        *(f"{owner}.{parameter.property}" for owner in owners),
    )


def _pivot(pivot: pivots.Table) -> Iterator[Table | Text]:
    """A table of groups, a sentence on all of them, and the rows that are furthest off."""
    table = Table(title=pivot.full_title, title_justify="left")
    table.show_footer = bool(pivot.whole.published)
    for number, name in enumerate(pivot.line_headings):
        table.add_column(name, footer="" if number else pivot.total_name, no_wrap=True)
    for heading, group in zip(pivot.headings, pivot.total, strict=True):
        table.add_column(heading, footer=group.total, justify="right", overflow="fold")
    for names, groups in pivot.lines:
        table.add_row(*names, *(group.text for group in groups))
    yield table
    yield Text(pivot.summary)
    off = pivot.furthest_off
    for row in off[:MOST_OFF]:
        settings = " ".join(f"{name}={value}" for name, value in row.told_settings.items())
        simulated = f"{row.simulated} {row.unit}".strip()
        yield Text(
            f"  off: {row.label}: published {row.published}, simulated {simulated}, "
            f"{pivots.percent(row.error_pct)} ({row.board} {settings})"
        )
    if len(off) > MOST_OFF:
        yield Text(f"  and {len(off) - MOST_OFF:,} more, which results.csv has")


def run_summary(result: RunResult) -> Group:
    """What a run took, the words it gave as results, and the cycle stack of each core."""
    wall_s = result.wall_ns / 1e9
    mips = result.instructions / max(wall_s, 1e-9) / 1e6
    facts = Table.grid(padding=(0, 2))
    facts.add_row("instructions", f"{result.instructions:,}")
    facts.add_row("cycles", f"{result.cycles:,}")
    facts.add_row("simulated time", format_ps(result.elapsed_ps))
    facts.add_row("wall time", f"{wall_s:.3f} s ({mips:.1f} million instructions a second)")
    stacks = [table for core in result.cores for table in _core_stacks(core)]
    words = [_words(name, words) for name, words in result.results.items()]
    return Group(facts, *words, *stacks)


def _words(name: str, words: tuple[int, ...]) -> Text:
    """Words in hexadecimal under a heading; of very many the first, and how many are left out."""
    lines = [f"results of {name}: {len(words):,} {'word' if len(words) == 1 else 'words'}"]
    shown = words[: WORDS_A_LINE * MOST_LINES]
    for start in range(0, len(shown), WORDS_A_LINE):
        lines.append("  " + " ".join(map(_hex, shown[start : start + WORDS_A_LINE])))
    if len(shown) < len(words):
        lines.append(f"  ... {len(words) - len(shown):,} more; --json has them all")
    return Text("\n".join(lines))


def _core_stacks(core: CoreResult) -> Iterator[Table]:
    """The stack of a core's whole run, then those of its sections."""
    yield _stack_table(f"cycle stack of {core.name}", core.stack)
    for section in core.sections:
        calls = f"{section.calls:,} {'call' if section.calls == 1 else 'calls'}"
        yield _stack_table(f"{core.name}: {section.name}, {calls}", section.stack)


def _stack_table(title: str, stack: tuple[StackEntry, ...]) -> Table:
    table = Table(title=title, title_justify="left", show_footer=True)
    table.add_column("cause", footer="total")
    total_cycles = sum(entry.cycles for entry in stack)
    table.add_column("cycles", footer=f"{total_cycles:,}", justify="right")
    total_ps = sum(entry.ps for entry in stack)
    table.add_column("time", footer=format_ps(total_ps), justify="right")
    table.add_column("share", footer="100.0 %", justify="right")
    for entry in sorted(stack, key=lambda entry: -entry.ps):
        share = f"{entry.ps / total_ps:.1%}".replace("%", " %") if total_ps else ""
        table.add_row(entry.cause, f"{entry.cycles:,}", format_ps(entry.ps), share)
    return table


def board_tables(description: dict[str, Any]) -> Group:
    """Cores, clocks, memory map, devices and timing parameters of a board."""
    return Group(
        Text(description["model"], style="bold"),
        _table(
            "cores",
            ("name", "type", "isa", "clock", "caches", "uncached fetch"),
            map(_core, description["cores"]),
        ),
        _table("clocks", ("name", "clock"), map(_clock, description["clocks"])),
        _table(
            "memory map",
            ("first", "last", "name", "kind", "path"),
            map(_region, sorted(description["map"], key=lambda region: region["base"])),
        ),
        _table(
            "devices",
            ("name", "compatible", "base", "path"),
            map(_device, description["devices"]),
        ),
        _table(
            "timing parameters",
            ("node", "property", "value", "class", "plausible", "source"),
            map(_parameter, description["parameters"]),
        ),
    )


def _table(title: str, columns: tuple[str, ...], rows: Any) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold", min_width=_LEAST_WIDTHS.get(column))
    for row in rows:
        table.add_row(*row)
    return table


def _core(core: dict[str, Any]) -> tuple[str, ...]:
    caches = "\n".join(core["caches"]) or "none"
    clock = format_hz(core["hz"])
    return core["name"], core["type"], core["isa"], clock, caches, core["fetch_policy"]


def _clock(clock: dict[str, Any]) -> tuple[str, ...]:
    return clock["name"], format_hz(clock["hz"])


def _region(region: dict[str, Any]) -> tuple[str, ...]:
    last = region["base"] + region["size"] - 1
    return (
        _hex(region["base"]),
        _hex(last),
        region["name"],
        region["kind"],
        region["path"],
    )


def _device(device: dict[str, Any]) -> tuple[str, ...]:
    base = device["base"]
    shown = "" if base is None else _hex(base)
    return device["name"], device["compatible"], shown, device["path"]


def _parameter(parameter: dict[str, Any]) -> tuple[str, ...]:
    value = f"{parameter['value']} {parameter['unit']}".strip()
    node = parameter["label"] or parameter["node"]
    basis, source = parameter["basis"], parameter["source"]
    return node, parameter["property"], value, basis, parameter["plausible"], source


def _hex(word: int) -> str:
    return f"0x{word:08x}"


class _Console(Console):
    """One that leaves it to its caller what a reader who has left means; rich ends the program."""

    def on_broken_pipe(self) -> None:
        """Called by rich as it handles the error, which goes on from here."""
        raise


def console(stderr: bool = False) -> Console:
    """A terminal of its width, or lines of 120 characters into a file or pipe."""
    probe = _Console(stderr=stderr)
    return probe if probe.is_terminal else _Console(stderr=stderr, width=120)
