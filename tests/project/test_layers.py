"""The engine's modules use each other in one direction: no circles, and nothing up their list."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT

SOURCES = ROOT / "engine" / "src"
# docs/architecture.md says what is in them: a module may use those after it.
MODULES = [
    "board",
    "machine",
    "devices",
    "disassembly",
    "isa",
    "cpu",
    "semihosting",
    "core",
    "bus",
    "memory",
    "host",
    "wires",
    "observe",
    "wire",
    "order",
    "event_rates",
    "event",
    "clocks",
    "inputs",
    "activity",
    "pipe",
    "serial",
    "polling",
    "faults",
    "encoding",
    "elf",
    "host_image",
    "dt",
    "one_line",
    "patience",
    "time",
    "state",
]
TESTS = re.compile(r"#\[cfg\(test\)\]\nmod \w+ \{.*", re.DOTALL)
USE = re.compile(r"\bcrate::(?:(\w+)|\{)")


def used_by_module() -> dict[str, set[tuple[str, Path]]]:
    """Names that each module of the engine uses of others outside its tests, with the file."""
    used: dict[str, set[tuple[str, Path]]] = {}
    for path in SOURCES.rglob("*.rs"):
        within = path.relative_to(SOURCES)
        module = within.parts[0].removesuffix(".rs")
        # tiers is part of no build but the tests'
        if module in ("lib", "tiers") or "tests" in within.with_suffix("").parts:
            continue
        code = TESTS.sub("", path.read_text(encoding="utf-8"))
        code = re.sub(r"//.*", "", code)
        names = {match[1] for match in USE.finditer(code)}
        assert None not in names, f"{within}: crate::{{...}}: write a line for each module"
        used.setdefault(module, set()).update((name, within) for name in names - {module})
    return used


def test_modules_go_down_the_list() -> None:
    used = used_by_module()
    assert used.keys() == set(MODULES)
    rank = {module: rank for rank, module in enumerate(MODULES)}
    up = [
        f"{path} uses {other}"
        for module, others in used.items()
        for other, path in others
        if rank[other] < rank[module]
    ]
    assert up == []
