"""docs/reference/activities.md: what each device tells of what it does."""

from __future__ import annotations

from itertools import groupby

import markdown

from cyclescope.board.description.devicetree_bindings import Binding, bindings

INTRODUCTION = """\
Devices tell what they are doing, each as spans of time that are exact to the picosecond: a page
program, a card's busy, the clocks on a wire, a DMA transfer, a character. Waveforms show these as
signals ([Waveforms](../how-to/waveforms.md)). This page has what each model tells, as the models
declare it; a device that is not here tells nothing of its own.

The *kind* says what an activity is one of. Of a device with several parts that do the same at once
(the channels of a DMA engine, chip selects) each has a track of its own.

Beside these, each interrupt or request line that a device drives is an activity of that device, of
the kind *interrupt*: it goes on while the line is up. What a device in Python does is not known but
for its lines. A core that reaches something without an interconnect tells the transactions on that
bus of its own.
"""

KINDS = {
    "wire": "Clocks on a wire between chips.",
    "frame": "A chip is selected, or a frame on a bus is under way: it has the bytes.",
    "reads in place": "Clocks for reads of a memory window, which make a core wait themselves.",
    "bus": "What cores and DMA engines access over a bus.",
    "busy": "A chip can't be used meanwhile.",
    "transfer": "A DMA engine moves data.",
    "serial": "A character on a serial line.",
    "queue": "An entry of a FIFO, from when it enters to when it leaves; these overlap.",
    "conversion": "A value is measured or worked out.",
    "timer": "A timer counts up to what it tells.",
    "other": "What firmware waits for beside these.",
    "interrupt": "A line is up.",
    "core": "What a core does.",
    "led": "A light is on.",
    "pin": "A pin of a port is high.",
}


def text() -> str:
    """The page."""
    kinds = markdown.items(f"*{kind}*: {meaning}" for kind, meaning in KINDS.items())
    parts = [INTRODUCTION, "## Kinds", kinds]
    telling = [entry for entry in bindings() if entry.activities]
    for group, entries in groupby(telling, key=lambda entry: entry.group):
        parts.append(f"## {group}")
        parts += [_section(names, found) for found, names in _alike(list(entries)).items()]
    return markdown.page("What devices tell", *parts)


def _alike(entries: list[Binding]) -> dict[tuple[tuple[str, str, str], ...], list[str]]:
    """Compatibles that tell the same, by that."""
    found: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for entry in entries:
        found.setdefault(entry.activities, []).append(entry.compatible)
    return found


def _section(compatibles: list[str], found: tuple[tuple[str, str, str], ...]) -> str:
    names = ", ".join(f"`{name}`" for name in compatibles)
    rows = (f"**{name}** (*{kind}*): {meaning}." for name, kind, meaning in found)
    return f"{markdown.paragraph(f'{names}:')}\n\n{markdown.items(rows)}"
