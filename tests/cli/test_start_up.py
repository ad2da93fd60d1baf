"""A run does not import modules that only other commands use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import cyclescope as package
from cyclescope import firmware

BOARD = "kc705-axi-quad-spi"
# Each takes longer to import than the program `hello` takes to run.
HEAVY = {
    "elftools",
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "serial",
    "ziglang",
    "cyclescope.bench",
    "cyclescope.disks",
    "cyclescope.experiments",
    "cyclescope.firmware",
    "cyclescope.devices",
    "cyclescope.ipc",
    "cyclescope.report",
    "rich.markdown",
    "rich.progress",
    "rich.syntax",
}
# Runs what it is given, then names the modules that are there.
IMPORTED = """
import json, sys
try:
    exec(sys.argv.pop(1))
except SystemExit as left:
    assert not left.code, left.code
print(json.dumps(sorted(sys.modules)))
"""


def imported(code: str, *arguments: str) -> set[str]:
    """The modules that a fresh interpreter has after some code."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, code, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_a_run_imports_only_what_it_uses() -> None:
    elf = firmware.build_app("hello", BOARD, {})
    modules = imported("from cyclescope.cli import main; main()", "run", str(elf), "--board", BOARD)
    assert "cyclescope.cli.commands.run" in modules
    assert modules & HEAVY == set()


def test_the_heavy_modules_are_called_what_they_are() -> None:
    # the report needs the modules that a run does not: a name without a module proves nothing
    code = (
        "import cyclescope.cli.commands.bench, cyclescope.cli.commands.ipc, cyclescope.report.page"
    )
    code += ", cyclescope.devices"
    assert HEAVY - imported(code) <= {"pandas", "serial", "rich.markdown", "rich.syntax"}


def test_the_package_imports_its_parts_when_they_are_asked_for() -> None:
    assert imported("import cyclescope") & {*HEAVY, "cyclescope.board", "rich"} == set()


@pytest.mark.parametrize("name", package.__all__)
def test_all_that_the_package_names_is_there(name: str) -> None:
    assert getattr(package, name).__name__ == name


def test_a_name_that_the_package_lacks_is_an_error() -> None:
    with pytest.raises(AttributeError, match="'cyclescope' has no attribute 'Bord'"):
        package.Bord  # noqa: B018


def test_each_module_of_a_command_is_listed(cyclescope_help: str) -> None:
    folder = Path(package.__file__).parent / "cli" / "commands"
    names = [path.stem for path in folder.glob("[a-z]*.py")]
    # parts of `bench`
    commands = [name.replace("_", "-") for name in names if name not in ("sensitivity", "suite")]
    assert "run" in commands
    assert all(f"\n  {name} " in cyclescope_help for name in commands)


@pytest.fixture
def cyclescope_help() -> str:
    """The output of `cyclescope --help`."""
    command = [sys.executable, "-m", "cyclescope", "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
