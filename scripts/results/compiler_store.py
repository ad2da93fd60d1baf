"""docs/compilers.csv: times of programs that other compilers built, kept for the pages.

`python scripts/compilers` makes its rows; their settings name the compiler and the sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import store

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row


def keep(rows: Iterable[Row], stored: Path) -> None:
    """Put rows in the place of those of the same experiment and label, new ones at the end."""
    lines = {(line["experiment"], line["label"]): line for line in store.read_lines(stored)}
    fresh = (store.line_of(row.to_dict()) for row in rows)
    lines |= {(line["experiment"], line["label"]): line for line in fresh}
    order = list(dict.fromkeys(name for name, _ in lines))
    store.write_lines(stored, sorted(lines.values(), key=lambda x: order.index(x["experiment"])))


def load(stored: Path) -> Mapping[str, ExperimentResult]:
    """The file's rows, by experiment."""
    found: dict[str, list[Row]] = {}
    for line in store.read_lines(stored):
        found.setdefault(line["experiment"], []).append(store.row_of(line))
    return {
        name: ExperimentResult(
            name,
            "",
            "",
            (),
            tuple(rows),
            (),
            parameters={},
        )
        for name, rows in found.items()
    }
