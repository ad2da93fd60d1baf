"""Suggestions for misspelt names, with the same wording in all messages.

The engine has the same for names in boards (`similar_names` in dt/fault.rs).
"""

from __future__ import annotations

from collections.abc import Iterable

# For longer names the search would be slow, and of no use.
_LONGEST = 256
_CUTOFF = 0.6
# Shorter parts occur in too many names.
_LEAST_PART = 3


def similar_names(
    name: str, known: Iterable[str], most: int = 3, cutoff: float = _CUTOFF
) -> list[str]:
    """Up to `most` known names that are similar to `name` or contain it, the best first."""
    import difflib  # only misspelt names need it

    if not 0 < len(name) <= _LONGEST:
        return []
    short = dict.fromkeys(other for other in known if len(other) <= _LONGEST)
    similar = difflib.get_close_matches(name, short, n=most, cutoff=cutoff)
    longer = [other for other in short if name in other] if len(name) >= _LEAST_PART else []
    first = sorted(longer, key=lambda other: not other.startswith(name))
    return list(dict.fromkeys([*similar, *first]))[:most]


def did_you_mean(name: str, known: Iterable[str], cutoff: float = _CUTOFF) -> str:
    """A suggestion for the message about an unknown name; empty without similar names."""
    return asked(similar_names(name, known, cutoff=cutoff))


def did_you_mean_or(name: str, known: Iterable[str], otherwise: str) -> str:
    """A suggestion like `did_you_mean`, or `otherwise` if no known name is similar."""
    return did_you_mean(name, known) or f"; {otherwise}"


def asked(similar: Iterable[str]) -> str:
    """A semicolon and the question "did you mean ...?"; empty without names."""
    names = " or ".join(f"'{name}'" for name in similar)
    return f"; did you mean {names}?" if names else ""
