"""The benchmark of the simulator itself: each of its parts runs, however long that takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

FEW = (
    "--pairs",
    "1",
    "--iterations",
    "5",
    "--uncached-iterations",
    "1",
    "--uncached-loops",
    "10",
    "--turning-loops",
    "10",
    "--held",
    "2ms",
    "--back",
    "2ms",
    "--sweep-runs",
    "8",
)
CORES = ("riscv", "arm", "a7", "m4", "mips")
OBSERVED = ("observed", "observed_uncached")
LOOKING_ON = ("nothing_again", "profile", "timeline_of_functions", "waits")
MOST_MIB = 64


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Calls it as `make speed` does."""
    command = [sys.executable, str(ROOT / "bench" / "speed"), *FEW, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(
    ("part", "numbers"),
    [
        pytest.param(
            "qemu", {"two_cores_mips", *(f"{core}_mips" for core in CORES)}, marks=pytest.mark.long
        ),
        pytest.param(
            "uncached",
            {"riscv_uncached_mips", "picosoc_mips", "arm_uncached_mips"},
            marks=pytest.mark.long,
        ),
        pytest.param("bus-matrix", {"turning_mips", "not_turning_mips"}, marks=pytest.mark.long),
        pytest.param(
            "observed",
            {f"{program}_{what}_ratio" for program in OBSERVED for what in LOOKING_ON},
            marks=pytest.mark.long,
        ),
        pytest.param(
            "python-devices", {"python_plain_us", "python_registers_us"}, marks=pytest.mark.long
        ),
        ("snapshots", {"snapshot_taken_ms", "snapshot_loaded_ms"}),
        pytest.param("debugger", {"debugger_attached", "debugger_back_s"}, marks=pytest.mark.long),
        pytest.param(
            "sweeps",
            {"sweep_scaling", "sweep_overhead_ms", "sweep_dask_ratio"},
            marks=pytest.mark.long,
        ),
        pytest.param(
            "start-up",
            {"start_up_s", *(f"{core}_first_compile_ms" for core in CORES)},
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_part_gives_its_numbers(tmp_path: Path, part: str, numbers: set[str]) -> None:
    out = tmp_path / "speed.json"
    done = bench(part, "--out", str(out))
    if part == "python-devices" and "takes more than" in done.stderr:
        # a host that is busy with something else is no fault
        assert done.returncode == 1
        assert "in Python, a method" in done.stdout
        return
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert numbers <= found.keys()
    assert "\n".join(found["printed"]) == done.stdout.strip()


@pytest.mark.long  # of parts, one runs in the short tier
def test_a_run_takes_less_memory_than_a_small_host_has(tmp_path: Path) -> None:
    out = tmp_path / "speed.json"
    done = bench("growth", "--most-instructions", "10000000", "--polled", "1us", "--out", str(out))
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    taken = [number for name, number in found.items() if name.endswith("_mib")]
    assert len(taken) == 2 + len(CORES)
    assert all(0 < mib < MOST_MIB for mib in taken)


def test_an_unknown_part_is_reported() -> None:
    done = bench("growht")
    assert done.returncode == 2
    assert (
        "no part growht; there are qemu, uncached, bus-matrix, waiting, observed, start-up, "
        "python-devices, snapshots, debugger, sweeps, situations, linux, growth" in done.stderr
    )


@pytest.mark.long
def test_an_earlier_build_is_compared_with(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # it runs this build, and leaves a mark
    mark = tmp_path / "ran"
    python.write_text(f'#!/bin/sh\ntouch "{mark}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = bench("observed", "--before", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\nnothing, earlier build ") == 2
    assert mark.exists()
