"""`cyclescope doctor`: checks that the programs and libraries of Cyclescope are installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module, metadata
from pathlib import Path

import click
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cyclescope import resources
from cyclescope.cli import json_output
from cyclescope.cli.json_output import json_option
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.columns import Fitted
from cyclescope.errors import complain
from cyclescope.host import programs
from cyclescope.host.programs import Program
from cyclescope.statuses import Status
from cyclescope.units import count

_LEAST_PYTHON = (3, 11)
# The package's required libraries, by their names in the package index.
_MODULES = {
    "bincopy": "bincopy",
    "click": "click",
    "devicetree": "devicetree",
    "Jinja2": "jinja2",
    "matplotlib": "matplotlib",
    "protobuf": "google.protobuf",
    "pyelftools": "elftools",
    "pyserial": "serial",
    "rich": "rich",
    "ziglang": "ziglang",
}
_OF_MODULES = {"ziglang": "the compiler of the experiments' firmware, for all instruction sets"}
# Each with its use, and the extra of the package that brings it.
_OF_EXTRAS = {
    "pandas": ("tables of results as data frames", "pandas"),
    "polars": ("profiles as data frames, for those who prefer it", "polars"),
    "pyarrow": ("rows of sweeps as Parquet", "sweeps"),
    "SALib": ("which setting matters how much: Sobol's indices of a sweep", "sweeps"),
    "scipy": ("fits of boards to measured numbers, and what SALib calculates with", "fit"),
    "distributed": ("sweeps on a Dask cluster", "dask"),
}


@dataclass(frozen=True)
class Finding:
    """A program or library that Cyclescope uses: whether it is installed, and how to install it.

    `version` is empty if it has none; `use` is its purpose.
    """

    name: str
    required: bool
    present: bool
    version: str
    use: str
    remedy: str


@click.command("doctor")
@json_option
def doctor_command(json_file: str | None) -> int:
    """Check the installation, and show what is missing.

    The exit status is 0 if everything that is required is installed.
    """
    found = [*_required(), *_optional()]
    missing = [one for one in found if one.required and not one.present]
    if json_file is not None:
        plain = [asdict(one) for one in found]
        json_output.write(json_file, {"ok": not missing, "findings": plain})
    else:
        tables.console().print(_screen(found))
    for one in missing:
        complain(f"{one.name} is required: {one.remedy}")
    return Status.FAILED if missing else Status.SUCCESS


def _required() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    is_new = sys.version_info >= _LEAST_PYTHON
    where = f"{python}, {sys.executable}"
    yield Finding("Python", True, is_new, where, "the package", "Python 3.11 or newer")
    yield _checked("engine", "the simulator itself", _engine, "make build, or pip install .")
    yield _checked("boards", "what comes with the package", _boards, "install the package anew")
    yield _checked("cache", "firmware that was built", _cache, "set CYCLESCOPE_CACHE to a folder")
    for name, module in _MODULES.items():
        use = _OF_MODULES.get(name, "")
        yield _checked(name, use, partial(_module, module, name), f"pip install {name}")


def _optional() -> list[Finding]:
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(_program, programs.OPTIONAL))
    return [*found, *map(_of_extra, _OF_EXTRAS)]


def _of_extra(name: str) -> Finding:
    """A library from an extra of the package."""
    use, extra = _OF_EXTRAS[name]
    found = _checked(name, use, lambda: _module(name, name), "", required=False)
    return Finding(**asdict(found) | {"remedy": f"pip install 'cyclescope[{extra}]'"})


def _program(program: Program) -> Finding:
    path = programs.find(program.name)
    version = programs.version(program, path) if path else ""
    return Finding(program.name, False, path is not None, version, program.use, program.remedy)


def _checked(
    name: str, use: str, version: Callable[[], str], remedy: str, required: bool = True
) -> Finding:
    """A finding that counts as installed if its version can be read."""
    try:
        return Finding(name, required, True, version(), use, remedy)
    except Exception as error:
        reason = " ".join(f"{error}".split())
        return Finding(name, required, False, "", use, f"{remedy} ({reason})")


def _engine() -> str:
    from cyclescope import _engine

    built = Path(str(_engine.__file__))
    models = count(len(_engine.bindings()), "model")
    return f"{metadata.version('cyclescope')}, {models}, {built.name}"


def _boards() -> str:
    from cyclescope.board import shipped_boards

    names = shipped_boards()
    if not names:
        raise FileNotFoundError(f"{resources.boards()}: the folder has no boards")
    return count(len(names), "board")


def _cache() -> str:
    """The cache's folder; it is made if it does not exist."""
    folder = resources.cache()
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / ".doctor"
    probe.touch()
    probe.unlink()
    return str(folder)


def _module(module: str, distribution: str) -> str:
    if module != "matplotlib":  # its import takes long, so only its version is read
        import_module(module)
    return metadata.version(distribution)


def _screen(found: list[Finding]) -> Group:
    lacking = [one for one in found if not one.required and not one.present]
    parts = [
        _table("required", [one for one in found if one.required]),
        _table("optional", [one for one in found if not one.required and one.present]),
    ]
    if lacking:
        parts.append(_missing(lacking))
    return Group(*parts)


def _table(title: str, found: list[Finding]) -> Table:
    table = Fitted(title=title, title_justify="left")
    for heading in ("what", "version", "for"):
        table.add_column(heading, overflow="fold")
    for one in found:
        table.add_row(*map(Text, (one.name, one.version or _state(one), one.use)))
    return table


def _state(one: Finding) -> str:
    return "is there" if one.present else "missing"


def _missing(found: list[Finding]) -> Table:
    table = Fitted(title="optional, not installed", title_justify="left")
    for heading in ("what", "would give", "how to install"):
        table.add_column(heading, overflow="fold")
    for one in found:
        table.add_row(*map(Text, (one.name, one.use, one.remedy)))
    return table
