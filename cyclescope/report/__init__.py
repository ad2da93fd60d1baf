"""The report: a bench's results as one HTML file that opens offline.

It knows results, not how they came about; the same results give the same bytes. Start at
`page.py` (what the reader sees, in its order). `agreement.py` and `strip.py` have the plots of the
overview, `section.py` what an experiment shows, `templates/` the looks. The scripts there sort,
filter, explain and lead to what is folded: without them the page is complete, but for tables of
very many rows. A sweep has a page of its own, `sweep_page.py`.
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
    # what draws is imported when something is drawn: others need not wait for it
    from cyclescope.report import page

    return page.render(results)


def write_report(results: Sequence[ExperimentResult], path: Path) -> None:
    """Write the report of some experiments as a whole or not at all. Raises `OutputError`."""
    from cyclescope.host.outputs import write_text

    write_text(path, render(results))
