"""The registry of Python devices: `device` registers a class for all boards made later.

The engine checks a class's declarations when it is registered.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from cyclescope import _engine
from cyclescope.devices import failing
from cyclescope.devices.clock import Clock
from cyclescope.devices.model import Device, Model
from cyclescope.devices.registers import Register
from cyclescope.errors import EngineError, UsageError

GROUP = "Devices in Python"
# Sensors have clocks of up to about 10 MHz.
_MAX_HZ = 10_000_000
_MOST_HZ = 4_000_000_000
_MOST_RANGES = 16
_PINS = "-gpios"
_COMPATIBLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9,._+-]*")

M = TypeVar("M", bound=type[Model])


@dataclass(frozen=True)
class Registered:
    """A registered class, its description for the engine, and its place in the source."""

    cls: type[Model]
    described: dict[str, Any]
    group: str
    file: str


_registered: dict[str, Registered] = {}


def device(
    compatible: str,
    *,
    replace: bool = False,
    ignored: Sequence[str] = (),
    clocks: Sequence[str] = (),
    interrupts: Sequence[str] = (),
    pins: Mapping[str, str] | None = None,
    ranges: int = 1,
    max_hz: int = _MAX_HZ,
    group: str = GROUP,
) -> Callable[[M], M]:
    """A decorator that registers a `Device`, `SpiChip` or `I2cChip` for all boards made later.

    `compatible` is the class's devicetree compatible. A compatible that already has a model, also
    one in Python, is an error unless `replace` is true. `ignored` properties are accepted in the
    node without effect, such as a supply for Linux. `clocks` are the meanings of the clocks in the
    node's `clocks`, `interrupts` the meanings of its interrupt lines (a chip has one at most).
    `pins` are properties that name a pin of a port, such as "reset-gpios", with their meanings;
    `Device.drive`, `level` and `pin_changed` call that pin "reset". `ranges` is the least number of
    ranges in `reg`. `max_hz` is a chip's highest clock, unless its node has `spi-max-frequency`.
    `cyclescope.devices.bindings` shows the class's docstring and `group`.

    Raises `UsageError` for an unsuitable class, and for arguments that do not fit together.
    """

    def register(cls: M) -> M:
        file, line = _place(sys._getframe(1))
        try:
            _check(cls, file, compatible, interrupts, replace)
            _check_pins(cls, pins or {})
            if not 0 <= ranges <= _MOST_RANGES or not 1 <= max_hz <= _MOST_HZ:
                raise UsageError(f"ranges must be 0 to {_MOST_RANGES}, and max_hz 1 to {_MOST_HZ}")
            cls.compatible = compatible
            if issubclass(cls, Device):
                cls.pins = tuple(name.removesuffix(_PINS) for name in pins or {})
            described = {
                "compatible": compatible,
                "replaces": replace,
                "wire": cls.wire,
                "ranges": ranges,
                "max_hz": max_hz,
                "ignored": list(ignored),
                "clocks": list(clocks),
                "interrupts": list(interrupts),
                "pins": list((pins or {}).items()),
                "properties": [one.described for one in cls.properties],
                "make": lambda *given: _made(cls, *given),
                "report": lambda made, *what: failing.message(cls, made, *what),
            }
            _engine.declared([described])
        except (EngineError, TypeError, OverflowError) as error:
            raise UsageError(f"{file}:{line}: {cls.__name__}: {error}") from error
        _registered[compatible] = Registered(cls, described, group, file)
        return cls

    return register


def described(made: dict[str, Model] | None = None) -> list[dict[str, Any]]:
    """Descriptions of all classes for the engine, by their compatibles.

    The objects that the engine makes are kept in `made`, by the labels of their nodes.
    """
    models = [_registered[name].described for name in sorted(_registered)]
    if made is None:
        return models
    return [model | {"make": _kept(model["make"], made)} for model in models]


def _kept(make: Callable[..., Model], made: dict[str, Model]) -> Callable[..., Model]:
    def keep(label: str, *given: Any) -> Model:
        made[label] = make(label, *given)
        return made[label]

    return keep


def files() -> set[str]:
    """The files that define the classes."""
    return {one.file for one in _registered.values()}


def forget(file: str | os.PathLike[str]) -> None:
    """Unregister the devices of a file for all boards made later."""
    for name in [name for name, one in _registered.items() if one.file == os.fspath(file)]:
        del _registered[name]


def bindings() -> list[dict[str, Any]]:
    """The bindings of all registered classes, in the form of the engine's own models.

    Each is a dict of its compatible, group, about (the class's docstring), properties, activities
    (always empty), and registers.
    """
    found = []
    for described_one, properties in zip(described(), _engine.declared(described()), strict=True):
        one = _registered[described_one["compatible"]]
        about = one.cls.__doc__ or "A Python device."
        entry = {"compatible": described_one["compatible"], "group": one.group}
        entry |= {"about": _text(about), "properties": properties, "activities": []}
        entry |= {"registers": _registers(one.cls)}
        found.append(entry)
    return found


def _registers(cls: type[Model]) -> list[dict[str, Any]]:
    """The registers of a class, by their offsets, as those of the engine's models."""
    rows = {value.offset: value for _, value in inspect.getmembers(cls, _is_register)}
    return [
        {"name": row.name, "offset": at, "access": row.access, "reset": row.reset, "bits": []}
        for at, row in sorted(rows.items())
    ]


def _is_register(value: object) -> TypeGuard[Register]:
    return isinstance(value, Register)


def _place(frame: Any) -> tuple[str, int]:
    return frame.f_code.co_filename, frame.f_lineno


def _is_again(other: Registered, cls: type[Model], file: str) -> bool:
    """Whether a class is a new version of a registered one: a notebook's cell may run again."""
    if (other.cls.__module__, other.cls.__qualname__) != (cls.__module__, cls.__qualname__):
        return False
    return cls.__module__ == "__main__" or other.file == file


def _check(
    cls: type[Model], file: str, compatible: str, interrupts: Sequence[str], replace: bool
) -> None:
    """Raises `UsageError` if the class can't be registered."""
    if not issubclass(cls, Model):
        raise UsageError(
            "the class must derive from cyclescope.devices' Device, SpiChip or I2cChip"
        )
    if not _COMPATIBLE.fullmatch(compatible):
        raise UsageError(f"{compatible!r}: expected a devicetree compatible such as 'acme,counter'")
    if not issubclass(cls, Device) and len(interrupts) > 1:
        raise UsageError("a chip can have only one interrupt pin")
    other = _registered.get(compatible)
    if other and not replace and not _is_again(other, cls, file):
        raise UsageError(
            f"'{compatible}' is already registered by {other.cls.__qualname__} in {other.file}; "
            "give replace=True to replace it"
        )


def _check_pins(cls: type[Model], pins: Mapping[str, str]) -> None:
    """Raises `UsageError` for invalid pins."""
    if pins and not issubclass(cls, Device):
        raise UsageError("a chip can't have pins of ports; only a Device can")
    for name in pins:
        if not name.endswith(_PINS) or name == _PINS:
            raise UsageError(f"{name!r}: the name of a pin's property must end with {_PINS}")


def _made(cls: type[Model], label: str, values: Sequence[Any], clocks: Sequence[int]) -> Model:
    """The object for a node."""
    made = cls.__new__(cls)
    made.label = label
    made.clocks = tuple(map(Clock, clocks))
    for one, value in zip(cls.properties, values, strict=True):
        made.__dict__[one.attribute] = value
    made.__init__()  # type: ignore[misc]
    return made


def _text(docstring: str) -> str:
    """A docstring without the indentation of its later lines."""
    return "\n".join(line.strip() for line in docstring.strip().splitlines())
