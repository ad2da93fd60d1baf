"""`scripts/compilers`: what programs take by GCC is what docs/compilers.csv has of them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import compiler_store
import fft
import gcc
import kernels
import pytest
import tiers
from conftest import ROOT
from kernels import Build
from stored_results import COMPILERS, source

from cyclescope import experiments
from cyclescope.bench import published
from cyclescope.bench.rows import Row
from cyclescope.errors import UsageError

OWN = kernels.of_crate()
needs_gcc = pytest.mark.skipif(not gcc.has_newlib(), reason=f"needs the packages {gcc.PACKAGES}")


def kept(experiment: str) -> dict[str, Row]:
    """The stored rows by label."""
    return {row.label: row for row in source().compilers[experiment].rows}


def script(*arguments: str | Path, path: str | None = None) -> tuple[int, str]:
    """The status of scripts/compilers, and what it says on stderr."""
    command = [sys.executable, ROOT / "scripts" / "compilers", *arguments]
    environment = os.environ | ({} if path is None else {"PATH": path})
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stderr


# ---- what is kept


@needs_gcc
@pytest.mark.parametrize(
    "build",
    tiers.mostly_long(
        [
            Build("cooperative", OWN),
            Build("cooperative", OWN, change="cm3-port"),
            Build("preemptive", OWN, change="half-caches"),
            Build("message", OWN, change="newlib-memcpy"),
            Build("message", OWN, change="facilities"),
            Build("synchronization", OWN, change="mutex"),
            Build("synchronization", OWN, "O0"),
        ],
        ["newlib-memcpy"],
        key=lambda build: build.change,
    ),
    ids=lambda build: build.label,
)
def test_a_program_by_gcc_takes_what_is_kept(build: Build) -> None:
    row, old = kernels.measured(build, gcc.version()), kept(kernels.EXPERIMENT)[build.label]
    if row.settings["gcc"] == old.settings["gcc"]:
        assert row.to_dict() == old.to_dict()
    else:
        assert row.simulated == pytest.approx(old.simulated, rel=0.2)


def test_all_programs_are_kept() -> None:
    labels = [build.label for build in kernels.builds(None)]
    other = [build.label.replace(OWN.version, "10.3.1") for build in kernels.builds(None)]
    assert list(kept(kernels.EXPERIMENT)) == other[: len(kernels.TESTS)] + labels


def test_kept_rows_stand_beside_what_is_published_now() -> None:
    measured, counted = (published.load(name) for name in ("thread_metric", fft.TABLE))
    for row in kept(kernels.EXPERIMENT).values():
        assert row.published == measured.find("cycles", {"test": row.settings["test"]})
    for row in kept(fft.EXPERIMENT).values():
        transforms = counted.find("transforms", {"points": row.settings.get("points", 0)})
        assert (row.published is None) == (row.label == "fir")
        if transforms is not None:
            assert row.published == round(336_118_002 / transforms)


def test_the_compiler_is_off_by_what_the_experiment_says_of_it() -> None:
    result = source().results.experiments["thread-metric"]
    own = {row.settings["test"]: row for row in result.rows if row.published is not None}
    by_gcc = kept(kernels.EXPERIMENT)
    effects = [
        100 - 100 * by_gcc[f"{test} 10.3.1 O2 none"].simulated / own[test].simulated
        for test in kernels.TESTS
    ]
    (omission,) = experiments.ALL["thread-metric"].left_out
    assert min(effects) > 0
    assert omission.effect_pct - 2 < max(effects) < omission.effect_pct


def test_rows_that_are_kept_again_stay_in_their_places(tmp_path: Path) -> None:
    stored = tmp_path / "compilers.csv"
    rows = [*kept(fft.EXPERIMENT).values(), *kept(kernels.EXPERIMENT).values()]
    compiler_store.keep(rows, stored)
    assert stored.read_bytes() == COMPILERS.read_bytes()
    compiler_store.keep([replace(rows[1], simulated=7)], stored)
    found = compiler_store.load(stored)[fft.EXPERIMENT].rows
    assert [row.simulated for row in found[:3]] == [rows[0].simulated, 7, rows[2].simulated]
    assert len(stored.read_text().splitlines()) == 1 + len(rows)


# ---- what is missing


def test_without_gcc_it_says_what_it_needs(tmp_path: Path) -> None:
    out = tmp_path / "compilers.csv"
    status, said = script("--out", out, "thread-metric", path=str(tmp_path))
    assert status == 2
    assert (
        said == f"scripts/compilers: there is no {gcc.GCC} with newlib: it needs the packages "
        f"{gcc.PACKAGES}\n"
    )
    assert not out.exists()


def test_folders_of_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"task\.h: No such file .* that of a FreeRTOS kernel"):
        kernels.kernel_of(tmp_path)
    with pytest.raises(UsageError, match=r"arm_math\.h: No such file .* that of CMSIS-DSP"):
        fft.version_of(tmp_path)
    (tmp_path / "include").mkdir()
    for name in ("task.h", "FreeRTOS.h"):
        (tmp_path / "include" / name).write_text("")
    with pytest.raises(UsageError, match="defines no tskKERNEL_VERSION_NUMBER"):
        kernels.kernel_of(tmp_path)
    assert script("fft")[0] == 2


def test_the_version_of_a_kernel_is_read_from_it() -> None:
    assert OWN.version == "11.2.0"
    assert OWN.has_tick_width
