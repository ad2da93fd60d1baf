"""Experiments run and compared with published numbers, and how far the results may be trusted.

`experiment` defines what an experiment declares, `views` how its rows are shown. `planning` makes
jobs of it, `running` runs them and makes tables: `rows` in `results`. `published` has the
documents' numbers. `influence`, `moves` and `sensitivity` find the values that cells depend on, and
`trust` counts them. Nothing here knows a particular experiment, nor how results are drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclescope.bench.results import ExperimentResult
    from cyclescope.bench.running import IMAGE, Following, Recorded, judged, run_job, run_jobs
    from cyclescope.bench.tabulating import tabulate

__all__ = [
    "IMAGE",
    "ExperimentResult",
    "Following",
    "Recorded",
    "judged",
    "run_job",
    "run_jobs",
    "tabulate",
]

_MODULES = {"ExperimentResult": "results", "tabulate": "tabulating"}


def __getattr__(name: str) -> Any:
    """Import what runs firmware when it is first used: other uses need not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES.get(name, 'running')}")
    return getattr(module, name)
