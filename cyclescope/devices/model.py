"""Base classes of Python devices: `Device` on a bus, `SpiChip` and `I2cChip` on wires."""

from __future__ import annotations

from typing import ClassVar, Self

from cyclescope._engine import DeviceBase
from cyclescope.devices import saving
from cyclescope.devices.clock import Clock
from cyclescope.devices.properties import Property
from cyclescope.devices.registers import Register
from cyclescope.errors import UsageError


class Model(DeviceBase):
    """The base class of devices and chips.

    The engine makes one for each node of a board and each run, sets its properties, and calls
    `__init__` without arguments, then `reset` at time 0. It calls the methods in the order of time;
    `now_ps` is the simulated time of the call. Values that depend on time alone are calculated in
    the call, from `now_ps`. A model must use neither the host's time nor random numbers: the same
    input gives the same result.
    """

    compatible: ClassVar[str] = ""
    wire: ClassVar[str | None] = None
    properties: ClassVar[tuple[Property[object], ...]] = ()

    label: str = "device"
    """The label of the node, or else its name."""
    clocks: tuple[Clock, ...] = ()
    """The clocks in the node's property `clocks`."""

    counters: dict[str, int]
    """Totals for the results, by name: "reads" becomes "label.reads"."""

    def __new__(cls, *arguments: object, **named: object) -> Self:
        """Make an object; the board sets its node."""
        made = super().__new__(cls, *arguments, **named)
        made.counters = {}
        return made

    def __init_subclass__(cls) -> None:
        """Collect the properties, starting with the base classes."""
        found = {
            name: value
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if isinstance(value, Property)
        }
        cls.properties = tuple(found.values())

    @property
    def clock(self) -> Clock:
        """The device's first clock. Raises `UsageError` if it has no clock."""
        if not self.clocks:
            raise UsageError(f"{self.label} has no clock: name it in clocks= of its decorator")
        return self.clocks[0]

    @property
    def clock_hz(self) -> int:
        """The frequency of the device's first clock, in hertz."""
        return self.clock.hz

    def schedule(
        self, *, after_ps: int | None = None, at_ps: int | None = None, token: int = 0
    ) -> None:
        """Schedule a call of `event(token)` at the time `at_ps`, or `after_ps` from now.

        Each token has at most one event: another call moves it. Raises `ValueError` for a time in
        the past.
        """
        due_ps = at_ps if at_ps is not None else self.now_ps + (after_ps or 0)
        if (at_ps is None) == (after_ps is None):
            raise ValueError("schedule: give either after_ps or at_ps")
        if due_ps < self.now_ps:
            raise ValueError(f"schedule: {due_ps} ps is in the past: the time is {self.now_ps} ps")
        self._schedule(due_ps, token)

    def cancel(self, token: int = 0) -> None:
        """Cancel the event of this token."""
        self._cancel(token)

    def irq(self, level: bool, index: int = 0) -> None:
        """Set the level of interrupt line `index`; no effect if the node has no such line."""
        self._irq(index, level)

    def note(self, text: str) -> None:
        """Add a line to the notes of the run, once. The note does not name the device."""
        self._note(" ".join(text.split()))

    def print(self, *values: object) -> None:
        """Print a line: on the console if the node is the board's console, else after its label."""
        self._print(f"{' '.join(map(str, values))}\n")

    def exit(self, status: int = 0) -> None:
        """End the run after the current instruction, like the firmware's exit with this status."""
        self._exit(status)

    def reset(self) -> None:
        """Called when the board comes out of reset, at time 0."""

    def event(self, token: int) -> None:
        """Called when an event is due; `now_ps` is its scheduled time."""

    def save_state(self) -> bytes:
        """The device's state for a snapshot: everything that changes in a run.

        By default these are its attributes, which must be plain data or objects of its module's
        classes. The engine saves scheduled events and the levels of interrupt lines. An exception
        makes the snapshot fail.
        """
        return saving.saved(self)

    def load_state(self, data: bytes) -> None:
        """Restore a state from `save_state`, possibly of another object for the same node."""
        saving.load(self, data)


class Device(Model):
    """A device with registers on a bus.

    A class has `Register` attributes, or its own `read` and `write`. An access may raise
    `BusError`: the core then takes a bus fault.
    """

    registers: ClassVar[dict[int, Register]] = {}
    pins: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Collect the registers. Raises `UsageError` for two registers at one offset."""
        super().__init_subclass__()
        named = {
            name: value
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if isinstance(value, Register)
        }
        cls.registers = {register.offset: register for register in named.values()}
        if len(cls.registers) < len(named):
            raise UsageError(f"{cls.__name__}: two registers have the same offset")

    def read(self, offset: int, size: int) -> int | tuple[int, int]:
        """A load of `size` bytes (1, 2 or 4) at `offset`, a multiple of `size`.

        Returns the value, or a pair of the value and the completion time of the access in
        picoseconds of simulated time; without a time it completes at once.
        """
        register = self.registers.get(offset & ~3)
        if register is None:
            self.note(f"a read at offset {offset:#x}, where the device has no register, returned 0")
            return 0, self.completes_ps(is_write=False)
        value = register.read_by_firmware(self) >> 8 * (offset % 4) & (1 << 8 * size) - 1
        return value, self.completes_ps(is_write=False)

    def write(self, offset: int, size: int, value: int) -> int | None:
        """A store of `size` bytes at `offset`.

        Returns the completion time of the access in picoseconds of simulated time; None: at once.
        """
        register = self.registers.get(offset & ~3)
        if register is None:
            self.note(
                f"a write at offset {offset:#x}, where the device has no register, was ignored"
            )
        elif size == 4:
            register.write_by_firmware(self, value)
        else:
            shift, lanes = 8 * (offset % 4), (1 << 8 * size) - 1
            # bits outside the access are 0: a 1 there would clear bits of a w1c register
            rest = 0 if register.access == "w1c" else register.__get__(self, type(self))
            register.write_by_firmware(self, rest & ~(lanes << shift) | value << shift)
        return self.completes_ps(is_write=True)

    def completes_ps(self, is_write: bool) -> int:
        """The completion time of an access to a `Register`; a class may override it."""
        return self.now_ps

    def drive(self, pin: str, level: bool | None) -> None:
        """Drive a pin to a level from now on; None releases it.

        `pin` is the name of its property without "-gpios". No effect if the node lacks the
        property. Raises `ValueError` for a pin that the class does not declare.
        """
        self._drive(self._index_of(pin), level)

    def level(self, pin: str) -> bool:
        """The level of a pin at the start of the call, or the level that the device drove since.

        False if the node lacks the property. Raises `ValueError` as `drive` does.
        """
        return self._level(self._index_of(pin))

    def pin_changed(self, pin: str, level: bool) -> None:
        """Called when a pin has changed, except by `drive`."""

    def _index_of(self, pin: str) -> int:
        if pin not in self.pins:
            has = ", ".join(self.pins) or "none"
            raise ValueError(f"{type(self).__name__} has no pin {pin!r}; it has {has}")
        return self.pins.index(pin)

    def irq_input(self, input: int, level: bool) -> None:
        """Called with the level of an interrupt line into this device (an interrupt controller)."""


class SpiChip(Model):
    """A chip that exchanges bytes on an SPI bus, in modes 0 and 3, most significant bit first.

    `select` returns the first byte that the chip sends. At the end of each byte, `transfer` gets
    the received byte, and returns the byte to send during the next one. None leaves the line
    undriven and pulled up: 0xff.
    """

    wire = "spi"

    def select(self) -> int | None:
        """Called when chip select becomes active; returns the first byte to send."""
        return None

    def transfer(self, byte_in: int) -> int | None:
        """Called with a received byte; returns the next byte to send."""
        return None

    def deselect(self) -> None:
        """Called when chip select becomes inactive."""


class I2cChip(Model):
    """A chip on an I2C bus, called for frames that begin with its address.

    Each call is made at the falling edge of SCL after a byte's eighth clock, or after the
    acknowledge. A chip may stretch the clock: it then returns its result together with the
    picoseconds for which it holds SCL low.
    """

    wire = "i2c"

    def address(self, is_read: bool) -> bool | tuple[bool, int] | None:
        """Called for its address after a START or repeated START; returns whether it acknowledges.

        None means True.
        """
        return None

    def write(self, byte: int) -> bool | tuple[bool, int] | None:
        """Called with a byte from the master; returns whether it acknowledges. None means True."""
        return None

    def read(self) -> int | tuple[int, int] | None:
        """Called when the master reads; returns the next byte. None: undriven, which reads 0xff."""
        return None

    def acknowledged(self, ack: bool) -> None:
        """Called after a read byte; `ack`: the master acknowledged it and wants another."""

    def stop(self, is_repeated_start: bool) -> None:
        """Called when a STOP or a repeated START has ended the frame."""
