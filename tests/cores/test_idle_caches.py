"""Caches that no memory can use: a warning for each core that has some, and for none else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Command

import cyclescope as package
from cyclescope import resources

Change = Callable[..., Path]
MARK = "cyclescope,cacheable;"
CORE = "never keep anything: no memory below it is marked cyclescope,cacheable"


@pytest.fixture
def unmarked(tmp_path: Path) -> Callable[[str], Path]:
    """A shipped board on which no memory is marked."""

    def make(name: str) -> Path:
        for part in resources.boards().glob("*.dts*"):
            text = part.read_text(encoding="utf-8").replace(MARK, "")
            (tmp_path / part.name).write_text(text, encoding="utf-8")
        return tmp_path / f"{name}.dts"

    return make


@pytest.mark.parametrize(
    ("name", "cores"),
    [
        ("kc705-axi-quad-spi", ["cpu0"]),  # MicroBlaze V
        ("nios2-mmc", ["cpu0"]),
        ("sama5d2-xplained", ["cpu0"]),  # Cortex-A5
        ("ben-nanonote", ["cpu0"]),  # XBurst
        ("stm32mp157c-dk2", ["cpu0"]),  # Cortex-A7; its Cortex-M4 has no cache
        ("picosoc-hx8k", []),  # PicoRV32
        ("minimal-armv7m", []),  # Cortex-M4
    ],
)
def test_each_core_type_with_caches_needs_a_marked_memory(
    unmarked: Callable[[str], Path], name: str, cores: list[str]
) -> None:
    warnings = package.Board(unmarked(name)).warnings
    matches = [re.match(r"\S+\.dtsi?:\d+: (\w+): its caches", warning) for warning in warnings]
    assert [match[1] for match in matches if match] == cores
    assert all(CORE in warning for warning, match in zip(warnings, matches, strict=True) if match)
    second_level = [warning for warning in warnings if warning.startswith("the second-level cache")]
    assert len(second_level) == (name in ("stm32mp157c-dk2", "sama5d2-xplained"))


def test_without_caches_nothing_has_to_be_marked(changed_board: Change) -> None:
    off = "&cpu0 { i-cache-size = <0>; d-cache-size = <0>; };\n"
    board = package.Board(changed_board(f"&ddr {{ /delete-property/ {MARK[:-1]}; }};\n{off}"))
    assert board.warnings == ()


def test_one_cache_is_reported_as_one(changed_board: Change) -> None:
    source = f"&ddr {{ /delete-property/ {MARK[:-1]}; }};\n&cpu0 {{ i-cache-size = <0>; }};"
    (warning,) = package.Board(changed_board(source)).warnings
    assert "cpu0: its cache never keeps anything" in warning


def test_tightly_coupled_memory_does_not_count_as_cacheable(changed_board: Change) -> None:
    source = f"&ddr {{ /delete-property/ {MARK[:-1]}; }};\n&lmb {{ {MARK} }};"
    (warning,) = package.Board(changed_board(source)).warnings
    assert CORE in warning


def test_a_memory_without_the_mark_is_never_kept(
    cyclescope: Command, changed_board: Change, program: Callable[[str], Path]
) -> None:
    board = changed_board(f"&ddr {{ /delete-property/ {MARK[:-1]}; }};")
    done = cyclescope("run", program("exit_main"), "--board", board)
    assert "cpu0: its caches never keep anything" in done.stderr
    assert "instruction cache" not in done.stdout
    result = package.Board(board).load(program("exit_main")).run()
    assert result.counters["cpu0.i-cache.fills"] == result.counters["cpu0.d-cache.fills"] == 0
