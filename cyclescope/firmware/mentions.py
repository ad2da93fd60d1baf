"""Macros that C and assembly texts mention, from their words, without the preprocessor.

Conditions are ignored: a word too many does no harm, a missing one does. A macro's body counts only
if the macro itself may be used; comments never count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(rb"[A-Za-z_]\w*")
_STRING = rb'"(?:\\.|[^"\\\n])*"' + rb"|'(?:\\.|[^'\\\n])*'"
_COMMENT = rb"/\*.*?\*/|//[^\n]*"
_STRING_OR_COMMENT = re.compile(rb"(%b)|%b" % (_STRING, _COMMENT), re.DOTALL)
_CONTINUED = re.compile(rb"\\\r?\n")
# A macro's name, its parameters, and its body.
_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:\(([^)\n]*)\))?(.*)$", re.MULTILINE
)
_PASTE = re.compile(rb"(\w+)\s*##")

Words = frozenset[bytes]


@dataclass(frozen=True, eq=False)
class Mentions:
    """The words of a text.

    `outside` are the words outside of macros' bodies, `bodies` has the words of each macro.
    `pastes` is true if the text may paste a name together from any two words: it may then mention
    any macro.
    """

    outside: Words
    bodies: Mapping[bytes, Words]
    pastes: bool


def words(text: bytes) -> Words:
    """All words of a text."""
    return frozenset(_WORD.findall(text))


@lru_cache(maxsize=4096)
def mentions(text: bytes) -> Mentions:
    """The words that a text mentions."""
    text = _STRING_OR_COMMENT.sub(rb"\1 ", text)
    text = _CONTINUED.sub(b" ", text)
    bodies: dict[bytes, Words] = {}
    pastes = False
    for name, parameters, body in _DEFINE.findall(text):
        bodies[name] = bodies.get(name, frozenset()) | words(body)
        given = words(parameters)
        pastes |= any(left in given or not left.endswith(b"_") for left in _PASTE.findall(body))
    return Mentions(words(_DEFINE.sub(b"", text)), bodies, pastes)


def mentioned(texts: tuple[Mentions, ...], given: Words) -> Words | None:
    """The words of some texts that may affect a program made from them; None means any word.

    `given` are words from elsewhere, such as the values of the compiler's macros. A macro that a
    text defines counts as mentioned: to define it from outside as well would be an error.
    """
    if any(text.pastes for text in texts):
        return None
    bodies: dict[bytes, Words] = {}
    for text in texts:
        for name, own in text.bodies.items():
            bodies[name] = bodies.get(name, frozenset()) | own
    outside = given.union(*(text.outside for text in texts))
    return _reached(outside, bodies).union(bodies)


def _reached(outside: Words, bodies: Mapping[bytes, Words]) -> Words:
    """The words outside of bodies, and of each body whose macro one of them may name."""
    found, waiting = set(outside), list(outside)
    while waiting:
        word = waiting.pop()
        # pasted with another word it may be any name with this start
        is_part = word.endswith(b"_")
        for name in [name for name in bodies if name.startswith(word)] if is_part else [word]:
            added = bodies.get(name, frozenset()) - found
            found |= added
            waiting += added
    return frozenset(found)


def may_name(words: Words | None, macro: str) -> bool:
    """Whether one of the words is a macro, or its start up to a "_", which may be pasted."""
    if words is None:
        return True
    prefixes = (macro[: at + 1] for at, letter in enumerate(macro) if letter == "_")
    return any(part.encode() in words for part in (macro, *prefixes))
