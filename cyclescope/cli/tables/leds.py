"""The activity of a board's LEDs, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from cyclescope.board.wiring.leds import Led
from cyclescope.units import format_ps, format_share


def led_table(leds: Sequence[Led]) -> Table:
    """How often each LED went on and off, and its period if it has one."""
    table = Table(title="lights", title_justify="left")
    for column in ("light", "pin", "is"):
        table.add_column(column, overflow="fold")
    for column in ("went on", "went off", "on for", "period", "on"):
        table.add_column(column, justify="right")
    for led in leds:
        state = "on" if led.is_on else "off"
        times = (f"{led.times_on:,}", f"{led.times_off:,}", format_ps(led.on_ps))
        table.add_row(Text(led.label), led.pin, state, *times, *_period(led))
    return table


def _period(led: Led) -> tuple[str, str]:
    if led.period_ps is None or led.on_in_period_ps is None:
        return "", ""
    return format_ps(led.period_ps), format_share(led.on_in_period_ps, led.period_ps)
