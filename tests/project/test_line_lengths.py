"""No line of a source is longer than 120 columns, so that two files fit beside each other."""

import subprocess

import pytest
from conftest import ROOT

COLUMNS = 120
SOURCES = ["*.rs", "*.py", "*.c", "*.h", "*.S", "*.inc", "*.ld", "*.dts", "*.dtsi", "Makefile"]
# A program for the Cortex-M4 is part of another with its line table, whose size decides where in
# memory other things are: breaking this line changes cycles of ipc_modes.
LONGER = {"firmware/drivers/stm32_mdma.c": 1}


def is_property_string(path: str, line: str) -> bool:
    """A string of a devicetree can't be continued on the next line."""
    return path.endswith((".dts", ".dtsi")) and line.lstrip().startswith('"')


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="asks git which files are sources")
def test_lines_fit_120_columns() -> None:
    command = ["git", "ls-files", "-z", "--", *SOURCES]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    paths = listed.strip("\0").split("\0")
    longer: dict[str, list[int]] = {}
    for path in paths:
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > COLUMNS and not is_property_string(path, line):
                longer.setdefault(path, []).append(number)
    assert len(paths) > 100
    assert {path: len(numbers) for path, numbers in longer.items()} == LONGER, longer
