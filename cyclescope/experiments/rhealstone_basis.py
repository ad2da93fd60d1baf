"""What `rhealstone` depends on: what the note leaves open, and what the model leaves out.

The note names the demonstration that it started from, and Atmel's software package; it does not say
how its own program was built. The settings of those two are assumed for the note as well.
"""

from __future__ import annotations

from collections.abc import Callable

from cyclescope.bench.experiment import Choice, Omission, Run
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.board.results import Settings, Value

# Enough for an average; each run starts the board, which takes as long. With caches there are more
# loops, so that the first fills and the tick do not count.
_SHORT = {"off": 300, "on": 3000}
_DEMO = "CORTEX_A5_SAMA5D3x_Xplained_IAR, which the note started from"


def _with(name: str, value: Value) -> Callable[[Run], Run]:
    return lambda run: run.changed({name: value})


CHOICES = (
    Choice(
        "the program",
        "optimisation",
        "O0",
        ASSUMED,
        f"the project of {_DEMO} (RTOSDemo.ewp: CCOptLevel 0)",
        "O2",
        _with("optimise", "O2"),
    ),
    Choice(
        "the program",
        "addresses",
        "from literal pools",
        ASSUMED,
        f"the project of {_DEMO} (RTOSDemo.ewp: CCNoLiteralPool 0)",
        "made with movw and movt",
        _with("literal_pools", "off"),
    ),
    Choice(
        "FreeRTOS",
        "assertions",
        "on",
        ASSUMED,
        f"{_DEMO}, defines configASSERT (FreeRTOSConfig.h)",
        "off",
        _with("asserts", "off"),
    ),
    Choice(
        "FreeRTOS",
        "VFP registers in a task's context",
        "if it asks for it",
        ASSUMED,
        "FreeRTOS's port of that time for Cortex-A5 without a GIC has no other way "
        "(portable/IAR/ARM_CA5_No_GIC of V9.0.0rc2), and nothing here needs it",
        "of each task",
        _with("fpu_context", "on"),
    ),
    Choice(
        "FreeRTOS",
        "stack check",
        "2",
        ASSUMED,
        f"FreeRTOSConfig.h of {_DEMO}",
        "0",
        _with("stack_check", 0),
    ),
    Choice(
        "FreeRTOS",
        "run time statistics",
        "on",
        ASSUMED,
        f"FreeRTOSConfig.h of {_DEMO}",
        "off",
        _with("run_time_stats", "off"),
    ),
    Choice(
        "FreeRTOS",
        "tick",
        "1000 a second while an operation is measured",
        ASSUMED,
        f"FreeRTOSConfig.h of {_DEMO}; the note does not say that it was stopped",
        "none",
        _with("tick", "off"),
    ),
    Choice(
        "the core",
        "branch prediction",
        "off",
        ASSUMED,
        "Atmel's software package sets SCTLR.M, C and I and never Z (cp15.c)",
        "on",
        _with("branch_prediction", "on"),
    ),
    Choice(
        "the flash",
        "continuous read",
        "on",
        ASSUMED,
        "the note's section 2.2.3 says how much it helps a program that runs in place, and not "
        "that it was set",
        "off",
        _with("continuous_read", "off"),
    ),
    Choice(
        "the program",
        "what loops take without the operation",
        "not taken off",
        ASSUMED,
        "figures 4-4 to 4-6 show cycles a loop; RTEMS's programs take it off",
        "taken off",
        _with("less_loops", "on"),
    ),
    Choice(
        "the program",
        "a task switch taken off pre-emption",
        "of many loops",
        CALIBRATED,
        "task-preempt sram caches off 1: by the note's numbers its average and a task switch "
        "together are its single loop; RTEMS's program takes a switch off a single loop as well",
        "of a single loop as well",
        _with("less_switches", "always"),
    ),
)

LEFT_OUT = (
    Omission(
        what="the cache lines of the note's code and data",
        why="a single loop is a few line fills, from the flash of 761 cycles each; their number "
        "depends on the functions' places in lines, and on what ran before",
        effect_pct=48,
        cells="single loops with caches on",
        estimate="one more word of code elsewhere moved the task switch from the flash from 3120 "
        "to 4608 cycles, two lines",
    ),
    Omission(
        what="the second-level cache's prefetches and double line fills",
        why="Atmel's software package sets them; here the registers keep the values without effect",
        effect_pct=35,
        cells="single loops with caches on, mostly from the flash",
        estimate="a frame of 64 bytes has 144 serial clocks, two of 32 have 160 and one 80: 10 % "
        "less where the second line is wanted, 80 % more where it is not. The note's single loops "
        "are multiples of one line's fill, as if there were no effect on the board either",
    ),
    Omission(
        what="the drivers of Atmel's package, instruction by instruction",
        why="drivers here make the same accesses; but at -O0 each passes its arguments over the "
        "stack, where the package reads and writes through a pointer, and also has assertions",
        effect_pct=28,
        cells="interrupt latency without caches; 7 % with them",
        estimate="with registers as macros, some 40 loads and stores and 20 fetches less, an "
        "interrupt took 4005 cycles in SRAM instead of 5515, and 34390 from the flash instead of "
        "44630; the package's assertions would add some of that again",
    ),
    Omission(
        what="IAR's compiler",
        why="Clang keeps no variable in a register at -O0, so that there are more loads and stores "
        "and fewer other instructions",
        effect_pct=25,
        cells="all; most of all interrupt latency without caches",
        estimate="the note's interrupt from the flash less that from SRAM is 112 fetches of 64 "
        "bits, here 88; the rest in SRAM is 1850 cycles there and 2970 here",
    ),
    Omission(
        what="FreeRTOS 8.2.3's kernel",
        why="in FreeRTOS 11.2 a task that suspends itself enters a second critical section, for "
        "when the next task is to wake; in 8 it does so only for another task",
        effect_pct=13,
        cells="pre-emption",
        estimate="without it, in a changed copy, pre-emption took 10 to 14 % less, and a line "
        "or two less in a single loop",
    ),
    Omission(
        what="instructions that continue during a load or a line fill",
        why="the core waits for the end of each load and fetch; the first word of a line does not "
        "arrive before the others",
        effect_pct=5,
        cells="single loops with caches on",
        estimate="of a fill from SRAM of 38 cycles 9 could be hidden, of one from the flash all "
        "but 30 serial clocks; the note's fills take 764 to 776 cycles, complete ones",
    ),
)


def counts_as(settings: Settings) -> str | None:
    """The independent number that a published cell stands for.

    With all code in the caches the memory does not matter: averages are one number an operation.
    Without caches a single interrupt is the average without its ticks, and a single pre-emption is
    an average and a task switch, as the note measured them: not a number of its own.
    """
    operation, memory, cache = (settings[name] for name in ("operation", "memory", "cache"))
    single = settings["loops"] == 1
    if cache == "on":
        return f"{operation} {memory} caches miss" if single else f"{operation} caches hit"
    if operation == "task-preempt" and single:
        return None
    if operation == "interrupt-latency":
        return f"{operation} {memory} caches off"
    return f"{operation} {memory} caches off {settings['loops']}"


def short_form(run: Run) -> Run:
    """The run with fewer loops: their average changes as that of all does."""
    loops = run.settings["loops"]
    return _with("loops", min(int(loops), _SHORT[str(run.settings["cache"])]))(run)
