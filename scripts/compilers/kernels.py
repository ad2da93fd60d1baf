"""The tests of the experiment thread-metric by GCC, with the kernel of the crate or another one."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import gcc

from cyclescope.bench import published
from cyclescope.bench.rows import PREDICTED, Row, RunRecord
from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Value
from cyclescope.errors import FirmwareError, UsageError
from cyclescope.experiments.thread_metric import APP, BASE, BOARD, LIMIT, TABLE
from cyclescope.firmware import apps, crates

NAME = "thread-metric"
EXPERIMENT = "thread-metric-gcc"
"""The experiment of the rows."""

CRATE = "freertos-next"
TESTS = "cooperative", "preemptive", "message", "synchronization"
"""Tests with published numbers."""

_NUMBER = re.compile(r'^#define tskKERNEL_VERSION_NUMBER\s+"V([\d.]+)"', re.MULTILINE)
_PORT = "ARM_CM4F"


@dataclass(frozen=True)
class Change:
    """A difference to the usual build: settings of the app, or of the board, or of the build.

    `port` is the folder of the kernel's port in portable/GCC.
    """

    settings: Mapping[str, Value] = field(default_factory=dict)
    overrides: Mapping[str, OverrideValue] = field(default_factory=dict)
    port: str = _PORT
    has_newlib_memory: bool = False


NONE = "none"
CHANGES: Mapping[str, Change] = {
    NONE: Change(),
    "long-lines": Change(
        overrides={
            "flash.cyclescope,line-bytes": 16,
            "cpu0.i-cache-block-size": 16,
            "flash.cyclescope,data-cache-lines": 16,
        }
    ),
    "half-caches": Change(
        overrides={"cpu0.i-cache-size": 512, "flash.cyclescope,data-cache-lines": 16}
    ),
    "mutex": Change({"semaphore": "mutex"}),
    "protections": Change({"protections": "on"}),
    "facilities": Change({"facilities": "on"}),
    "newlib-memcpy": Change(has_newlib_memory=True),
    "cm3-port": Change(port="ARM_CM3"),
}
"""By their names in rows."""

OPTIMISE = "O2", "Os", "O1", "O0"


@dataclass(frozen=True)
class Kernel:
    """A FreeRTOS kernel: its folder, and the version that its header defines.

    A kernel without configTICK_TYPE_WIDTH_IN_BITS needs configUSE_16_BIT_TICKS.
    """

    folder: Path
    version: str
    has_tick_width: bool


@dataclass(frozen=True)
class Build:
    """One program: a test, with a kernel, a compiler's option and a change."""

    test: str
    kernel: Kernel
    optimise: str = "O2"
    change: str = NONE

    @property
    def label(self) -> str:
        """The build's name in rows."""
        return f"{self.test} {self.kernel.version} {self.optimise} {self.change}"


def of_crate() -> Kernel:
    """The experiment's kernel."""
    return kernel_of(crates.folder(CRATE) / "FreeRTOS-Kernel")


def kernel_of(folder: Path) -> Kernel:
    """The kernel in a folder. Raises `UsageError` if the folder has no kernel."""
    names = ("task.h", "FreeRTOS.h")
    try:
        headers = [(folder / "include" / name).read_text("utf-8", "replace") for name in names]
    except OSError as error:
        raise UsageError(
            f"{error.filename}: {error.strerror}: the folder is to be that of a FreeRTOS kernel, "
            "with tasks.c, include and portable"
        ) from error
    found = _NUMBER.search(headers[0])
    if found is None:
        raise UsageError(f"{folder}: its task.h defines no tskKERNEL_VERSION_NUMBER")
    return Kernel(folder.resolve(), found[1], "configTICK_TYPE_WIDTH_IN_BITS" in headers[1])


def builds(other: Path | None) -> Iterator[Build]:
    """All builds: changes and options are for the crate's kernel, which is always available."""
    own = of_crate()
    if other is not None:
        yield from (Build(test, kernel_of(other)) for test in TESTS)
    for change in CHANGES:
        yield from (Build(test, own, change=change) for test in TESTS)
    for optimise in OPTIMISE[1:]:
        yield from (Build(test, own, optimise) for test in TESTS)


def measured(build: Build, version: str) -> Row:
    """Build and run one; `version` is GCC's. Raises `FirmwareError` if either fails."""
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / f"{build.test}.elf"
        compiled(build, elf)
        board = Board(BOARD, CHANGES[build.change].overrides).load(elf)
        result = board.run(LIMIT)
    values = [metric.value for metric in result.metrics if metric.name == "cycles"]
    if result.exit_code != 0 or len(values) != 1:
        raise FirmwareError(f"{build.label}: it ended with {result.outcome}: {result.console}")
    known = published.load(TABLE).find("cycles", {"test": build.test})
    settings: dict[str, Value] = {
        "test": build.test,
        "kernel": build.kernel.version,
        "optimise": build.optimise,
        "change": build.change,
        "gcc": version,
    }
    run = RunRecord(build.label, APP, BOARD, settings, None)
    fields = ("cycles", "cycles", values[0], known, PREDICTED, build.label, run)
    return Row(EXPERIMENT, BOARD, settings, *fields)


def compiled(build: Build, elf: Path) -> None:
    """Build one. Raises `FirmwareError` with GCC's messages."""
    change = CHANGES[build.change]
    settings = apps.with_defaults(APP, BASE | {"test": build.test} | dict(change.settings))
    recipe = apps.app_recipe(apps.load_app(APP), BOARD, settings)
    kernel = of_crate().folder
    ports = kernel / "portable" / "GCC"
    new_ports = build.kernel.folder / "portable" / "GCC"
    ticks = () if build.kernel.has_tick_width else ("-DconfigUSE_16_BIT_TICKS=0",)
    other = gcc.Other(
        folders={ports / _PORT: new_ports / change.port, kernel: build.kernel.folder},
        without=("runtime/memory.c",) if change.has_newlib_memory else (),
        flags=(f"-{build.optimise}", *ticks),
        libraries=("-lc", "-lgcc") if change.has_newlib_memory else ("-lgcc",),
    )
    gcc.build(recipe, other, elf)
