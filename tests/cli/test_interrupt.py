"""Results up to the end of a run are kept, whatever ends it (Ctrl-C, SIGTERM, SIGHUP)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, ROOT
from tiers import ALL, mostly_long

import cyclescope as package
from cyclescope import experiments, firmware, resources
from cyclescope.bench import costs, planning

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
LINE = "cyclescope: error: interrupted"

Program = Callable[[str], Path]


def started(
    folder: Path, *arguments: object, before: tuple[str, ...] = (), **options: object
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*before, sys.executable, "-m", "cyclescope", *map(str, arguments)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def interrupted(
    command: subprocess.Popen[str], number: int, ready: Callable[[str], bool], stream: str
) -> tuple[int, str, str]:
    """Send a command a signal as soon as a line of a stream says so; its end."""
    seen = []
    for line in getattr(command, stream):
        seen.append(line)
        if ready(line):
            break
    time.sleep(0.2)
    command.send_signal(number)
    # a guard against hangs on a busy host: it takes a fraction of a second
    stdout, stderr = command.communicate(timeout=60)
    before = "".join(seen)
    if stream == "stdout":
        stdout = before + stdout
    else:
        stderr = before + stderr
    return command.returncode, stdout, stderr


# ---- run


@pytest.fixture(scope="module")
def writes_flash() -> Path:
    """A program that writes its flash, says so and goes on without end."""
    source = ROOT / "tests" / "firmware" / "flash_readback.c"
    recipe = firmware.board_recipe("goes_on", BOARD, [source], macros={"GOES_ON": "1"})
    return firmware.build(recipe)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_run_that_is_stopped_keeps_all(writes_flash: Path, tmp_path: Path, number: int) -> None:
    options = ("--json", "out.json", "--set", "flash0.cyclescope,image=f.bin")
    command = started(
        tmp_path,
        "run",
        writes_flash,
        "--board",
        BOARD,
        "--limit",
        "100000s",
        *options,
        "--section",
        "main",
        "--vcd",
        "out.vcd",
        "--vcd-timescale",
        "1ps",
    )
    status, stdout, stderr = interrupted(
        command, number, lambda line: "read back" in line, "stdout"
    )
    assert status == SIGNALS[signal.Signals(number)]
    name = signal.Signals(number).name
    assert stderr.startswith(f"{LINE} by {name} after ")
    assert stderr.count("\n") == 1
    assert stdout.startswith("FIFO ")
    assert "cycle stack of cpu0" in stdout
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["outcome"] == "interrupted"
    assert result["message"] in stderr
    assert sum(entry["ps"] for entry in result["cores"][0]["stack"]) == result["elapsed_ps"] > 0
    waves = (tmp_path / "out.vcd").read_text()
    assert waves.splitlines()[-1] == f"#{result['elapsed_ps']}"
    assert len((tmp_path / "f.bin").read_bytes()) == 16 * 2**20


def test_an_ignored_signal_stays_ignored(program: Program, tmp_path: Path) -> None:
    # as nohup does, and a shell for what is in the background
    ignored = (signal.SIGHUP, signal.SIGINT)
    command = started(
        tmp_path,
        "run",
        program("endless_loop"),
        "--board",
        BOARD,
        "--limit",
        "100000s",
        # not by a fork of this process, which may have mapped more than the host has memory
        before=("sh", "-c", 'trap "" HUP INT; exec "$@"', "sh"),
    )
    assert command.stdout
    assert command.stdout.readline() == "looping\n"
    for number in ignored:
        command.send_signal(number)
    time.sleep(0.5)
    assert command.poll() is None
    command.send_signal(signal.SIGTERM)
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == 143
    assert stderr.startswith(f"{LINE} by SIGTERM")


def fill_output(command: subprocess.Popen[str]) -> None:
    """Fill the pipe of a command's output from our side: its own writes wait."""
    with Path(f"/proc/{command.pid}/fd/1").open("wb", buffering=0) as pipe:
        os.set_blocking(pipe.fileno(), False)
        while pipe.write(bytes(65536)):
            pass


def test_a_second_signal_ends_at_once(writes_flash: Path, tmp_path: Path) -> None:
    command = started(
        tmp_path,
        "run",
        writes_flash,
        "--board",
        BOARD,
        "--limit",
        "100000s",
        "--json",
        "-",
        "--set",
        "flash0.cyclescope,image=f.bin",
    )
    assert command.stderr
    while "read back" not in command.stderr.readline():
        pass
    # nobody takes the JSON: saving does not end
    fill_output(command)
    command.send_signal(signal.SIGTERM)
    until = time.monotonic() + 60
    while not (tmp_path / "f.bin").exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    assert command.poll() is None
    command.send_signal(signal.SIGTERM)
    command.wait(60)
    assert command.returncode == 143
    assert "interrupted again: ended without saving the rest" in command.stderr.read()


def test_a_reader_that_takes_nothing_does_not_hold_up_the_end(
    program: Program, tmp_path: Path
) -> None:
    command = started(
        tmp_path,
        "run",
        program("endless_loop"),
        "--board",
        BOARD,
        "--limit",
        "100000s",
        "--json",
        "out.json",
    )
    # before the console's one line
    fill_output(command)
    time.sleep(3)
    command.send_signal(signal.SIGTERM)
    command.wait(60)
    assert command.returncode == 143
    assert json.loads((tmp_path / "out.json").read_text())["outcome"] == "interrupted"


def test_a_run_is_stopped_from_another_thread(program: Program) -> None:
    stop = package.Stop()
    assert not stop.requested
    timer = threading.Timer(0.3, stop.request)
    timer.start()
    result = package.Board(BOARD).load(program("endless_loop")).run(None, stop=stop)
    assert stop.requested
    assert (result.outcome, result.message) == ("interrupted", "stopped by the user")
    assert sum(entry.ps for entry in result.cores[0].stack) == result.elapsed_ps > 0
    # nothing begins any more
    assert package.Board(BOARD).load(program("exit_code")).run(stop=stop).elapsed_ps == 0


def test_a_sink_that_fails_loses_nothing(writes_flash: Path, tmp_path: Path) -> None:
    def fails(text: str) -> None:
        raise ZeroDivisionError(text)

    image, waves = tmp_path / "flash.bin", tmp_path / "waves.vcd"
    board = package.Board(BOARD, {"flash0.cyclescope,image": str(image)})
    with pytest.raises(ZeroDivisionError):
        board.load(writes_flash).run("100s", console=fails, vcd=waves)
    assert image.stat().st_size == 16 * 2**20
    assert waves.read_text().splitlines()[-1].startswith("#")


# ---- bench


def cache_of_one_order(folder: Path, first: str, other: str) -> Path:
    """The tests' cache, but for what runs took before: so that one experiment is the first."""
    shared = resources.cache()
    folder.mkdir()
    for name in ("firmware", "objects", "zig"):
        (shared / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(shared / name)
    jobs = planning.plan(experiments.select([first, other]), [])
    took_s = {costs.key(job): 1.0 if job.experiment.name == first else 0.1 for job in jobs}
    (folder / resources.bench_costs().name).write_text(json.dumps(took_s))
    return folder


@pytest.mark.parametrize(
    "number", mostly_long([signal.SIGINT, signal.SIGHUP], short={signal.SIGHUP})
)
def test_an_interrupted_bench_keeps_what_was_finished(tmp_path: Path, number: int) -> None:
    # one run, and many others after it
    names = ("m4-rules", "thread-metric")
    environment = os.environ | {
        "CYCLESCOPE_CACHE": str(cache_of_one_order(tmp_path / "cache", *names))
    }
    options = ("--jobs", "1", *(() if ALL else ("--no-profiles",)))
    command = started(tmp_path, "bench", *names, *options, env=environment)
    status, stdout, stderr = interrupted(
        command, number, lambda line: "m4-rules done" in line, "stderr"
    )
    assert "Traceback" not in stderr
    rows = json.loads((tmp_path / "results" / "results.json").read_text())
    assert status == SIGNALS[signal.Signals(number)]
    assert f"{LINE} by {signal.Signals(number).name}: " in stderr.splitlines()[-1]
    assert {"m4-rules"} <= {row["experiment"] for row in rows}
    done, planned = re.search(r": (\d+) of (\d+) runs are", stderr).groups()
    assert 1 <= int(done) < int(planned)
    assert "failed" not in stderr + stdout


@pytest.mark.parametrize(
    "number", mostly_long([signal.SIGINT, signal.SIGTERM], short={signal.SIGINT})
)
def test_an_interrupted_bench_leaves_no_disk(tmp_path: Path, number: int) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    # the copies are made once the firmware is built
    sets = ("--set", "fat_write.transfer=768", "--again")
    environment = os.environ | {"TMPDIR": str(scratch)}
    command = started(tmp_path, "bench", "fat-write", *sets, env=environment)
    until = time.monotonic() + 120
    while not list(scratch.glob("*/disk.img")) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(scratch.glob("*/disk.img"))
    command.send_signal(number)
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == SIGNALS[signal.Signals(number)]
    name = signal.Signals(number).name
    assert stderr.splitlines()[2:] == [f"{LINE} by {name}: 0 of 3 runs are finished"]
    assert list(scratch.iterdir()) == []


def test_a_build_is_not_waited_for(tmp_path: Path) -> None:
    # a compiler of its own cache takes seconds
    environment = os.environ | {"CYCLESCOPE_CACHE": str(tmp_path / "cache")}
    command = started(tmp_path, "bench", "m4-rules", env=environment)
    built = tmp_path / "cache" / "firmware"
    until = time.monotonic() + 120
    while not list(built.glob("*/")) and time.monotonic() < until:
        time.sleep(0.01)
    command.send_signal(signal.SIGTERM)
    command.communicate(timeout=60)
    assert command.returncode == 143
    assert [path for path in built.iterdir() if path.is_dir()] == []
