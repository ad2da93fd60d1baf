"""The simulator's crates, and their modules, use each other in one direction: nothing up a list."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

FOLDER = ROOT / "engine"
# docs/architecture.md says what is in them: a crate may use those after it.
CRATES = ["machine", "devices", "engine", "derive"]
# Modules of each crate, likewise. Of the machine, all that is not the board is one.
MODULES = {
    "machine": ["board", "machine"],
    "engine": [
        "disassembly",
        "isa",
        "cpu",
        "semihosting",
        "core",
        "bus",
        "memory",
        "host",
        "pins",
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
    ],
}
TESTS = re.compile(r"#\[cfg\(test\)\]\nmod \w+ \{.*", re.DOTALL)
USE = re.compile(r"\bcrate::(?:(\w+)|\{([^{}]*)\}|(\{))")


def used_by_module(crate: str) -> dict[str, set[tuple[str, Path]]]:
    """Names that each module of a crate uses of others outside its tests, with the file."""
    modules = MODULES[crate]
    rest = crate if crate in modules else None
    used: dict[str, set[tuple[str, Path]]] = {}
    sources = FOLDER / crate / "src"
    for path in sources.rglob("*.rs"):
        within = path.relative_to(sources)
        module = within.parts[0].removesuffix(".rs")
        # tiers is part of no build but the tests'
        if (module in ("lib", "tiers") and rest is None) or "tests" in within.with_suffix("").parts:
            continue
        code = TESTS.sub("", path.read_text(encoding="utf-8"))
        code = re.sub(r"//.*", "", code)
        uses = list(USE.finditer(code))
        names = {
            name for use in uses for name in re.findall(r"(?:^|,)\s*(\w+)", use[1] or use[2] or "")
        }
        assert not any(use[3] for use in uses), (
            f"{within}: crate::{{...{{: write a line for each module"
        )
        if rest is not None:
            module, *names = (
                name if name in modules else rest for name in (module, *sorted(names))
            )
        used.setdefault(module, set()).update((name, within) for name in {*names} - {module})
    return used


@pytest.mark.parametrize("crate", MODULES)
def test_modules_go_down_the_list(crate: str) -> None:
    used = used_by_module(crate)
    assert used.keys() == set(MODULES[crate])
    rank = {module: rank for rank, module in enumerate(MODULES[crate])}
    up = [
        f"{path} uses {other}"
        for module, others in used.items()
        for other, path in others
        if rank[other] < rank[module]
    ]
    assert up == []


def test_crates_go_down_the_list() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/Cargo.toml")} == set(CRATES)
    for rank, crate in enumerate(CRATES):
        manifest = tomllib.loads((FOLDER / crate / "Cargo.toml").read_text(encoding="utf-8"))
        kinds = [manifest.get("dependencies", {}), manifest.get("dev-dependencies", {})]
        names = {name.removeprefix("cyclescope-") for kind in kinds for name in kind}
        assert names & {*CRATES, "debugger", "bindings"} <= set(CRATES[rank + 1 :]), crate
