"""`cyclescope demo`: a first look, with a shipped program on a shipped board."""

from __future__ import annotations

import click

from cyclescope.cli.colour import no_color_option
from cyclescope.host import interrupts, processors
from cyclescope.host.interrupts import Interrupted

APP = "fir_filter"
BOARD = "stm32f4-disco"


@click.command("demo")
@no_color_option
def demo_command() -> None:
    """Profile a sample program and show what would make it faster.

    It shows where the cycles of a program that comes with Cyclescope went, which source lines take
    most of them, and what would make it faster. Nothing is built, no file is written, and each
    number is measured in this run.
    """
    from cyclescope import firmware
    from cyclescope.advising import study
    from cyclescope.cli.tables import demo as demo_tables
    from cyclescope.cli.tables import run as tables
    from cyclescope.sweeps.requests import Request

    elf = firmware.shipped_elf(APP, BOARD)
    screen = tables.console()
    with interrupts.held_back() as held:
        try:
            planned = study.study(Request(str(elf), BOARD), {}, False, held.stop)
            screen.print(*demo_tables.run(planned, firmware.load_app(APP)), sep="\n")
            # the cache is neither read nor written
            found = planned.run(study.Running(processors.count(), held.stop, store=None))
        except study.StoppedError:
            raise Interrupted(held.number or 0) from None
        screen.print(*demo_tables.advice(found), sep="\n")
        screen.print(demo_tables.commands(elf, BOARD), soft_wrap=True)
