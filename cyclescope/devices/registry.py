"""Which devices there are in Python: `device` registers a class, boards are made with all of them.

The engine checks what a class says of itself as it is registered.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from cyclescope import _engine
from cyclescope.devices import failing
from cyclescope.devices.clock import Clock
from cyclescope.devices.model import Device, Model
from cyclescope.errors import EngineError, UsageError

GROUP = "Devices in Python"
# Clocks of sensors end at some 10 MHz.
_MAX_HZ = 10_000_000
_MOST_HZ = 4_000_000_000
_MOST_RANGES = 16
_PINS = "-gpios"
_COMPATIBLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9,._+-]*")

M = TypeVar("M", bound=type[Model])


@dataclass(frozen=True)
class Registered:
    """A class, what the engine gets of it, and where it stands."""

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
    """A decorator of a `Device`, `SpiChip` or `I2cChip`: boards that are made from now on have it.

    `compatible` is the devicetree compatible that it answers to. One that has a model already is an
    error, unless `replace` has the class take its place; so is one of another class in Python.
    `ignored` properties may stand in the node, as a supply does for Linux, and change nothing.
    `clocks` are the meanings of the clocks that the node names in `clocks`, `interrupts` those of
    its interrupt lines (a chip has one at the most). `pins` are properties that name a pin of a
    port, as "reset-gpios", with their meanings: `Device.drive`, `level` and `pin_changed` have
    "reset". A device has so many `ranges` of `reg` at least. A chip takes clocks up to `max_hz`,
    unless its node has `spi-max-frequency`. The class's docstring and `group` stand in
    `cyclescope.devices.bindings`.

    Raises `UsageError` for a class that is none, and for what does not go together.
    """

    def register(cls: M) -> M:
        file, line = _place(sys._getframe(1))
        try:
            _check(cls, file, compatible, interrupts, replace)
            _check_pins(cls, pins or {})
            if not 0 <= ranges <= _MOST_RANGES or not 1 <= max_hz <= _MOST_HZ:
                raise UsageError(f"ranges are 0 to {_MOST_RANGES}, and max_hz is 1 to {_MOST_HZ}")
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
                "tell": lambda made, *what: failing.told(cls, made, *what),
            }
            _engine.declared([described])
        except (EngineError, TypeError, OverflowError) as error:
            raise UsageError(f"{file}:{line}: {cls.__name__}: {error}") from error
        _registered[compatible] = Registered(cls, described, group, file)
        return cls

    return register


def described(made: dict[str, Model] | None = None) -> list[dict[str, Any]]:
    """What the engine gets of all classes, by their compatibles.

    Objects that it has made of them are kept in `made`, by the labels of their nodes.
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
    """The files that the classes stand in."""
    return {one.file for one in _registered.values()}


def forget(file: str | os.PathLike[str]) -> None:
    """Boards that are made from now on have no devices of this file."""
    for name in [name for name, one in _registered.items() if one.file == os.fspath(file)]:
        del _registered[name]


def bindings() -> list[dict[str, Any]]:
    """What the nodes of all registered classes may have, as the engine says it of its own models.

    Each is a dict of its compatible, group, about (the class's docstring), properties, and
    activities, of which it tells none.
    """
    found = []
    for described_one, properties in zip(described(), _engine.declared(described()), strict=True):
        one = _registered[described_one["compatible"]]
        about = one.cls.__doc__ or "A device in Python."
        entry = {"compatible": described_one["compatible"], "group": one.group}
        entry |= {"about": _text(about), "properties": properties, "activities": []}
        found.append(entry)
    return found


def _place(frame: Any) -> tuple[str, int]:
    return frame.f_code.co_filename, frame.f_lineno


def _is_again(other: Registered, cls: type[Model], file: str) -> bool:
    """Whether a class is the same one, written anew: a notebook's cell may run again."""
    if (other.cls.__module__, other.cls.__qualname__) != (cls.__module__, cls.__qualname__):
        return False
    return cls.__module__ == "__main__" or other.file == file


def _check(
    cls: type[Model], file: str, compatible: str, interrupts: Sequence[str], replace: bool
) -> None:
    """Raises `UsageError` for what can't be registered."""
    if not issubclass(cls, Model):
        raise UsageError("it derives from none of cyclescope.devices' Device, SpiChip and I2cChip")
    if not _COMPATIBLE.fullmatch(compatible):
        raise UsageError(f"{compatible!r} is no devicetree compatible, as in 'acme,counter'")
    if not issubclass(cls, Device) and len(interrupts) > 1:
        raise UsageError("a chip has one interrupt pin at the most")
    other = _registered.get(compatible)
    if other and not replace and not _is_again(other, cls, file):
        raise UsageError(
            f"'{compatible}' is {other.cls.__qualname__} of {other.file} already; "
            "replace=True takes its place"
        )


def _check_pins(cls: type[Model], pins: Mapping[str, str]) -> None:
    """Raises `UsageError` for pins that can't be."""
    if pins and not issubclass(cls, Device):
        raise UsageError("a chip has no pins of ports; a Device may have some")
    for name in pins:
        if not name.endswith(_PINS) or name == _PINS:
            raise UsageError(f"{name!r} names no pin: such properties end with {_PINS}")


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
    """Without the indentation of the lines behind the first."""
    return "\n".join(line.strip() for line in docstring.strip().splitlines())
