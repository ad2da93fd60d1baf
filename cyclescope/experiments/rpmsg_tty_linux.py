"""RPMsg over a tty between Linux on a Cortex-A7 and a Cortex-M4: the blog's benchmark as it was.

As `rpmsg_tty`, but the client is a program for Linux, and the kernel is Debian's, unmodified: its
tty layer, its drivers of RPMsg, remoteproc and the mailbox, and its scheduler. Nothing stands for
Linux's time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cyclescope.bench.experiment import Experiment, Run
from cyclescope.bench.rows import Row, Step, Steps
from cyclescope.board.results import Settings
from cyclescope.experiments import rpmsg_tty
from cyclescope.experiments.rpmsg_tty_follows import LOG_PART

APP = "rpmsg_tty_linux"
LIMIT = "30s"
HANDED_OVER = "A7: interrupt, and the mailbox's thread"
"""The first of the parts between the M4's acknowledgement and the client."""

# From the client's CRC to the end of its read, over both cores.
_STEPS = (
    Step("crc16", True, "A7: the client's CRC"),
    Step("cm4:format_log", False, "A7: write, tty, RPMsg, mailbox; M4's interrupt"),
    Step("cm4:format_log", True, LOG_PART, is_last=True),
    Step("cm4:virt_uart_transmit", True, "M4: the acknowledgement"),
    Step("mbox_chan_received_data", False, HANDED_OVER),
    Step("rproc_vq_interrupt", False, "A7: remoteproc's work queue"),
    Step("flush_to_ldisc", False, "A7: RPMsg, and the tty's worker"),
    Step("n_tty_read", True, "A7: line discipline, and the reader's wake-up", is_last=True),
)


def _parts(settings: Settings) -> Steps:
    return Steps("run_test", _STEPS, "A7: the client's return and clock")


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    of_linux = [_handed_over_us(row) for row in rows if row.published is not None and row.parts]
    if of_linux:
        yield (
            f"From the M4's acknowledgement until the client has it, Linux takes "
            f"{min(of_linux):.0f} to {max(of_linux):.0f} us in each test: the mailbox's interrupt "
            "and thread, a work queue, the tty's worker, and the reader's wake-up."
        )


def _handed_over_us(row: Row) -> float:
    """The time of a test after the M4's acknowledgement."""
    names = [entry.cause for entry in row.parts]
    return sum(entry.ps for entry in row.parts[names.index(HANDED_OVER) :]) / 1e6


EXPERIMENT = Experiment(
    name="rpmsg-tty-linux",
    title="RPMsg over a tty between Linux on a Cortex-A7 and a Cortex-M4 of an STM32MP157",
    published=rpmsg_tty.TABLE,
    runs=(
        Run(APP, rpmsg_tty.BOARD, {}, limit=LIMIT, documented=True),
        Run(APP, rpmsg_tty.BOARD, {}, {"cpu1.status": "okay"}, limit=LIMIT, is_extra=True),
        Run(APP, rpmsg_tty.BOARD, {"log": "off"}, limit=LIMIT, is_extra=True),
    ),
    cells=(replace(rpmsg_tty.CELL, app=APP, parts=_parts, sweeps=()),),
    notes=(
        "The kernel is the one that Debian packages for 32-bit Arm, with its modules; the report's "
        "was ST's, with another driver of the tty. The client and the M4's firmware are those of "
        "rpmsg-tty.",
        "One Cortex-A7 runs Linux, and both do in a run of --all: on the report's board both did.",
    ),
    findings=_findings,
    # a boot before each test
    is_explained=False,
    question="How fast is RPMsg over a tty from Linux to the M4, with the real kernel?",
)
