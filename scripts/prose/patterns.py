"""Phrases that do not stand in prose, and words that no name has, with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

# What something can stand behind: the word has its meaning of place there.
_PLACES = (
    "bridges?|bus|buses|cache|caches|controllers?|crossbar|firewall|gates?|interconnects?|mux|"
    "multiplexers?|port|ports|proxy|switch|expander"
)
# Subjects of "who": people, and what acts for them.
_PEOPLE = (
    "anybody|anyone|colleagues?|contributors?|engineers?|everybody|everyone|maintainers?|nobody|"
    "people|person|reader|readers|somebody|someone|stranger|strangers|those|user|users"
)
_PHRASES = {
    r"\b(?:un|re)?(?:tell|tells|told)\b(?! (?:me|us)\b)": "report, record, notify, distinguish",
    r"\btelling\b": "reporting, recording, notifying",
    rf"\bbehind\b(?!\s+(?:[\w'-]+\s+){{0,4}}(?:{_PLACES})\b)": "after, following; beyond",
    r"\bso (?:many|much|often|few)\b": "give the number, or: this many, that much",
    r"(?<!as )(?<!for )\bso long\b": "this long, as long as",
    r"\b(?:is|are|was|were|there's) none\b": "is not; there is no ...",
    r"\b(?:come|comes|came) to the same\b": "is equal",
    r"\balike\b": "the same way, equally, identical",
    r"\bof these\b": "of them, from the list; or name them",
    r"\bof which\b": "two sentences; whose, including",
    r"\bstorms?\b": "an excessive rate (of interrupts, of events)",
    r"\bseams?\b": "boundary",
    r"\beras?\b": "interval",
    r"\brisen\b": "raised, pending",
    r"\bspins?\b": "busy-waits, polls",
    r"\borigins\b": "sources, addresses",
    r"\baside\b": "except; separately",
    r"\boutlook\b": "what follows, prediction",
    r"\bluggage\b": "what is sent along",
    r"\bpresence\b": "lock; whether it is there",
    r"\bbeginnings?\b(?! of\b)": "start",
    r"(?<!clock )(?<!clock-)\bstretch(?:es)?\b(?! (?:the )?(?:clock|SCL))": "part, period",
    r"\bseats?\b": "place, slot",
    r"\bin turns\b": "alternately",
    r"\bthe near\b|\bnear (?:misses|matches)\b": "similar",
}
_PROSE = [
    (re.compile(re.sub(r"(?<=[a-z]) (?=[a-z(])", r"\\s+", phrase), re.IGNORECASE), advice)
    for phrase, advice in _PHRASES.items()
]
_WHO = re.compile(r"(?P<subject>[\w'-]+)?(?P<comma>,)?\s+(?P<who>who|Who)\b")

_PRIVATE = {
    "aside": "chip_report, separately",
    "alike": "same, equal",
    "behind": "after",
    "beginning": "start",
    "beginnings": "starts",
    "era": "interval",
    "eras": "intervals",
    "luggage": "shipment",
    "outlook": "next, forecast",
    "risen": "raised",
    "seam": "boundary",
    "seams": "boundaries",
    "seat": "slot",
    "spin": "wait_loop",
    "spins": "wait_loops",
    "storm": "event_rate",
    "storms": "event_rates",
    "tell": "report, record",
    "teller": "reporter",
    "telling": "reporting",
    "tells": "reports",
    "told": "reported, recorded",
    "untold": "unreported",
}
_NAME = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Keys of JSON files that others read: a schema's new version would rename them.
_KEPT = {("cyclescope/fitting/", name) for name in ("told", "untold", "alike")}


def in_prose(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each phrase that does not belong there, with what to write instead."""
    for pattern, advice in _PROSE:
        for match in pattern.finditer(text):
            yield match, advice
    for match in _WHO.finditer(text):
        if not re.fullmatch(_PEOPLE, (match["subject"] or "").lower()) and match["who"] == "who":
            yield match, "which, that; or name it"


def in_names(code: str, name: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Each name of code that has a private word."""
    for match in _NAME.finditer(code):
        parts = [part.lower() for part in _PART.findall(match[0])]
        private = [part for part in parts if part in _PRIVATE]
        if private and not any(
            name.as_posix().startswith(at) and match[0] == kept for at, kept in _KEPT
        ):
            yield match, _PRIVATE[private[0]]
