"""What a run's summary says, in words; `tables` and `plain_summary` show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cyclescope.board.results import RunResult, StackEntry
from cyclescope.units import format_ps

WORDS_A_LINE = 4
MOST_LINES = 32
HEADINGS = ("cause", "cycles", "time", "share")

Row = tuple[str, str, str, str]


@dataclass(frozen=True)
class Stack:
    """A cycle stack: a row a cause under `HEADINGS`, and their sum."""

    title: str
    rows: tuple[Row, ...]
    total: Row


def facts(result: RunResult) -> list[tuple[str, str]]:
    """What a run took."""
    wall_s = result.wall_ns / 1e9
    mips = result.instructions / max(wall_s, 1e-9) / 1e6
    return [
        ("instructions", f"{result.instructions:,}"),
        ("cycles", f"{result.cycles:,}"),
        ("simulated time", format_ps(result.elapsed_ps)),
        ("wall time", f"{wall_s:.3f} s ({mips:.1f} million instructions a second)"),
    ]


def words(name: str, words: tuple[int, ...]) -> list[str]:
    """Words in hexadecimal under a heading; of very many the first, and how many are left out."""
    lines = [f"results of {name}: {len(words):,} {'word' if len(words) == 1 else 'words'}"]
    shown = words[: WORDS_A_LINE * MOST_LINES]
    for start in range(0, len(shown), WORDS_A_LINE):
        lines.append("  " + " ".join(map(hexadecimal, shown[start : start + WORDS_A_LINE])))
    if len(shown) < len(words):
        lines.append(f"  ... {len(words) - len(shown):,} more; --json has them all")
    return lines


def stacks(result: RunResult) -> Iterator[Stack]:
    """The stack of each core's whole run, then those of its sections."""
    for core in result.cores:
        yield _stack(f"cycle stack of {core.name}", core.stack)
        for section in core.sections:
            calls = f"{section.calls:,} {'call' if section.calls == 1 else 'calls'}"
            yield _stack(f"{core.name}: {section.name}, {calls}", section.stack)


def _stack(title: str, stack: tuple[StackEntry, ...]) -> Stack:
    total_cycles = sum(entry.cycles for entry in stack)
    total_ps = sum(entry.ps for entry in stack)

    def row(entry: StackEntry) -> Row:
        share = f"{entry.ps / total_ps:.1%}".replace("%", " %") if total_ps else ""
        return entry.cause, f"{entry.cycles:,}", format_ps(entry.ps), share

    rows = tuple(map(row, sorted(stack, key=lambda entry: -entry.ps)))
    return Stack(title, rows, ("total", f"{total_cycles:,}", format_ps(total_ps), "100.0 %"))


def hexadecimal(word: int) -> str:
    """A word or an address, with all of its digits."""
    return f"0x{word:08x}"
