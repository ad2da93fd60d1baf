"""The activity of a board's LEDs in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Led:
    """An LED at a pin.

    The LED went on `times_on` times and off `times_off` times, the last time at `last_ps`, and was
    on for `on_ps` in all. `period_ps` is the mean of its last periods (up to eight), each from
    switching on to the next switching on, and `on_in_period_ps` is the mean on-time in a period;
    both stay None without two periods, or if a period differs from the mean by more than 10 %.
    """

    label: str
    pin: str
    is_on: bool
    times_on: int
    times_off: int
    on_ps: int
    last_ps: int | None = None
    period_ps: int | None = None
    on_in_period_ps: int | None = None

    @property
    def moved(self) -> bool:
        """Whether the LED went on or off at all."""
        return self.times_on + self.times_off > 0

    @property
    def duty(self) -> float | None:
        """The duty cycle: the part of its period in which the LED is on; None without a period."""
        if not self.period_ps or self.on_in_period_ps is None:
            return None
        return self.on_in_period_ps / self.period_ps

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a run."""
        return dict(vars(self))
