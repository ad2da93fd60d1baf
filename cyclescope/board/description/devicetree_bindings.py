"""Bindings: each compatible with its properties, as the models declare them.

The engine's models declare a property's range and meaning when they read it; this module returns
these declarations. `docs/reference/bindings/` is generated from them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cyclescope import _engine
from cyclescope.devices import registry
from cyclescope.errors import UsageError
from cyclescope.similar_names import did_you_mean_or


@dataclass(frozen=True)
class BindingProperty:
    """A property that a node may have.

    `kind` is the type of the value: "number" (one cell), "numbers" (cells), "flag" (empty: true if
    present), "word" (a string out of a few), "words" and "string" (any), "ranges" (pairs of address
    and size), or the kind of node that it refers to ("clocks", "interrupts", "DMA requests",
    "pins", "ports", "core", "bus"); the value of "any" is not read. `unit` is the unit of a number
    ("" for a count or an address). `default` is the value of an absent property, as text; None if
    it has no default. `range` is the allowed values; None if `meaning` has them, or any value is
    allowed. `meaning` has one text, or one for each item of a list (`clocks`, `interrupts`).
    `required` properties must be present, under the condition `when` if that is given. `timing`
    properties are timing parameters, with their sources in `cyclescope,sources`. `ignored`
    properties are accepted for compatibility with Linux and have no effect. `when` is the condition
    under which the property is read; None is always.
    """

    name: str
    kind: str
    unit: str
    required: bool
    default: str | None
    range: str | None
    meaning: tuple[str, ...]
    timing: bool
    ignored: bool
    when: str | None

    @property
    def need(self) -> str:
        """Whether the property is required or optional, in words."""
        if self.required:
            return "required" if self.when is None else f"required if {self.when}"
        return "optional" if self.when is None else f"optional, read if {self.when}"

    @property
    def meanings(self) -> str:
        """The meaning as one text; items of a list are numbered from 0."""
        if len(self.meaning) == 1:
            return self.meaning[0]
        items = [f"{index}: {text}" for index, text in enumerate(self.meaning) if text]
        return "; ".join(items)


@dataclass(frozen=True)
class BindingBit:
    """A bit of a register, or a field of several bits.

    `mask` has its bits. `access` is as in `BindingRegister`. Firmware may set a bit that is not
    `modelled`, without an effect.
    """

    name: str
    mask: int
    access: str
    modelled: bool


@dataclass(frozen=True)
class BindingRegister:
    """A register of a device's first range of addresses.

    `offset` is in bytes. `access` is "ro", "wo", "rw", "w1c" (a written 1 clears), "w0c" (a written
    0 clears), "w1s" (a written 1 sets), "w1t" (a written 1 toggles) or "rc" (a read clears).
    `reset` is the value after reset. `bits` are the bits that have names.
    """

    name: str
    offset: int
    access: str
    reset: int
    bits: tuple[BindingBit, ...]


@dataclass(frozen=True)
class Binding:
    """The documentation of a compatible.

    `group` is its heading ("Timers and counters"). The paragraphs of `about` describe the device,
    name its document, and say which parts are modelled and which are not. `activities` are the
    activities that the model records: name, kind, begin and end. `registers` are those that have
    names, in the order of their offsets.
    """

    compatible: str
    group: str
    about: str
    properties: tuple[BindingProperty, ...]
    activities: tuple[tuple[str, str, str], ...] = ()
    registers: tuple[BindingRegister, ...] = ()

    @property
    def title(self) -> str:
        """The first sentence of `about`, without compatibles before a colon and a full stop."""
        text = " ".join(self.about.split("\n\n")[0].split())
        head, colon, rest = text.partition(": ")
        text = rest if colon and head.startswith("`") else text
        return _capital(re.split(r"(?<=[a-z0-9)\"`])\.(?=\s[A-Z])", text)[0].rstrip("."))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def bindings() -> list[Binding]:
    """All compatibles with a model, by groups."""
    found = []
    for entry in (*_engine.bindings(), *registry.bindings()):
        properties = tuple(
            BindingProperty(**{**prop, "meaning": tuple(prop["meaning"])})
            for prop in entry.pop("properties")
        )
        # the compatibles at its start are in the heading already
        about = re.sub(r"^`[^`]+`((, | and )`[^`]+`)*: ", "", entry.pop("about").strip())
        activities = tuple(entry.pop("activities", ()))
        registers = tuple(
            BindingRegister(**{**row, "bits": tuple(BindingBit(*bit) for bit in row["bits"])})
            for row in entry.pop("registers", ())
        )
        found.append(
            Binding(
                **entry,
                about=_capital(about),
                properties=properties,
                activities=activities,
                registers=registers,
            )
        )
    return found


def common_properties() -> dict[str, str]:
    """Properties that any node may have: their names and meanings."""
    return dict(_engine.common_properties())


def binding(compatible: str) -> Binding:
    """The binding of one compatible.

    Raises `UsageError`, with similar names, if there is no model of it.
    """
    known = {entry.compatible: entry for entry in bindings()}
    if compatible in known:
        return known[compatible]
    hint = did_you_mean_or(compatible, known, "`cyclescope devices` lists all")
    raise UsageError(f"there is no model of '{compatible}'{hint}")
