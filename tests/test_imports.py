"""Imports of the package go one way: no module imports itself by others, rooms are in layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from conftest import ROOT

# The engine, which is no module of Python.
ENGINE = "_engine"
# Each may import from those before it, and from its own.
LAYERS = (
    ("errors", "resources"),
    ("units",),
    ("host",),
    ("statuses", "disks"),
    ("board",),
    ("firmware",),
    ("bench",),
    ("experiments",),
    ("report", "ipc"),
    ("cli",),
    ("__init__",),
    ("__main__",),
)


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by dotted name; a package's own is `name.__init__`."""
    return {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): path
        for path in package.rglob("*.py")
    }


def imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """What a module imports of the package: in functions and for type checkers only, too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            for alias in node.names:
                if alias.name != ENGINE:
                    whole = _module(f"{node.module}.{alias.name}", known)
                    yield from filter(None, [whole or _module(str(node.module), known)])
        elif isinstance(node, ast.Import):
            yield from filter(None, (_module(alias.name, known) for alias in node.names))


def _module(name: str, known: Mapping[str, Path]) -> str | None:
    """The module that a name means, a folder's own among them; None if none of ours."""
    return next((one for one in (name, f"{name}.__init__") if one in known), None)


def graph(package: Path) -> dict[str, set[str]]:
    """The modules of a package with what each imports of it."""
    known = modules(package)
    return {name: set(imported(path, known)) for name, path in known.items()}


def room(name: str) -> str:
    """The folder of a module, or the module itself if it is beside the folders."""
    return name.split(".")[1]


def test_no_module_imports_itself_by_others() -> None:
    tuple(TopologicalSorter(graph(ROOT / "cyclescope")).static_order())


def test_a_room_imports_only_from_those_below_it() -> None:
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    found = graph(ROOT / "cyclescope")
    assert {room(name) for name in found} == level.keys()
    wrong = [
        f"{name} imports {other}"
        for name, others in found.items()
        for other in others
        if room(name) != room(other) and level[room(name)] <= level[room(other)]
    ]
    assert not wrong


@pytest.mark.parametrize(
    "source",
    [
        "from made.other import VALUE",
        "import made.other",
        "from made import other",
        "def late():\n    from made import other\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.other import VALUE\n",
    ],
)
def test_a_circle_is_found(tmp_path: Path, source: str) -> None:
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "first.py").write_text(source)
    (package / "other.py").write_text("VALUE = 1\n")
    tuple(TopologicalSorter(graph(package)).static_order())
    (package / "other.py").write_text("from made.first import late\nVALUE = 1\n")
    with pytest.raises(CycleError):
        tuple(TopologicalSorter(graph(package)).static_order())
