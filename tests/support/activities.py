"""Activities of the devices of a run, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cyclescope import firmware
from cyclescope.bench import images, planning
from cyclescope.bench.experiment import Run
from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.units import parse_time_ps

KINDS = ("wire", "frame", "busy", "transfer", "serial", "conversion", "timer", "other")
OF_CORES = ("interrupt", "core")
IN_PLACE = "reads in place"
MOST_SPANS = 3_000_000
NO_END_PS = 1 << 62


class Span(NamedTuple):
    """Something that a device did once."""

    scope: str
    name: str
    part: int
    line: str
    begin_ps: int
    end_ps: int
    detail: str

    @property
    def length_ps(self) -> int:
        return self.end_ps - self.begin_ps


@dataclass(frozen=True)
class Recorded:
    """A run's outcome and the activities that were recorded; bytes of memory that these took."""

    outcome: Mapping[str, Any]
    spans: list[Span]
    bytes: int

    def of(self, scope: str, name: str) -> list[Span]:
        return [span for span in self.spans if (span.scope, span.name) == (scope, name)]

    def total_ps(self, scope: str, name: str) -> int:
        return sum(span.length_ps for span in self.of(scope, name))


def record(
    board: Board,
    elf: Path,
    limit: str | int | None,
    kinds: Iterable[str] | None = (*KINDS, *OF_CORES),
    skip_polling: bool = True,
    compile_after: int | None = None,
    most_bytes: int = 1 << 30,
) -> Recorded:
    """Runs a program; with no `kinds` nothing is recorded."""
    machine = board.load(str(elf)).start()
    recorded = machine.activities()
    if kinds is not None:
        recorded.start(list(kinds), most_bytes)
    machine.skip_polling(skip_polling)
    if compile_after is not None:
        machine.compile_after(compile_after)
    limit_ps = parse_time_ps(limit) if isinstance(limit, str) else limit
    outcome = machine.run(limit_ps, lambda *_: None, lambda *_: None)
    tracks = recorded.tracks()
    _, dropped, _, used = recorded.summary()
    assert not dropped
    each = recorded.instances(0, NO_END_PS, MOST_SPANS)
    assert len(each) < MOST_SPANS
    spans = [
        Span(scope, name, part, line, begin, end, detail)
        for (scope, name, _, part, line), begin, end, detail in (
            (tracks[track], *rest) for track, *rest in each
        )
    ]
    return Recorded(outcome, spans, used)


def record_program(
    board: str, elf: Path, overrides: Mapping[str, OverrideValue] | None = None, **how: Any
) -> Recorded:
    """Runs a program on a board as it ships, but for some properties."""
    return record(Board(board, dict(overrides or {})), elf, "10s", **how)


def record_job(job: planning.Job, run: Run, limit: str | None = None, **how: Any) -> Recorded:
    """Runs a job of an experiment, in some form, up to a limit if there is one."""
    configured = planning.Job(job.experiment, run, job.extra).configured
    elf = firmware.build_app(
        configured.app, configured.board, configured.settings, configured.overrides
    )
    with images.of_run(configured) as (overrides, _):
        return record(Board(configured.board, overrides), elf, limit or configured.limit, **how)
