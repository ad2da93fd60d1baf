"""Ctrl-C stops a simulation at once, without a traceback, and keeps what was finished."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from conftest import BOARD, NEEDS_DISK_TOOLS


def interrupted(
    folder: Path, arguments: list[str], ready: Callable[[str], bool], stream: str
) -> tuple[int, str, str]:
    """Start a command, send it SIGINT as soon as a line of a stream says so; its end."""
    command = subprocess.Popen(
        [sys.executable, "-m", "cyclescope", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    seen = []
    for line in getattr(command, stream):
        seen.append(line)
        if ready(line):
            break
    time.sleep(0.2)
    command.send_signal(signal.SIGINT)
    stdout, stderr = command.communicate(timeout=20)
    before = "".join(seen)
    if stream == "stdout":
        stdout = before + stdout
    else:
        stderr = before + stderr
    return command.returncode, stdout, stderr


def test_a_run_is_interrupted_at_once(program: Callable[[str], Path], tmp_path: Path) -> None:
    arguments = ["run", str(program("endless_loop")), "--board", BOARD, "--limit", "100000s"]
    status, stdout, stderr = interrupted(
        tmp_path, arguments, lambda line: line == "looping\n", "stdout"
    )
    assert status == 130
    assert stdout == "looping\n"
    assert stderr.strip() == "cyclescope: error: interrupted"


def test_an_interrupted_bench_keeps_what_was_finished(tmp_path: Path) -> None:
    arguments = ["bench", "--jobs", "1", "--set", "quad-spi-throughput.pages=2"]
    status, _, stderr = interrupted(tmp_path, arguments, lambda line: "[2/" in line, "stderr")
    assert "Traceback" not in stderr
    rows = json.loads((tmp_path / "results" / "results.json").read_text())
    assert status == 130
    assert len(rows) >= 4


@NEEDS_DISK_TOOLS
def test_an_interrupted_bench_leaves_no_disk_behind(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    # the copies are made once the firmware is built
    sets = ("--set", "fat_write.transfer=768")
    command = subprocess.Popen(
        [sys.executable, "-m", "cyclescope", "bench", "fat-write", *sets],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(scratch)},
    )
    until = time.monotonic() + 120
    while not list(scratch.glob("*/disk.img")) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(scratch.glob("*/disk.img"))
    command.send_signal(signal.SIGINT)
    _, stderr = command.communicate(timeout=60)
    assert (command.returncode, stderr.strip()) == (130, "cyclescope: error: interrupted")
    assert list(scratch.iterdir()) == []
