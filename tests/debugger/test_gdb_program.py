"""A client that has no file of the program reads it from the run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import rsp
from debugged import TARGETS
from gdb_sessions import LIMIT, gdb_for, session
from test_gdb import what_counts

RV32 = TARGETS["rv32"]


@pytest.mark.parametrize("name", ["rv32", "m4"])
def test_symbols_come_from_the_run(tmp_path: Path, name: str) -> None:
    target = TARGETS[name]
    if gdb_for(target) is None:
        pytest.skip("no GDB for this core")
    plain = target.load().run(limit=LIMIT).to_dict()
    commands = (f"break {target.function}", "continue", "info symbol $pc", "delete", "detach")
    held = session(target, tmp_path, *commands, has_file=False)
    assert re.search(rf"Breakpoint 1(\.1)?, {target.function} \(", held.output), held.output
    assert re.search(rf"{target.function} \+ \d+ in section", held.output), held.output
    assert what_counts(held.result) == what_counts(plain)


def test_there_is_one_file_and_it_is_read_only(tmp_path: Path) -> None:
    elf = RV32.elf.read_bytes()
    name = b"/program.elf".hex()
    with rsp.served(tmp_path, RV32.elf, "--board", RV32.board, "-q") as (_, client):
        assert client.ask("qXfer:exec-file:read::0,100") == "m/program.elf"
        assert client.ask("qXfer:exec-file:read::c,100") == "l"
        assert client.ask(f"vFile:open:{b'/etc/passwd'.hex()},0,0") == "F-1,02"
        assert client.ask(f"vFile:open:{name},601,1ff") == "F-1,0d"
        assert client.ask("vFile:pread:7,10,0") == "F-1,09"
        handle = client.ask(f"vFile:open:{name},0,0").removeprefix("F")
        assert client.ask(f"vFile:pread:{handle},4,0") == "F04;\x7fELF"
        assert client.ask(f"vFile:pread:{handle},4,{len(elf):x}") == "F00;"
        assert client.ask(f"vFile:pread:{handle},4,ffffffffffffffff") == "F00;"
        assert client.ask(f"vFile:close:{handle}") == "F0"
