"""The words that a firmware writes to a `cyclescope,result-port`: in Python, as JSON, on screen."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Command
from elf32 import DDR, Segment, executable

import cyclescope as package

PORT = """
/ {
	user0: results@3000000 {
		compatible = "cyclescope,result-port";
		reg = <0x03000000 0x01000000>;
		clocks = <&sys_clk>;
		cyclescope,read-cycles = <1>;
		cyclescope,write-cycles = <1>;
		cyclescope,sources =
			"cyclescope,read-cycles, cyclescope,write-cycles: assumed 0 to 3: a wait cycle";
	};
};
"""

Change = Callable[[str], Path]


def counts_to(words: int) -> bytes:
    """A program that gives the numbers from 0 up as results, then ends the run."""
    return executable(
        Segment(
            DDR,
            struct.pack(
                "<8I",
                0x030002B7,  # lui  t0, 0x03000
                0x00000313,  # li   t1, 0
                words << 20 | 0x00000393,  # li   t2, words
                0x0062A023,  # 1: sw t1, 0(t0)
                0x00130313,  # addi t1, t1, 1
                0xFE731CE3,  # bne  t1, t2, 1b
                0x0062A223,  # sw   t1, 4(t0): ends the run
                0x0000006F,  # j    .
            ),
        )
    )


def test_the_words_are_in_the_result(changed_board: Change) -> None:
    result = package.Board(changed_board(PORT)).load(counts_to(5)).run(limit="1ms")
    assert (result.outcome, result.exit_code) == ("exit", 0)
    assert result.results == {"user0": (0, 1, 2, 3, 4)}
    assert result.counters["user0.results"] == 5


def test_a_port_is_in_the_result_before_it_has_any_word(changed_board: Change) -> None:
    result = package.Board(changed_board(PORT)).load(counts_to(1)).run(limit="1ns")
    assert result.outcome == "limit"
    assert result.results == {"user0": ()}


@pytest.mark.parametrize("words", [1, 6, 128, 300])
def test_json_has_all_words_and_the_summary_the_first(
    cyclescope: Command, changed_board: Change, tmp_path: Path, words: int
) -> None:
    (tmp_path / "count.elf").write_bytes(counts_to(words))
    done = cyclescope("run", "count.elf", "--board", changed_board(PORT), "--json", "result.json")
    assert done.status == 0, done.stderr
    assert json.loads((tmp_path / "result.json").read_text())["results"] == {
        "user0": list(range(words))
    }
    lines = done.stdout.splitlines()
    heading = lines.index(f"results of user0: {words} {'word' if words == 1 else 'words'}")
    shown = [line for line in lines[heading + 1 :] if line.startswith("  0x")]
    listed = [int(word, 16) for line in shown for word in line.split()]
    assert listed == list(range(min(words, 128)))
    assert all(len(line.split()) <= 4 for line in shown)
    assert ("  ... 172 more; --json has them all" in lines) == (words == 300)
