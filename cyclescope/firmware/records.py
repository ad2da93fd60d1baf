"""Results that a program gives as words instead of text: records on the board's result port.

A record is a mark, to which the record's number is added, and one word a metric. An app's
`app.toml` says what the words are and in which settings each record was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyclescope.board.results import Metric, RunResult, Settings
from cyclescope.errors import FirmwareError


@dataclass(frozen=True)
class Records:
    """The records of an app: `words` are metrics by name and unit, `cases` the settings of each."""

    mark: int
    words: tuple[tuple[str, str], ...]
    cases: tuple[Settings, ...]

    def metrics(self, result: RunResult) -> tuple[Metric, ...]:
        """The words of a run as metrics.

        Raises `FirmwareError` if they are not these records, each once and in order.
        """
        words = [word for port in result.results.values() for word in port]
        length = 1 + len(self.words)
        if len(words) != length * len(self.cases):
            raise FirmwareError(
                f"the firmware gave {len(words)} words of results, not {length} for each of "
                f"{len(self.cases)} cases"
            )
        found: list[Metric] = []
        for number, case in enumerate(self.cases):
            mark, *values = words[number * length : (number + 1) * length]
            if mark != self.mark + number:
                raise FirmwareError(
                    f"record {number} of the results begins with 0x{mark:08x}, "
                    f"not 0x{self.mark + number:08x}"
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
