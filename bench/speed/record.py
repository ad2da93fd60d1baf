"""Prints results, and keeps them and their single numbers for a file."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path


class Record:
    """The printed lines, and the numbers in them by their names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[str, float] = {}

    def say(self, line: str, **numbers: float) -> None:
        """Print a line, and remember it with its numbers."""
        print(line, flush=True)
        self.lines.append(line)
        self.numbers |= numbers

    def write(self, path: Path) -> None:
        """Write all results as JSON."""
        text = json.dumps({**self.numbers, "printed": self.lines}, indent=1)
        path.write_text(f"{text}\n", encoding="utf-8")


RECORD = Record()
say = RECORD.say


def say_ratios(
    what: str, seconds: Sequence[float], peer_seconds: Sequence[float], number: str = ""
) -> None:
    """How many times faster than the peer, pair by pair; the median is called `number`."""
    ratios = [theirs / mine for mine, theirs in zip(seconds, peer_seconds, strict=True)]
    median = statistics.median(ratios)
    numbers = {number: round(median, 2)} if number else {}
    say(
        f"{what}, pair by pair: {median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        **numbers,
    )
