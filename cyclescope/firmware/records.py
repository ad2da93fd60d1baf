"""Results in words instead of text: records on the board's result port.

A record is a mark plus the record's number, followed by one word for each metric. An app's
`app.toml` has the meanings of the words and the settings of each record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyclescope.board.results import Metric, RunResult, Settings
from cyclescope.errors import FirmwareError


@dataclass(frozen=True)
class Records:
    """The records of an app: `words` are metrics (name, unit), `cases` the records' settings."""

    mark: int
    words: tuple[tuple[str, str], ...]
    cases: tuple[Settings, ...]

    def metrics(self, result: RunResult) -> tuple[Metric, ...]:
        """The metrics in a run's words.

        Raises `FirmwareError` unless the words are these records, each once and in order.
        """
        words = [word for port in result.results.values() for word in port]
        length = 1 + len(self.words)
        if len(words) != length * len(self.cases):
            raise FirmwareError(
                f"the firmware wrote {len(words)} words of results, expected {length} for each of "
                f"{len(self.cases)} cases"
            )
        found: list[Metric] = []
        for number, case in enumerate(self.cases):
            mark, *values = words[number * length : (number + 1) * length]
            if mark != self.mark + number:
                raise FirmwareError(
                    f"record {number} of the results begins with 0x{mark:08x}, "
                    f"expected 0x{self.mark + number:08x}"
                )
            found += [
                Metric(name, unit, value, case)
                for (name, unit), value in zip(self.words, values, strict=True)
            ]
        return tuple(found)


def records(table: Mapping[str, Any]) -> Records:
    """The records that the `[results]` table of an `app.toml` declares."""
    words = tuple((word["name"], word.get("unit", "")) for word in table["words"])
    return Records(table["mark"], words, tuple(table["cases"]))
