"""The experiments that come with Cyclescope, in the order in which the bench runs them.

A new experiment is a module here with an `EXPERIMENT`, and a line in `_MODULES`.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from cyclescope import suites
from cyclescope.bench.experiment import Experiment
from cyclescope.errors import UsageError
from cyclescope.experiments import (
    a_rules,
    bitbang_spi,
    bitbang_spi_linux,
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
    rpmsg_tty_linux,
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

# They need packages of Debian, which `scripts/install-debian-packages linux` brings.
_LINUX_MODULES = (rpmsg_tty_linux, bitbang_spi_linux)


def _by_name(modules: Iterable[ModuleType]) -> dict[str, Experiment]:
    return {module.EXPERIMENT.name: module.EXPERIMENT for module in modules}


ALL: dict[str, Experiment] = _by_name(_MODULES)
"""Those that `cyclescope bench` runs without a name."""
OF_LINUX: dict[str, Experiment] = _by_name(_LINUX_MODULES)
"""Those that it runs by name only, as they need packages."""
KNOWN: dict[str, Experiment] = ALL | OF_LINUX
"""All experiments by name."""


def select(names: Iterable[str]) -> list[Experiment]:
    """The experiments with these names in the bench's order; without a name, `ALL`.

    Raises `UsageError`, with similar names, for an unknown name.
    """
    wanted = list(names)
    for name in wanted:
        if name not in KNOWN:
            known = (*KNOWN, *suites.ALL)
            hint = did_you_mean_or(name, known, f"there are {', '.join(known)}")
            raise UsageError(f"no experiment is called '{name}'{hint}")
    return [KNOWN[name] for name in KNOWN if name in (wanted or ALL)]
