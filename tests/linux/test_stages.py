"""The stages of a boot and its initcalls, from the calls that a run kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Command
from small_kernel import small_kernel

from cyclescope.board.outcome.kept_calls import Argument, Call
from cyclescope.board.results import CoreResult, RunResult, Section, StackEntry
from cyclescope.errors import UsageError
from cyclescope.linux import stages

MS = 10**9
DRIVER, OTHER, MODULE = 0xC0008000, 0xC0009000, 0xBF000000


def call(begin_ms: int, took_ms: int, first: int = 0) -> Call:
    stack = (StackEntry("issue", took_ms, took_ms * MS),)
    # registers are signed, as the engine has them
    arguments = (Argument("r0", first - (1 << 32), True),)
    return Call(1, begin_ms * MS, 0, stack, (), arguments, 0)


def result(**calls: tuple[Call, ...]) -> RunResult:
    sections = [Section(name, len(kept), 0, (), None, None, kept) for name, kept in calls.items()]
    core = CoreResult("cpu0", 10**9, 0, 0, (), sections=(Section("own", 1, 0, ()), *sections))
    return RunResult("b", "f", "exit", 0, None, 100 * MS, "", (core,), {})


WHOLE = result(
    setup_arch=(call(10, 5),),
    kernel_init_freeable=(call(20, 50),),
    do_one_initcall=(call(21, 4, OTHER), call(30, 30, DRIVER), call(60, 4, MODULE)),
    run_init_process=(call(75, 1),),
)


def test_a_boot_is_divided_without_a_gap() -> None:
    found = stages.stages(WHOLE)
    assert [(one.begin_ps // MS, one.end_ps // MS) for one in found] == [
        (0, 10),
        (10, 15),
        (15, 20),
        (20, 70),
        (70, 75),
        (75, 76),
        (76, 100),
    ]
    assert found[3].name == "initcalls: drivers, file systems"


def test_a_boot_that_ended_early_has_the_stages_it_came_to() -> None:
    found = stages.stages(result(setup_arch=(call(10, 5),)))
    assert [(one.begin_ps // MS, one.end_ps // MS) for one in found] == [
        (0, 10),
        (10, 15),
        (15, 100),
    ]
    assert [one.name for one in stages.stages(result())] == [found[0].name]
    assert stages.initcalls(result(), {}) == []


def test_initcalls_have_the_names_of_their_functions() -> None:
    found = stages.initcalls(WHOLE, {DRIVER: "driver_init", OTHER: "other_init"})
    assert [(one.name, one.ps // MS) for one in found] == [
        ("driver_init", 30),
        ("other_init", 4),
        (f"{MODULE:#010x}", 4),
    ]


def test_the_usual_tables_do_not_have_what_stages_need() -> None:
    (core,) = stages.without_calls(WHOLE).cores
    assert [section.name for section in core.sections] == ["own"]


def test_a_kernel_without_names_is_refused(cyclescope: Command, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no function do_one_initcall, kernel_init_freeable, run"):
        stages.check_names([(0, 4, "setup_arch")])
    small_kernel("Image", tmp_path)
    done = cyclescope("boot", "--kernel", "Image", "--stages")
    assert done.status == 121
    assert done.error.startswith("--stages: the kernel has no function do_one_initcall")
    done = cyclescope("boot", "--kernel", "Image", "--stages", "--calls", "main")
    assert done.status == 121
    assert done.error == "--stages keeps calls itself: leave out --calls and --longest"
