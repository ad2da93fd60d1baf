"""Experiments on Debian's kernel: what they give, and what they say without its packages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from stored_results import source

from cyclescope import bench, experiments
from cyclescope.bench import planning, programs
from cyclescope.errors import UsageError
from cyclescope.firmware import load_app
from cyclescope.linux import packages

# The kernel of the stored rows.
VERSION = "6.1.176"


def has_kernel_of_the_rows() -> bool:
    """Whether the packages are there, in that version."""
    found = packages.folder() / "packages.json"
    return found.is_file() and VERSION in found.read_text(encoding="utf-8")


def test_each_is_known_by_name_and_has_stored_rows() -> None:
    assert not set(experiments.OF_LINUX) & set(experiments.ALL)
    for name, experiment in experiments.OF_LINUX.items():
        assert experiments.select([name]) == [experiment]
        assert source().compilers[name].rows
        assert all(load_app(run.app).linux for run in experiment.runs)
    assert next(iter(experiments.OF_LINUX.values())) not in experiments.select([])


def test_packages_that_are_absent_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    run = experiments.OF_LINUX["rpmsg-tty-linux"].runs[0]
    for asked in (programs.built, programs.digest):
        with pytest.raises(UsageError, match="scripts/install-debian-packages linux brings it"):
            asked(run.app, run.board, run.settings)


@pytest.mark.long
@pytest.mark.skipif(not has_kernel_of_the_rows(), reason=f"needs Debian's kernel {VERSION}")
@pytest.mark.parametrize("name", experiments.OF_LINUX)
def test_a_run_gives_the_stored_rows(name: str) -> None:
    jobs = planning.plan([experiments.OF_LINUX[name]])
    jobs = [replace(job, explained=planning.Explained.NOT) for job in jobs]
    (result,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=1))
    assert not result.failures, [run.error for run in result.failures]
    stored = {row.label: row.simulated for row in source().compilers[name].rows}
    assert {row.label: row.simulated for row in result.rows} == stored
    for row in result.rows:
        # a row that has parts has them whole
        assert not row.parts or sum(part.ps for part in row.parts) > 0
    if name == "rpmsg-tty-linux":
        assert all(len(row.parts) == 9 for row in result.rows)
