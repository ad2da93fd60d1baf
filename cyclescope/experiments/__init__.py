"""The experiments that come with Cyclescope, in the order in which the bench runs them.

A new experiment is a module here with an `EXPERIMENT`, and a line in `_MODULES`.
"""

from __future__ import annotations

from collections.abc import Iterable

from cyclescope import suites
from cyclescope.bench.experiment import Experiment
from cyclescope.errors import UsageError
from cyclescope.experiments import (
    a_rules,
    bitbang_spi,
    card_probe,
    fat_access,
    fat_write,
    flash_waits,
    ipc_modes,
    m4_rules,
    picosoc_xip,
    qspi_read,
    quad_spi_throughput,
    rhealstone,
    rpmsg_tty,
    thread_metric,
)
from cyclescope.similar_names import did_you_mean_or

_MODULES = (
    quad_spi_throughput,
    picosoc_xip,
    fat_write,
    fat_access,
    card_probe,
    rhealstone,
    qspi_read,
    bitbang_spi,
    rpmsg_tty,
    ipc_modes,
    m4_rules,
    a_rules,
    flash_waits,
    thread_metric,
)

ALL: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}


def select(names: Iterable[str]) -> list[Experiment]:
    """The experiments with these names in the bench's order; all without a name.

    Raises `UsageError`, with similar names, for an unknown name.
    """
    wanted = list(names)
    for name in wanted:
        if name not in ALL:
            known = (*ALL, *suites.ALL)
            hint = did_you_mean_or(name, known, f"there are {', '.join(known)}")
            raise UsageError(f"no experiment is called '{name}'{hint}")
    return [experiment for name, experiment in ALL.items() if not wanted or name in wanted]
