"""What a board's nodes may say: each compatible with its properties, as the models declare them.

The engine's models read a node's properties with their ranges and meanings; what stands here is
what they say while they do so. `docs/reference/bindings/` is made from it.
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

    `kind` says what its value is: "number" (one cell), "numbers" (cells), "flag" (empty; being
    there is its value), "word" (a string out of a few), "words" and "string" (any),
    "ranges" (pairs of address and size), or what it refers to ("clocks", "interrupts",
    "DMA requests", "pins", "ports", "core", "bus"); "any" is not looked at.
    `unit` is that of a number ("" where it has none: a count, an address).
    `default` is what counts where the node has none, as text; None where that is nothing.
    `range` says what the value may be; None where `meaning` does, or anything may be.
    `meaning` says what it means; of a list (`clocks`, `interrupts`) one text an item.
    `required` has the node fail without it; where `when` is given, only then.
    `timing` is a timing parameter, which has its source in `cyclescope,sources`.
    `ignored` is taken for Linux's sake, and changes nothing by itself.
    `when` says when it is read at all; None is always.
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
        """Whether it must be there, in words."""
        if self.required:
            return "required" if self.when is None else f"required if {self.when}"
        return "optional" if self.when is None else f"optional, read if {self.when}"

    @property
    def meanings(self) -> str:
        """The meaning as one text; items of a list by their numbers, from 0."""
        if len(self.meaning) == 1:
            return self.meaning[0]
        items = [f"{index}: {text}" for index, text in enumerate(self.meaning) if text]
        return "; ".join(items)


@dataclass(frozen=True)
class Binding:
    """What there is to know of a compatible.

    `group` is the heading under which it stands ("Timers and counters"); `about` says in
    paragraphs what it is, by which document, what is modelled, and what is not. `activities` is
    what it tells of what it does: name, kind, and from when to when.
    """

    compatible: str
    group: str
    about: str
    properties: tuple[BindingProperty, ...]
    activities: tuple[tuple[str, str, str], ...] = ()

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
    """All compatibles that there are models of, by groups."""
    found = []
    for entry in (*_engine.bindings(), *registry.bindings()):
        properties = tuple(
            BindingProperty(**{**prop, "meaning": tuple(prop["meaning"])})
            for prop in entry.pop("properties")
        )
        # the compatibles at the beginning stand above it anyway
        about = re.sub(r"^`[^`]+`((, | and )`[^`]+`)*: ", "", entry.pop("about").strip())
        activities = tuple(entry.pop("activities", ()))
        about = _capital(about)
        found.append(Binding(**entry, about=about, properties=properties, activities=activities))
    return found


def common_properties() -> dict[str, str]:
    """Properties that any node may have: their names and meanings."""
    return dict(_engine.common_properties())


def binding(compatible: str) -> Binding:
    """The binding of one compatible.

    Raises `UsageError`, with what may be meant, if there is no model of it.
    """
    known = {entry.compatible: entry for entry in bindings()}
    if compatible in known:
        return known[compatible]
    hint = did_you_mean_or(compatible, known, "`cyclescope devices` lists all")
    raise UsageError(f"there is no model of '{compatible}'{hint}")
