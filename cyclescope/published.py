"""The published tables: numbers of a document, found by what its rows say.

A table is a TOML file with `[source]` (what the document is) and `[[result]]` rows, in which
parameters and results stand side by side.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cyclescope import resources


@dataclass(frozen=True)
class Table:
    """One document's numbers."""

    source: Mapping[str, Any]
    results: tuple[Mapping[str, Any], ...]

    @property
    def citation(self) -> str:
        """The document as one line: title, publisher, date."""
        parts = (self.source.get(key) for key in ("title", "publisher", "date"))
        return ", ".join(str(part) for part in parts if part)

    def find(self, key: str, where: Mapping[str, Any]) -> int | float | None:
        """The number under `key` of the one row that agrees with all of `where`.

        None if no row agrees; a row that lacks a key of `where` does not. Raises `LookupError`
        if several rows agree: the question was not precise.
        """
        rows = [
            row
            for row in self.results
            if key in row and all(name in row and row[name] == where[name] for name in where)
        ]
        if len(rows) > 1:
            raise LookupError(f"{self.citation}: {len(rows)} rows have {dict(where)}")
        return rows[0][key] if rows else None


@cache
def load(name: str) -> Table:
    """The table of `published/<name>.toml`."""
    data = tomllib.loads((resources.published() / f"{name}.toml").read_text(encoding="utf-8"))
    return Table(data["source"], tuple(data["result"]))
