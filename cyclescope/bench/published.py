"""The published tables: numbers of a document, found by the values of their rows.

A table is a TOML file with `[source]` (the document) and rows, in which parameters and results
stand side by side: `[[result]]` tables, or the lines of the CSV file beside it that `rows` names.
In a CSV file, text that reads as an integer (or 0x and hexadecimal digits) is one, and an empty
field is absent.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from cyclescope import resources

_INTEGER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)")
_Index = Mapping[tuple[Any, ...], tuple[Mapping[str, Any], ...]]


@dataclass(frozen=True)
class Table:
    """One document's numbers."""

    source: Mapping[str, Any]
    results: tuple[Mapping[str, Any], ...]

    @property
    def is_exact(self) -> bool:
        """Whether its numbers come from the hardware's own description, to the last cycle."""
        return self.source.get("kind") == "RTL simulation"

    @property
    def is_by_hand(self) -> bool:
        """Whether its numbers are sums over statements of documents and not measurements."""
        return self.source.get("kind") == "sums by hand"

    @property
    def citation(self) -> str:
        """The document as one line: title, publisher, date."""
        parts = (self.source.get(key) for key in ("title", "publisher", "date"))
        return ", ".join(str(part) for part in parts if part)

    def find(self, key: str, where: Mapping[str, Any]) -> int | float | None:
        """The number under `key` of the one row that agrees with all of `where`.

        None if no row agrees; a row that lacks a key of `where` does not agree. Raises
        `LookupError` if several rows agree: the question was not precise.
        """
        names = tuple(where)
        rows = [row for row in self._index(names).get(tuple(where.values()), ()) if key in row]
        if len(rows) > 1:
            raise LookupError(f"{self.citation}: {len(rows)} rows have {dict(where)}")
        return rows[0][key] if rows else None

    def has(self, key: str, where: Mapping[str, Any]) -> bool:
        """Whether any row that agrees with all of `where` has something under `key`."""
        rows = self._index(tuple(where)).get(tuple(where.values()), ())
        return any(key in row for row in rows)

    def distinct(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """The rows' values of `names`, each combination once, in the order of first occurrence."""
        names = tuple(names)
        return [dict(zip(names, values, strict=True)) for values in self._index(names)]

    def _index(self, names: tuple[str, ...]) -> _Index:
        """The rows that have all of `names`, by their values."""
        if names not in self._indexes:
            found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
            for row in self.results:
                values = tuple(row.get(name) for name in names)
                # a list equals no setting
                if all(isinstance(value, int | float | str) for value in values):
                    found.setdefault(values, []).append(row)
            self._indexes[names] = {values: tuple(rows) for values, rows in found.items()}
        return self._indexes[names]

    @cached_property
    def _indexes(self) -> dict[tuple[str, ...], _Index]:
        return {}


@cache
def load(name: str) -> Table:
    """The table of `published/<name>.toml`."""
    folder = resources.published()
    data = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    lines = _lines(folder / data["rows"]) if "rows" in data else ()
    return Table(data["source"], (*data.get("result", ()), *lines))


def _lines(path: Path) -> Iterable[Mapping[str, Any]]:
    with path.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            yield {name: _value(text) for name, text in line.items() if text}


def _value(text: str) -> int | str:
    if not _INTEGER.fullmatch(text):
        return text
    return int(text, 16 if "x" in text else 10)
