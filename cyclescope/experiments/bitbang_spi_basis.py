"""What `bitbang-spi` depends on besides its boards: decisions, and what its model leaves out."""

from __future__ import annotations

from cyclescope.bench.experiment import Choice, Omission, Run
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.board.results import Value

# The further time of Linux for a worker's wake-up, beyond that of the small kernel.
WAKEUP_NS = 47_000
# A measured time, of another board: the largest of 19 to 25 us.
_MEASURED_WAKEUP_NS = 25_000

# Enough to measure a parameter's effect on an access, and one frame of each length.
_SHORT: dict[str, dict[str, Value]] = {
    "access": {"loops": 10, "report": "published"},
    "reception": {"frames": 3, "report": "published"},
    "transmission": {"frames": 3, "report": "published"},
}
# Settings of runs that only show the air.
_SHORT_FRAMES = 2


def shortened(run: Run) -> Run:
    """The run with fewer accesses or frames, in which cells move as in the whole one."""
    if "operation" not in run.settings:
        return run.shortened({"frames": _SHORT_FRAMES})
    short = _SHORT.get(str(run.settings["operation"]), {})
    return run.changed(short)


def _with_settings(run: Run, **settings: Value) -> Run:
    return run.changed(settings)


CHOICES = (
    Choice(
        what="the kernel",
        name="Linux's further time for a worker's wake-up",
        value=f"{WAKEUP_NS // 1000} us",
        basis=CALIBRATED,
        source="spi-gpio-atben write buffer 1 B: scheduler classes, preemption, timers and caches; "
        "no document has a sum of them. One wake-up for a message takes 19 to 25 us on a "
        "Raspberry Pi 2 at 900 MHz (msperl/spi-bcm2835, issue 11), and a message has two",
        alternative=f"{_MEASURED_WAKEUP_NS // 1000} us",
        change=lambda run: _with_settings(run, wakeup_ns=_MEASURED_WAKEUP_NS),
    ),
    Choice(
        what="the kernel",
        name="the compiler's optimisation",
        value="-O2",
        basis=ASSUMED,
        source="a configuration in the author's tree, six weeks later, does not have "
        "CC_OPTIMIZE_FOR_SIZE (wpwrak/ben-wpan-linux, config-atben)",
        alternative="-Os",
        change=lambda run: _with_settings(run, optimise="Os"),
    ),
    Choice(
        what="the board",
        name="banks in the SDRAM's addresses",
        value="highest bits",
        basis=ASSUMED,
        source="the controller has no setting for it, and no document says it",
        alternative="above a row's columns",
        change=lambda run: run.changed(overrides={"sdram.cyclescope,bank-decoding": "interleaved"}),
    ),
)

LEFT_OUT = (
    Omission(
        what="the measurement's own time",
        why="the report does not say how it measured; it is not part of the simulated times",
        effect_pct=20,
        cells="register accesses and buffer accesses of 1 byte, of the two optimised drivers",
        estimate="besides their bits, published accesses of one message take 4.3 us and those of "
        "two take 4.9 us: about 0.6 us a message and 3.7 us an access, of 7 to 21 us",
    ),
    Omission(
        what="further work of Linux's calls",
        why="counts of preemption, checks for sleeping callers, disabled tracing hooks, and GCC's "
        "code for them: the simulated code is clang's",
        effect_pct=15,
        cells="buffer accesses of spi-gpio",
        estimate="533 cycles a bit are published; 4 calls of 100 simulated ones and 4 accesses "
        "leave 100, some 25 for each call",
    ),
    Omission(
        what="the parts of Linux's wake-up",
        why="one delay represents all of them, and it is spent in one place",
        effect_pct=8,
        cells="register accesses of spi-gpio and spi-gpio-atben",
        estimate="published reads of registers have 57 us besides their bits, writes 53 us",
    ),
    Omission(
        what="cold caches",
        why="accesses are measured in a row, so that code and data are in the caches; the report "
        "does not say whether the author's were",
        effect_pct=8,
        cells="accesses of one or two bytes, of the two optimised drivers",
        estimate="a line of 32 bytes takes 0.25 us from SDRAM; two or three of about 40 lines that "
        "an access uses may have to be loaded again",
    ),
    Omission(
        what="Linux's tick",
        why="a hundred times a second; nothing interrupts the simulated accesses",
        effect_pct=0.5,
        cells="all",
        estimate="some 20 to 50 us each 10 ms",
    ),
)
