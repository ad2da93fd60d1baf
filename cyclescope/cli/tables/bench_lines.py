"""Lines of `cyclescope bench` on experiments during the runs: first cells and outcomes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from cyclescope.bench.planning import Job
from cyclescope.bench.rows import Row, RunRecord
from cyclescope.bench.tabulating import rows_of
from cyclescope.cli.tables.bench_summary import cells
from cyclescope.units import count, format_duration


class Lines:
    """Follows the runs of a bench as they end, in one thread."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._total, self._done = len(jobs), 0
        self._left = Counter(job.experiment.name for job in jobs)
        self._places = {id(job): place for place, job in enumerate(jobs)}
        self._width = max(map(len, self._left), default=0)
        self._compared = {job.experiment.name for job in jobs if job.published}
        self._begun: set[str] = set()
        self._rows: dict[str, list[tuple[int, Row]]] = defaultdict(list)

    def finished(self, job: Job, record: RunRecord, elapsed_s: float) -> Iterator[str]:
        """The lines to print after a run: its error, first cells, the experiment's end."""
        name = job.experiment.name
        self._done += 1
        self._left[name] -= 1
        if record.error is not None:
            yield f"cyclescope: failed: {record.label}: {record.error}"
        found = rows_of(job, record)
        self._rows[name] += [(self._places[id(job)], row) for row in found]
        if name not in self._begun and (first := self._first(job, found)) is not None:
            self._begun.add(name)
            yield f"{name:<{self._width}}  {_cell(first)}"
        if not self._left[name]:
            ended = f"[{self._done}/{self._total}] {name} done after {format_duration(elapsed_s)}"
            yield ": ".join(filter(None, (ended, self._outcome(name))))

    def _first(self, job: Job, found: Sequence[Row]) -> Row | None:
        """The row that represents an experiment: with a published number, if a run has one."""
        compared = (row for row in found if row.published is not None)
        waits = job.experiment.name in self._compared and not job.published
        return next(compared, None if waits else next(iter(found), None))

    def _outcome(self, name: str) -> str:
        """The errors of an experiment's published numbers; empty if it has none."""
        found = [row for _, row in sorted(self._rows.pop(name, ()), key=lambda pair: pair[0])]
        published, within, worst = cells(found)
        if not published:
            return ""
        return f"{count(published, 'cell')}, {within} within 10 %, worst {worst}"


def _cell(row: Row) -> str:
    """A row as one line: published | simulated | error."""
    simulated = f"simulated {row.simulated} {row.unit}".rstrip()
    if row.published is None:
        return f"{row.label}: {simulated} (no published number)"
    error = "" if row.error_pct is None else f" | {row.error_pct:+.1f} %"
    return f"{row.label}: published {row.printed} | {simulated}{error}"
