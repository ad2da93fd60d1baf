"""Programs that use the QSPI controller of the SAMA5D2 in its other ways than code in place."""

from __future__ import annotations

import json

import pytest
from conftest import Command
from sama5d2 import BOARD, build

from cyclescope.board.results import Value

NO_XIP: dict[str, Value] = {"continuous_read": "off"}


def test_the_flash_is_identified_in_spi_mode(cyclescope: Command) -> None:
    done = cyclescope("run", build("spi_mode", NO_XIP), "--board", BOARD)
    assert (done.status, done.stderr) == (0, "")
    ways = ("polling", "mode 3", "halfwords", "interrupts", "DMA")
    assert done.stdout.splitlines()[:5] == [f"{way}: 20 ba 18" for way in ways]


def test_scrambling_status_bytes_and_write_protection(cyclescope: Command) -> None:
    done = cyclescope("run", build("memory_mode", NO_XIP), "--board", BOARD)
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines()[:7] == [
        "busy: yes",
        "same key: 4 equal, two the same",
        "other key: 0 equal, two different",
        "without the device's value: 0 equal, two different",
        "unscrambled: 0 equal, two different",
        # WPVS, and the offset of QSPI_SCR in WPVSRC
        "violation 00002001, then 00000000, SCR kept",
        "violation 00000000, SCR written",
    ]
    said = "qspi0: the register at 0x20 is write-protected (WPMR): a write to it had no effect"
    (note,) = done.stderr.splitlines()
    assert note.startswith(f"cyclescope: note: {said} (first at ")


@pytest.mark.parametrize("name", ["spi_mode", "memory_mode"])
def test_skipped_polls_change_no_result(cyclescope: Command, name: str) -> None:
    elf = build(name, NO_XIP)
    skipped, run_all = (
        json.loads(cyclescope("run", elf, "--board", BOARD, option, "--json", "-").stdout)
        for option in ("--skip-polling", "--no-skip-polling")
    )
    assert skipped == run_all
