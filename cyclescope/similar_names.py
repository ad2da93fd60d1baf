"""Names that may be meant by a misspelt one: one wording for all that users type.

The engine says the same of what boards name (`similar_names` in dt/fault.rs).
"""

from __future__ import annotations

from collections.abc import Iterable

# The near matches of longer names would take long to find, and help nobody.
_LONGEST = 256
_CUTOFF = 0.6
# Shorter parts are in too many names.
_LEAST_PART = 3


def near_matches(
    name: str, known: Iterable[str], most: int = 3, cutoff: float = _CUTOFF
) -> list[str]:
    """Up to `most` of the known names that look like `name` or have it in them, best first."""
    import difflib  # only what is misspelt needs it

    if not 0 < len(name) <= _LONGEST:
        return []
    short = dict.fromkeys(other for other in known if len(other) <= _LONGEST)
    alike = difflib.get_close_matches(name, short, n=most, cutoff=cutoff)
    longer = [other for other in short if name in other] if len(name) >= _LEAST_PART else []
    first = sorted(longer, key=lambda other: not other.startswith(name))
    return list(dict.fromkeys([*alike, *first]))[:most]


def did_you_mean(name: str, known: Iterable[str], cutoff: float = _CUTOFF) -> str:
    """What to add to the message about an unknown name; empty if no known one looks like it."""
    return asked(near_matches(name, known, cutoff=cutoff))


def did_you_mean_or(name: str, known: Iterable[str], otherwise: str) -> str:
    """The same, with a further clause in its place if no known name looks like it."""
    return did_you_mean(name, known) or f"; {otherwise}"


def asked(near: Iterable[str]) -> str:
    """The question whether one of these names is meant, behind a semicolon; empty for none."""
    names = " or ".join(f"'{name}'" for name in near)
    return f"; did you mean {names}?" if names else ""
