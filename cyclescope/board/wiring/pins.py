"""The pins, LEDs and buttons of a board, by the names that users give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cyclescope._engine import Machine
from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.similar_names import did_you_mean_or


@dataclass(frozen=True)
class Part:
    """An LED or a button: its label, its pin, and whether it is active low.

    The label and the name of its node are accepted as names, too.
    """

    label: str
    pin: str
    is_active_low: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pins:
    """A board's ports with their numbers of pins, its LEDs and its buttons."""

    ports: Mapping[str, int] = field(default_factory=dict)
    leds: tuple[Part, ...] = ()
    keys: tuple[Part, ...] = ()

    @staticmethod
    def of(machine: Machine) -> Pins:
        """The pins of a machine."""
        ports, leds, keys = machine.pins()
        return Pins(
            dict(ports), tuple(_part(*led) for led in leds), tuple(_part(*key) for key in keys)
        )

    def pin(self, name: str, place: str) -> str:
        """The pin of this name, "gpioa.7"; `place` is for messages. Raises `UsageError`."""
        port, _, number = name.rpartition(".")
        count = self.ports.get(port)
        if count is None:
            there = _those_of("GPIO ports", self.ports)
            hint = did_you_mean_or(port, list(self.ports), there)
            said = inputs.printable(name)
            raise UsageError(f"{place}: no pin {said!r}: expected PORT.NUMBER{hint}")
        if number not in map(str, range(count)):
            said = inputs.printable(name)
            raise UsageError(f"{place}: no pin {said!r}: {port} has the pins 0 to {count - 1}")
        return name

    def led(self, name: str, place: str) -> str:
        """The LED of this name. Raises `UsageError`."""
        return _found(self.leds, name, place, "light")

    def key(self, name: str, place: str) -> str:
        """The button of this name. Raises `UsageError`."""
        return _found(self.keys, name, place, "button")


def _part(names: tuple[str, str, str], pin: str, is_active_low: bool) -> Part:
    return Part(names[0], pin, is_active_low, tuple(names))


def _found(parts: tuple[Part, ...], name: str, place: str, what: str) -> str:
    for part in parts:
        if name in part.names:
            return name
    known = [part.label for part in parts]
    hint = did_you_mean_or(name, known, _those_of(f"{what}s", known))
    raise UsageError(f"{place}: no {what} {inputs.printable(name)!r}{hint}")


def _those_of(what: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"the board's {what} are {listed}" if listed else f"the board has no {what}"
