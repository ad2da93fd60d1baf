"""The report: a bench's results as one HTML file that opens offline.

It knows results, not how they were measured; the same results give the same bytes. Start at
`page.py` (the page from top to bottom). `agreement.py` and `strip.py` draw the plots of the
overview, `section.py` the part of an experiment, `templates/` the layout. The scripts there sort,
filter, explain and open folded parts: without them the page is complete, except for very long
tables. A sweep has a page of its own, `sweep_page.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.bench.results import ExperimentResult

__all__ = ["render", "write_report"]


def render(results: Sequence[ExperimentResult]) -> str:
    """The whole report as HTML."""
    # drawing modules are imported when something is drawn: other commands need not wait for them
    from cyclescope.report import page

    return page.render(results)


def write_report(results: Sequence[ExperimentResult], path: Path) -> None:
    """Write the report of experiments, all of it or nothing. Raises `OutputError`."""
    from cyclescope.host.outputs import write_text

    write_text(path, render(results))
