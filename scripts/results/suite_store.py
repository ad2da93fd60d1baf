"""docs/suites.csv: rows of suites, from programs that users built, kept for the pages.

Nobody else has the same programs, so no test runs them again: `keep` puts the rows of a suite's
JSON (`cyclescope bench SUITE --elfs DIR`) in place of those of the same suite and boards.
"""

from __future__ import annotations

import json
from pathlib import Path

import store

from cyclescope import suites
from cyclescope.bench.rows import Row
from cyclescope.errors import UsageError


def keep(given: Path, stored: Path) -> None:
    """Put a suite's rows into the file. Raises `UsageError` if `given` has no rows."""
    try:
        rows = [store.line_of(row) for row in json.loads(given.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{given}: no rows of `cyclescope bench SUITE --elfs DIR`") from error
    fresh = {(line["experiment"], line["board"]) for line in rows}
    if not rows or any(name not in suites.ALL for name, _ in fresh):
        raise UsageError(f"{given}: no rows of {', '.join(suites.ALL)}")
    old = store.read_lines(stored)
    kept = [line for line in old if (line["experiment"], line["board"]) not in fresh]
    order = list(suites.ALL)
    lines = sorted(kept + rows, key=lambda line: (order.index(line["experiment"]), line["board"]))
    store.write_lines(stored, lines)


def load(stored: Path) -> dict[str, list[Row]]:
    """The rows by suite."""
    found: dict[str, list[Row]] = {name: [] for name in suites.ALL}
    for line in store.read_lines(stored):
        found[line["experiment"]].append(store.row_of(line))
    return found
