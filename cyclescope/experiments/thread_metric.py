"""FreeRTOS on an STM32L4 at 80 MHz from flash: the eight tests of Thread-Metric, in cycles a loop.

Each run is one test. Four tests have published numbers, measured on an STM32L432; the others, and
all with other settings of flash, compiler and kernel, show what a loop's cycles depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cyclescope.bench.experiment import Cell, Choice, Experiment, Omission, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.description.parameters import ASSUMED
from cyclescope.board.results import Settings, Value
from cyclescope.experiments import moments

APP = "thread_metric"
BOARD = "nucleo-l4r5zi"
TABLE = "thread_metric"
LIMIT = "100s"

TESTS = (
    "basic",
    "cooperative",
    "preemptive",
    "interrupt",
    "interrupt-preemption",
    "message",
    "synchronization",
    "memory",
)
# The assumed settings of the published measurements: see CHOICES.
BASE: dict[str, Value] = {
    "accelerators": "all",
    "optimise": "O2",
    "selection": "port",
    "tick_hz": 1000,
    "window_ms": 100,
}
# Changes of BASE, one at a time.
VARIANTS: tuple[tuple[str, Value], ...] = (
    ("accelerators", "caches"),
    ("accelerators", "none"),
    ("optimise", "Os"),
    ("selection", "generic"),
    ("tick_hz", 100),
)
SHORT_WINDOW_MS = 50


def _runs() -> Iterator[Run]:
    """The runs in the order of tables."""
    for test in TESTS:
        yield Run(APP, BOARD, {"test": test, **BASE}, documented=True, limit=LIMIT)
    for name, value in VARIANTS:
        for test in TESTS:
            settings = {"test": test, **BASE, name: value, "window_ms": SHORT_WINDOW_MS}
            yield Run(APP, BOARD, settings, limit=LIMIT)


def _with(name: str, value: Value) -> Callable[[Run], Run]:
    return lambda run: run.changed({name: value})


def _short_form(run: Run) -> Run:
    """The run with a shorter window: a loop takes the same time in it."""
    return run.changed({"window_ms": SHORT_WINDOW_MS})


def _cycles(rows: Sequence[Row], **settings: Value) -> dict[str, float]:
    """Cycles a loop by test, of the rows with these settings and otherwise BASE's."""
    wanted: Settings = {key: value for key, value in BASE.items() if key != "window_ms"} | settings
    return {
        str(row.settings["test"]): row.simulated
        for row in rows
        if row.metric == "cycles" and all(row.settings[name] == wanted[name] for name in wanted)
    }


def _answer(rows: Sequence[Row]) -> str:
    known = _cycles(rows)
    if not set(TESTS) <= set(known):
        return ""
    return (
        f"A context switch by a yield takes {known['cooperative']:.0f} cycles, "
        f"{known['cooperative'] / 80:.2f} us at 80 MHz; a message there and back "
        f"{known['message']:.0f}, a semaphore {known['synchronization']:.0f}."
    )


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    known = _cycles(rows)
    for value, what in (("caches", "prefetch"), ("none", "prefetch and caches")):
        other = _cycles(rows, accelerators=value)
        if "cooperative" in known and "cooperative" in other:
            times = other["cooperative"] / known["cooperative"]
            yield f"Without the flash's {what} a yield takes {times:.2f} times as long."


CHOICES = (
    Choice(
        "the program",
        "optimisation",
        "O2",
        ASSUMED,
        "the page does not say",
        "Os",
        _with("optimise", "Os"),
    ),
    Choice(
        "FreeRTOS",
        "search for the highest priority",
        "by clz",
        ASSUMED,
        "what the kernel's port takes where a configuration says nothing; the page does not say",
        "through lists",
        _with("selection", "generic"),
    ),
    Choice(
        "FreeRTOS",
        "tick",
        "1000 a second",
        ASSUMED,
        "the published numbers are 9, 510, 333, 702 / 5 and 2745 / 5 cycles and 0.33 % of them: a "
        "tick of 264 cycles 1000 times a second; the suite's own rules have 100",
        "100 a second",
        _with("tick_hz", 100),
    ),
    Choice(
        "the flash",
        "prefetch",
        "on",
        ASSUMED,
        "the page does not say; out of reset it is off, and the caches are on",
        "off",
        _with("accelerators", "caches"),
    ),
    Choice(
        "FreeRTOS",
        "semaphore",
        "binary",
        ASSUMED,
        "the suite's definition; of CMRX itself the page says that mutexes stand for it",
        "a mutex",
        _with("semaphore", "mutex"),
    ),
)

LEFT_OUT = (
    Omission(
        what="GCC, and FreeRTOS 10.3.1 as it was configured",
        why="here Clang compiles FreeRTOS 11.2; the page states no option of either",
        effect_pct=15,
        cells="all; further calls of the published program's messages and semaphores are unknown",
        estimate="the same sources by Debian's GCC 12.2.1 at -O2 with FreeRTOS 10.3.1, which "
        "scripts/compilers builds: docs/thread-metric.md has the cycles, all fewer than here",
    ),
)

_WORDS = (
    Words("accelerators", "flash", (("all", "all"), ("caches", "no prefetch"), ("none", "plain"))),
    Words("optimise", "compiler", form="-{}"),
    Words("selection", "search", (("port", "clz"), ("generic", "lists"))),
    Words("tick_hz", "tick", form="{} Hz"),
)
_SETTINGS = ("accelerators", "optimise", "selection", "tick_hz")


def _pivot(title: str) -> Pivot:
    return Pivot(title, ("test",), _SETTINGS, values=True, words=_WORDS)


EXPERIMENT = Experiment(
    name="thread-metric",
    title="FreeRTOS on an STM32L4 at 80 MHz from flash: Thread-Metric",
    moments=(moments.THREAD_METRIC,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        Cell(
            APP,
            metric="cycles",
            label="{test} {optimise} {selection} {tick_hz} {accelerators}",
            key="cycles",
            match=("test",),
            timed=("window_wait",),
            pivots=(_pivot("Cycles a loop"),),
        ),
        Cell(
            APP,
            metric="loops_in_30_s",
            label="in 30 s: {test} {optimise} {selection} {tick_hz} {accelerators}",
            pivots=(_pivot("Loops in 30 s, the suite's window, by what one takes"),),
        ),
    ),
    quick={"window_ms": SHORT_WINDOW_MS},
    notes=(
        "The tests are written anew from the words in which they are defined; their services are "
        "functions between a test and the kernel, as the suite's rules have it.",
        "The published numbers are of an STM32L432, here it is an STM32L4R5: the same core and "
        "the same flash interface (64 bits a read, 1 KiB of instruction cache, 256 bytes of data "
        "cache) with four wait states, which the STM32L4R5 would not need at 80 MHz.",
        "The published numbers are of FreeRTOS 10.3.1 and GCC 14.2.1; here it is 11.2, by Clang. "
        "Neither the compiler's options nor the kernel's configuration were published.",
    ),
    choices=CHOICES,
    left_out=LEFT_OUT,
    short_form=_short_form,
    findings=_findings,
    question="What does FreeRTOS cost on an STM32L4 at 80 MHz from flash?",
    answer=_answer,
)
