"""Imports within the package go one way: no circles, and none up the list of its parts."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

from conftest import ROOT

# docs/architecture.md has the same list: a part may import those after it.
PARTS = ["testing", "cli", "report", "advising", "fitting", "sweeps", "ipc", "experiments"]
PARTS += ["suites", "bench", "comparing", "linux", "firmware", "board", "profile", "devices"]
PARTS += ["disks", "host"]
# The package's face and `python -m` stand above all parts; other modules beside the parts (errors,
# units), which any part may import, below them.
ABOVE = ["cyclescope", "cyclescope.__main__"]


def modules() -> dict[str, Path]:
    """All modules of the package by name."""
    found = {}
    for path in (ROOT / "cyclescope").rglob("*.py"):
        names = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules that a module imports, wherever in it and for whatever purpose."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    names = [name for name in names if not name.startswith("cyclescope._engine")]
    # an imported name may be a module, or a name in one
    return {name if name in known else name.rpartition(".")[0] for name in names} & known.keys()


def rank(name: str, path: Path) -> int:
    """The depth of a module's layer."""
    if name in ABOVE:
        return -1
    part = name.split(".")[1]
    if part in PARTS:
        return PARTS.index(part)
    assert path.parent.name == "cyclescope", f"{part}/ is not in the list of parts"
    return len(PARTS)


def test_imports_have_no_circles_and_go_down_the_list() -> None:
    known = modules()
    graph = {name: imported(path, known) for name, path in known.items()}
    TopologicalSorter(graph).prepare()
    ranks = {name: rank(name, path) for name, path in known.items()}
    up = [
        (name, other)
        for name, others in graph.items()
        for other in others
        if ranks[name] > ranks[other]
    ]
    assert up == []
