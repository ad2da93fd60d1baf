"""docs/reference/activities.md: the activities that each device records."""

from __future__ import annotations

from itertools import groupby

import markdown

from cyclescope.board.description.devicetree_bindings import Binding, bindings

INTRODUCTION = """\
Devices record their activities as spans of time, exact to the picosecond: a page program, a card's
busy, the clocks on a wire, a DMA transfer, a character. Waveforms show activities as signals
([Waveforms](../how-to/waveforms.md)). This page lists the activities of each model, as the models
declare them; a device that is not listed records no activity of its own.

Each activity has a *kind*. If several parts of a device can be active at once (the channels of a
DMA engine, chip selects), each part has its own track.

In addition, each interrupt or request line that a device drives is an activity of that device, of
the kind *interrupt*: it lasts while the line is active. A device in Python records its lines only.
A core that reaches a device without an interconnect records the transactions on that connection
itself.
"""

KINDS = {
    "wire": "Clocks on a wire between chips.",
    "frame": "A chip is selected, or a frame on a bus is under way: it has the bytes.",
    "reads in place": "Clocks for reads of a memory window, which make a core wait themselves.",
    "bus": "An access by a core or a DMA engine over a bus.",
    "busy": "A chip can't be used meanwhile.",
    "transfer": "A DMA engine moves data.",
    "serial": "A character on a serial line.",
    "queue": "An entry of a FIFO, from when it enters to when it leaves; these overlap.",
    "conversion": "A value is measured or worked out.",
    "timer": "A timer counts up to its next event.",
    "other": "Anything else that firmware waits for.",
    "interrupt": "A line is up.",
    "core": "The state of a core.",
    "led": "A light is on.",
    "pin": "A pin of a port is high.",
}


def text() -> str:
    """The page."""
    kinds = markdown.items(f"*{kind}*: {meaning}" for kind, meaning in KINDS.items())
    parts = [INTRODUCTION, "## Kinds", kinds]
    recording = [entry for entry in bindings() if entry.activities]
    for group, entries in groupby(recording, key=lambda entry: entry.group):
        parts.append(f"## {group}")
        parts += [_section(names, found) for found, names in _by_activities(list(entries)).items()]
    return markdown.page("Activities of devices", *parts)


def _by_activities(entries: list[Binding]) -> dict[tuple[tuple[str, str, str], ...], list[str]]:
    """Compatibles with the same activities, by these activities."""
    found: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for entry in entries:
        found.setdefault(entry.activities, []).append(entry.compatible)
    return found


def _section(compatibles: list[str], found: tuple[tuple[str, str, str], ...]) -> str:
    names = ", ".join(f"`{name}`" for name in compatibles)
    rows = (f"**{name}** (*{kind}*): {meaning}." for name, kind, meaning in found)
    return f"{markdown.paragraph(f'{names}:')}\n\n{markdown.items(rows)}"
