"""The order of tasks in each operation: the note's figures 1-1 to 1-6, from pins of the board.

Each task, the interrupt's handler, and the measured operation drive a pin, as for a logic analyser
(`pins` of the app). The runs print no result, as the pins take time.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclescope.bench.views import Frames
from cyclescope.board.observing.frames import Trigger
from cyclescope.board.results import Settings
from cyclescope.experiments.rhealstone_ratios import OTHER_OPERATIONS, PUBLISHED_OPERATIONS

_MEASURED, _HANDLER = "pd24", "pd28"
_TASKS = ("pd25", "pd26", "pd27")
# The tasks of each operation, in the order in which it makes them.
_NAMES = {
    "task-switch": ("first task", "second task"),
    "task-preempt": ("low task", "high task"),
    "interrupt-latency": ("interrupted task",),
    "semaphore-shuffle": ("first task", "second task"),
    "deadlock-break": ("low task", "middle task", "high task"),
    "message-latency": ("sender", "receiver"),
}
# The last measurement of a run is the operation itself.
TRIGGER = Trigger(
    "pioA",
    wires=(_MEASURED, *_TASKS, _HANDLER),
    select=_MEASURED,
    clocks=0,
    is_last=True,
)


def _called(settings: Settings) -> tuple[tuple[str, str], ...]:
    operation = str(settings["operation"])
    handler = ((_HANDLER, "handler"),) if operation == "interrupt-latency" else ()
    tasks = zip(_TASKS, _NAMES[operation], strict=False)
    return ((_MEASURED, "measured, low"), *tasks, *handler)


FRAMES = Frames(
    title="Figures 1-1 to 1-6: what runs when",
    text="Pins of the board that tasks, the interrupt's handler and the measurement drive: a task "
    "or the handler runs while its pin is high. One operation each, from QSPI with caches. The "
    "kernel runs between two tasks; a part of that time belongs to the pins themselves.",
    panel="operation",
    called=_called,
    x_title="each operation over its own time",
    each=True,
)


def places() -> Iterator[dict[str, str]]:
    """The settings of each run."""
    for operation in (*PUBLISHED_OPERATIONS, *OTHER_OPERATIONS):
        yield {"operation": operation, "tick": "off", "pins": "on"}
