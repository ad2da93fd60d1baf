"""GDB itself at a run's port, in batch mode."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debugged import Target

from cyclescope.host import debuggers

LIMIT = "3s"
ISAS = {"rv32": "riscv", "picorv32": "riscv", "mips": "mips"}


def gdb_for(target: Target) -> str | None:
    return debuggers.find(ISAS.get(target.name, "arm"))


@dataclass(frozen=True)
class Session:
    """The output of GDB, the output of the run, and its result."""

    output: str
    status: int
    console: str
    errors: str
    result: dict[str, Any]


def session(
    target: Target, folder: Path, *commands: str, gdb: str | None = None, has_file: bool = True
) -> Session:
    """A run of a target held by GDB, which does these commands and ends.

    GDB has the program's file, or reads it from the run.
    """
    run = [sys.executable, "-m", "cyclescope", "run", str(target.elf), "--board", target.board]
    run += ["--limit", LIMIT, "--json", "held.json", "--gdb=127.0.0.1:0", "--exit-status=ran"]
    command = subprocess.Popen(
        run, cwd=folder, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True
    )
    try:
        assert command.stderr is not None
        line = command.stderr.readline()
        assert "waiting for a debugger" in line, line
        port = line.rpartition(":")[2].strip()
        script = folder / "session.gdb"
        begin = ["set pagination off", "set confirm off", "set width 0", "set style enabled off"]
        file = [f"file {target.elf}"] if has_file else []
        lines = [*begin, *file, f"target extended-remote localhost:{port}"]
        script.write_text("\n".join([*lines, *commands]) + "\n")
        done = subprocess.run(
            [gdb or gdb_for(target) or "gdb", "--batch", "-nx", "-x", str(script)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        console, errors = command.communicate(timeout=300)
    finally:
        if command.poll() is None:
            command.kill()
            command.communicate()
    held = folder / "held.json"
    result = json.loads(held.read_text()) if held.exists() else {}
    return Session(done.stdout + done.stderr, command.returncode, console, errors, result)
