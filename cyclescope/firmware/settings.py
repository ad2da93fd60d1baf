"""An app's settings: the allowed values from `app.toml`, and their parsing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyclescope.board.results import Value
from cyclescope.units import parse_number


@dataclass(frozen=True)
class Advice:
    """Values of a setting that `advise` tries, as they keep the work the same, and their costs."""

    tries: tuple[Value, ...]
    takes: str


@dataclass(frozen=True)
class Choice:
    """A setting with one of several words."""

    options: tuple[str, ...]
    default: str
    advice: Advice | None = None

    def parse(self, text: str) -> Value | None:
        """The value that a text means; None if it is not allowed."""
        return text if text in self.options else None

    def __str__(self) -> str:
        return ", ".join(self.options)


@dataclass(frozen=True)
class Number:
    """A setting that is an integer from `low` to `high`, both allowed."""

    low: int
    high: int
    default: int
    advice: Advice | None = None

    def parse(self, text: str) -> Value | None:
        """The value that a text means; None if it is not allowed."""
        number = parse_number(text)
        return number if number is not None and self.low <= number <= self.high else None

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


SettingKind = Choice | Number


def kinds(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, SettingKind]:
    """The settings from the `[settings.*]` tables of an `app.toml`, in order."""
    return {name: _kind(table) for name, table in tables.items()}


def paths(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The names of settings by the `path` in their tables, if any."""
    return {table["path"]: name for name, table in tables.items() if "path" in table}


def _kind(table: Mapping[str, Any]) -> SettingKind:
    declared = table.get("advice")
    advice = Advice(tuple(declared["tries"]), declared["takes"]) if declared else None
    if "values" in table:
        return Choice(tuple(table["values"]), table["default"], advice)
    return Number(table["min"], table["max"], table["default"], advice)


def defines(settings: Mapping[str, Value]) -> dict[str, str]:
    """The C macros of settings: APP_PAGES=64 for a number, APP_MODE_QUAD=1 for a word."""
    macros = {}
    for name, value in settings.items():
        macro = f"APP_{_macro_name(name)}"
        if isinstance(value, str):
            macros[f"{macro}_{_macro_name(value)}"] = "1"
        else:
            macros[macro] = str(int(value))
    return macros


def _macro_name(name: str) -> str:
    return name.upper().replace("-", "_")
