"""Experiments run and compared with published numbers, and how far the results may be trusted.

`experiment` is what an experiment declares, with the `views` of its rows. `planning` makes jobs of
it, `running` runs them and makes tables: `rows` in `results`. `published` has the documents'
numbers; `influence`, `moves` and `sensitivity` tell what cells rest on, and `trust` counts it.
Nothing here knows a certain experiment, nor how results are drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclescope.bench.results import ExperimentResult
    from cyclescope.bench.running import IMAGE, Following, Told, judged, run_job, run_jobs
    from cyclescope.bench.tabulating import tabulate

__all__ = [
    "IMAGE",
    "ExperimentResult",
    "Following",
    "Told",
    "judged",
    "run_job",
    "run_jobs",
    "tabulate",
]

_MODULES = {"ExperimentResult": "results", "tabulate": "tabulating"}


def __getattr__(name: str) -> Any:
    """What runs firmware is imported when it is asked for: others need not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES.get(name, 'running')}")
    return getattr(module, name)
