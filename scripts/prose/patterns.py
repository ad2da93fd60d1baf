"""Phrases that do not stand in prose, and words that no name has, with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

# What something can stand behind: there, the word has its meaning of place.
_PLACES = (
    "bridges?|bus|buses|cache|caches|controllers?|crossbar|firewall|gates?|interconnects?|mux|"
    "multiplexers?|port|ports|proxy|switch|expander"
)
# Subjects of "who": people.
_PEOPLE = (
    "anybody|anyone|colleagues?|contributors?|engineers?|everybody|everyone|maintainers?|nobody|"
    "people|person|reader|readers|somebody|someone|stranger|strangers|those|user|users"
)


@dataclass(frozen=True)
class Phrase:
    """A pattern, what to write instead, and a text that is in all that it matches."""

    pattern: str
    literal: str
    advice: str

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern for text in lower case; its spaces are white space, so it goes over lines."""
        return re.compile(re.sub(r" (?![^[]*\])", r"\\s+", self.pattern))


_PHRASES = (
    Phrase(r"\b(?:un|re)?told\b", "told", "reported, recorded, distinguished"),
    Phrase(r"\btells?\b(?! (?:me|us)\b)", "tell", "report, record, notify, distinguish"),
    Phrase(r"\btelling\b", "telling", "reporting, recording, notifying"),
    Phrase(
        rf"\bbehind\b(?! (?:[\w'-]+ ){{0,4}}(?:{_PLACES})\b)",
        "behind",
        "after, following; beyond",
    ),
    Phrase(r"\bso (?:many|much|often|few)\b", "so", "the number, or: this many, that much"),
    Phrase(r"(?<!as\s)(?<!for\s)\bso long\b", "so", "this long, as long as"),
    Phrase(r"\b(?:is|are|was|were) none\b", "none", "is not; there is no ..."),
    Phrase(r"\b(?:come|comes|came) to the same\b", "to", "is equal"),
    Phrase(r"\balike\b", "alike", "the same way, equally, identical"),
    Phrase(r"\bof these\b", "these", "of them, from the list; or name them"),
    Phrase(r"\bof which\b", "which", "two sentences; whose, including"),
    Phrase(r"\bstorms?\b", "storm", "an excessive rate (of interrupts, of events)"),
    Phrase(r"\bseams?\b", "seam", "boundary"),
    Phrase(r"\beras?\b", "era", "interval"),
    Phrase(r"\brisen\b", "risen", "raised, pending"),
    Phrase(r"\bspins\b", "spins", "busy-waits, polls"),
    Phrase(r"\borigins\b", "origins", "sources, addresses"),
    Phrase(r"\baside\b", "aside", "except; separately"),
    Phrase(r"\boutlook\b", "outlook", "what follows, prediction"),
    Phrase(r"\bluggage\b", "luggage", "what is sent along"),
    Phrase(r"\bpresence\b", "presence", "lock; whether it is there"),
    Phrase(r"\bbeginnings?\b(?! of\b)", "beginning", "start"),
    Phrase(
        r"(?<!clock[ -])\bstretch(?:es)?\b(?! (?:the )?(?:clock|scl))",
        "stretch",
        "part, period",
    ),
    Phrase(r"\bseats?\b", "seat", "place, slot"),
    Phrase(r"\bin turns\b", "turns", "alternately"),
    Phrase(r"\bnear (?:misses|matches)\b", "near", "similar"),
)
_WHO = re.compile(r"(?:(?P<subject>[\w'-]+),?\s+)?\bwho\b(?![^.]*\?)")

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
# Keys of JSON files that others read: a new version of the schema would rename them.
_KEPT = {
    (folder, name)
    for folder in (
        "cyclescope/fitting/",
        "cyclescope/cli/tables/fit.py",
        "tests/decisions/test_fit",
    )
    for name in ("told", "untold", "alike")
}


def in_prose(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each phrase that does not belong there, with what to write instead."""
    original, text = text, text.lower()
    for phrase in _PHRASES:
        # most texts have none, and a search for a plain text is quick
        if phrase.literal in text:
            for match in phrase.regex.finditer(text):
                # Python's None is a value
                if "None" not in original[match.start() : match.end()]:
                    yield match, phrase.advice
    if "who" in text:
        for match in _WHO.finditer(text):
            if not re.fullmatch(_PEOPLE, match["subject"] or ""):
                yield match, "which, that; or name it"


def in_names(code: str, name: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Each name of code that has a private word."""
    advice = {word: found for word in set(_NAME.findall(code)) if (found := _advice(word, name))}
    if advice:
        for match in _NAME.finditer(code):
            if match[0] in advice:
                yield match, advice[match[0]]


def _advice(word: str, name: Path) -> str | None:
    if any(name.as_posix().startswith(folder) and word == kept for folder, kept in _KEPT):
        return None
    parts = map(str.lower, _PART.findall(word))
    return next((_PRIVATE[part] for part in parts if part in _PRIVATE), None)
