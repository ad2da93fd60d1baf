"""What a device in Python derives from: `Device` on a bus, `SpiChip` and `I2cChip` on wires."""

from __future__ import annotations

from typing import ClassVar, Self

from cyclescope._engine import DeviceBase
from cyclescope.devices import saving
from cyclescope.devices.clock import Clock
from cyclescope.devices.properties import Property
from cyclescope.devices.registers import Register
from cyclescope.errors import UsageError


class Model(DeviceBase):
    """What devices and chips have in common.

    The engine makes one for each node of a board and each run, sets its properties, and calls
    `__init__` without arguments, then `reset` at time 0. It calls the methods in the order of time;
    `now_ps` is the simulated time of the call. What depends on time alone is worked out in the
    call, from `now_ps`. Nothing of the host's time or of chance may go in: the same input gives the
    same result.
    """

    compatible: ClassVar[str] = ""
    wire: ClassVar[str | None] = None
    properties: ClassVar[tuple[Property[object], ...]] = ()

    label: str = "device"
    """The label of the node, or else its name."""
    clocks: tuple[Clock, ...] = ()
    """The clocks that the node names."""

    counters: dict[str, int]
    """Totals for the results, by name: "reads" is "label.reads" there."""

    def __new__(cls, *arguments: object, **named: object) -> Self:
        """An object without a node, until a board gives it one."""
        made = super().__new__(cls, *arguments, **named)
        made.counters = {}
        return made

    def __init_subclass__(cls) -> None:
        """Collect the properties, those of base classes first."""
        found = {
            name: value
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if isinstance(value, Property)
        }
        cls.properties = tuple(found.values())

    @property
    def clock(self) -> Clock:
        """The first of its clocks. Raises `UsageError` if it has none."""
        if not self.clocks:
            raise UsageError(f"{self.label} has no clock: name it in clocks= of its decorator")
        return self.clocks[0]

    @property
    def clock_hz(self) -> int:
        """The frequency of the first of its clocks, in hertz."""
        return self.clock.hz

    def schedule(
        self, *, after_ps: int | None = None, at_ps: int | None = None, token: int = 0
    ) -> None:
        """Have `event(token)` called at a time, or so long after now.

        A token has one event at a time: another call moves it. Raises `ValueError` for a time that
        has passed.
        """
        due_ps = at_ps if at_ps is not None else self.now_ps + (after_ps or 0)
        if (at_ps is None) == (after_ps is None):
            raise ValueError("an event is scheduled by after_ps or by at_ps")
        if due_ps < self.now_ps:
            raise ValueError(f"an event at {due_ps} ps, which is before now, {self.now_ps} ps")
        self._schedule(due_ps, token)

    def cancel(self, token: int = 0) -> None:
        """Have no event of this token called."""
        self._cancel(token)

    def irq(self, level: bool, index: int = 0) -> None:
        """Set the level of the interrupt line number `index`; nothing where the node has none."""
        self._irq(index, level)

    def note(self, text: str) -> None:
        """Tell the user a line, once: it is among the notes of the run. It names no device."""
        self._note(" ".join(text.split()))

    def print(self, *values: object) -> None:
        """Print a line: on the console, if the node is the board's, or else behind its label."""
        self._print(f"{' '.join(map(str, values))}\n")

    def exit(self, status: int = 0) -> None:
        """End the run after the current instruction, as the firmware's exit with this status."""
        self._exit(status)

    def reset(self) -> None:
        """The board comes out of reset, at time 0."""

    def event(self, token: int) -> None:
        """An event is due; `now_ps` is the time for which it was scheduled."""

    def save_state(self) -> bytes:
        """What a snapshot has of it: all that changes in a run.

        By default these are its attributes, as far as they are plain data or objects of classes of
        its own module. Events that are due and levels of interrupt lines are the engine's. What is
        raised here refuses the snapshot.
        """
        return saving.saved(self)

    def load_state(self, data: bytes) -> None:
        """Become what `save_state` gave, which may have been another object's of the same node."""
        saving.load(self, data)


class Device(Model):
    """A device with registers on a bus.

    A class has `Register` attributes, or `read` and `write` of its own, for what goes beyond them.
    An access may raise `BusError`: the core then takes a bus fault.
    """

    registers: ClassVar[dict[int, Register]] = {}
    pins: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Collect the registers. Raises `UsageError` for two at one offset."""
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
        """A load of `size` bytes (1, 2 or 4) at `offset`, a multiple of it.

        Gives the value, and perhaps when the access completes, in picoseconds of simulated time;
        without that, at once.
        """
        register = self.registers.get(offset & ~3)
        if register is None:
            self.note(f"a read at offset {offset:#x}, where there is no register, gives 0")
            return 0, self.completes_ps(is_write=False)
        value = register.read_by_firmware(self) >> 8 * (offset % 4) & (1 << 8 * size) - 1
        return value, self.completes_ps(is_write=False)

    def write(self, offset: int, size: int, value: int) -> int | None:
        """A store of `size` bytes at `offset`.

        Gives when the access completes, in picoseconds of simulated time; None is at once.
        """
        register = self.registers.get(offset & ~3)
        if register is None:
            self.note(f"a write at offset {offset:#x}, where there is no register, changes nothing")
        elif size == 4:
            register.write_by_firmware(self, value)
        else:
            shift, lanes = 8 * (offset % 4), (1 << 8 * size) - 1
            # the bits beside the access stay: a 1 there would clear some of a w1c register
            rest = 0 if register.access == "w1c" else register.__get__(self, type(self))
            register.write_by_firmware(self, rest & ~(lanes << shift) | value << shift)
        return self.completes_ps(is_write=True)

    def completes_ps(self, is_write: bool) -> int:
        """When an access to a `Register` completes: at once, unless a class says another time."""
        return self.now_ps

    def drive(self, pin: str, level: bool | None) -> None:
        """Drive a pin to a level from now on; None lets go of it.

        `pin` is the name of its property without "-gpios". Nothing where the node has no such
        property. Raises `ValueError` for a pin that the class has not.
        """
        self._drive(self._index_of(pin), level)

    def level(self, pin: str) -> bool:
        """The level of a pin as the call began, or as the device has driven it since.

        False where the node has no such property. Raises `ValueError` as `drive` does.
        """
        return self._level(self._index_of(pin))

    def pin_changed(self, pin: str, level: bool) -> None:
        """A pin has gone up or down, but by `drive`."""

    def _index_of(self, pin: str) -> int:
        if pin not in self.pins:
            has = ", ".join(self.pins) or "none"
            raise ValueError(f"{type(self).__name__} has no pin {pin!r}; it has {has}")
        return self.pins.index(pin)

    def irq_input(self, input: int, level: bool) -> None:
        """The level of an interrupt line that ends at this device (an interrupt controller)."""


class SpiChip(Model):
    """A chip that takes and gives bytes on an SPI wire, in modes 0 and 3, highest bit first.

    The first byte that it shows is what `select` gives. At the end of each byte `transfer` gets
    what came in, and gives what the chip shows during the next. None stands for lines that nobody
    drives, which are pulled up: 0xff.
    """

    wire = "spi"

    def select(self) -> int | None:
        """Chip select goes active: what the chip shows during the first byte."""
        return None

    def transfer(self, byte_in: int) -> int | None:
        """A byte has come in: what the chip shows during the next one."""
        return None

    def deselect(self) -> None:
        """Chip select goes inactive."""


class I2cChip(Model):
    """A chip on an I2C bus, which sees the frames that begin with its address.

    Each call is made at the falling edge of SCL behind a byte's eighth clock, or behind the
    acknowledge. A chip may keep SCL low for a while: it then gives its result together with the
    picoseconds for which it does.
    """

    wire = "i2c"

    def address(self, is_read: bool) -> bool | tuple[bool, int] | None:
        """Its address has come, behind a START or a repeated START: whether it acknowledges.

        None stands for True.
        """
        return None

    def write(self, byte: int) -> bool | tuple[bool, int] | None:
        """The master has written a byte: whether the chip acknowledges. None stands for True."""
        return None

    def read(self) -> int | tuple[int, int] | None:
        """The master reads: the next byte. None stands for a line that nobody drives, 0xff."""
        return None

    def acknowledged(self, ack: bool) -> None:
        """The master has acknowledged the byte that it read, and wants another, or has not."""

    def stop(self, is_repeated_start: bool) -> None:
        """A STOP or a repeated START has ended the frame."""
