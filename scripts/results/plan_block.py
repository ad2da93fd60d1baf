"""The block `bench-plan`: the output of `cyclescope bench` before its runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from keys import Source

from cyclescope import experiments, firmware
from cyclescope.bench import explaining, planning
from cyclescope.bench.planning import Job
from cyclescope.cli.bench_progress import announcement
from cyclescope.firmware import load_app

_THREADS = 2
_TIME = re.compile(r"^About .* \(", re.MULTILINE)


@dataclass(frozen=True)
class _FirstTime:
    """A forecast for empty caches; its time is not shown."""

    builds: int
    kept: int = 0
    expected_s: float = 0.0
    is_from_here: bool = False


@cache
def _text() -> str:
    jobs = explaining.narrowed(planning.plan(experiments.select(()), [], False, False))
    text = announcement(jobs, _FirstTime(_programs(jobs)), _THREADS)
    return _TIME.sub("About ... (", text)


def _programs(jobs: Sequence[Job]) -> int:
    """The number of programs that the jobs still have to build."""
    runs = [job.configured for job in jobs if load_app(job.configured.app).prebuilt is None]
    return len({firmware.digest_of(r.app, r.board, r.settings, r.overrides) for r in runs})


def bench_plan(source: Source, words: Sequence[str]) -> str:
    """Runs, experiments, boards and programs; `...` for the time that they take."""
    return f"```\n{_text()}\n```"
