"""The DAC of STM32s, by a program: a sine by DMA, a code at each update of TIM6."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware


@pytest.mark.parametrize(
    ("name", "dac", "macros", "step_ns"),
    [
        # 160 clocks of 16 MHz, and of 4 MHz
        ("stm32f4-disco", "dac", {}, 10_000),
        ("nucleo-l4r5zi", "dac1", {"STM32L4": "1"}, 40_000),
    ],
)
def test_a_sine_comes_by_dma_at_each_update_of_a_timer(
    name: str, dac: str, macros: dict[str, str], step_ns: int, tmp_path: Path
) -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "dac_sine.c"
    elf = firmware.build(firmware.board_recipe("dac_sine", name, [source], macros))
    board = package.Board(name, {f"{dac}.cyclescope,prints-codes": True}).load(elf)
    vcd = tmp_path / "dac.vcd"
    done = board.run("1s", waves=vcd)
    assert (done.exit_code, done.notes, done.console) == (0, (), "status 0\n")
    rows = [line.split(" ") for line in done.streams[dac].splitlines()]
    assert {channel for _, channel, _, _ in rows} == {"1"}
    codes = [int(code) for _, _, code, _ in rows]
    sine = [round(2047.5 + 2047.5 * math.sin(2 * math.pi * step / 32)) for step in range(64)]
    # the first trigger finds the register empty, and asks for the first code
    assert all(abs(code - right) <= 2 for code, right in zip(codes, sine, strict=False)), codes
    assert len(codes) >= 95
    times = [int(at.replace(".", "")) for at, *_ in rows]
    assert {later - at for at, later in itertools.pairwise(times)} == {step_ns}
    assert rows[8][3] == "3.299194"
    text = vcd.read_text()
    (code,) = re.findall(r"\$var wire 12 (\S+) out1 \$end", text)
    values = [
        int(bits, 2) for bits in re.findall(rf"^b([01]{{12}}) {re.escape(code)}$", text, re.M)
    ]
    assert values == [0, *codes]
    fst = tmp_path / "dac.fst"
    board.run("1s", waves=fst, vcd_signals=[f"{dac}.out1*"])
    assert fst.stat().st_size > 100
