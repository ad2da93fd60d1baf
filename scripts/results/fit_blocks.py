"""The table of fits to a third of the published numbers, from docs/fits.json.

fits            a line for each experiment
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keys import Source, UnknownKeyError
from tables import table

_HEADINGS = (
    "experiment",
    "fitted parameters",
    "used",
    "held out",
    "mean error of used, before",
    "after",
    "of held out, before",
    "after",
    "worst of held out, before",
    "after",
)
# The key of docs/fits.json that rates how well the numbers determine a parameter, and the best.
_RATING = _DETERMINED = "told"


def fits(source: Source, words: Sequence[str]) -> str:
    """The errors of the numbers used by a fit and of those held out, before and after it."""
    if words:
        raise UnknownKeyError("expected no more words")
    return table(_HEADINGS, [tuple(_line(*fit)) for fit in source.fits.items()], left=2)


def _line(name: str, fit: Mapping[str, Any]) -> Iterator[str]:
    yield name
    yield ", ".join(map(_parameter, fit["parameters"]))
    seen, others = sizes(fit, is_seen=True), sizes(fit, is_seen=False)
    yield from (str(len(seen)), str(len(others)))
    for group, of in ((seen, mean), (others, mean), (others, max)):
        yield from (f"{of(column):.2f} %" for column in zip(*group, strict=True))


def _parameter(one: Mapping[str, Any]) -> str:
    path = one["path"].replace("cyclescope,", "")
    remark = "" if one[_RATING] == _DETERMINED else f" ({one[_RATING]})"
    return f"{path} {one['before']} -> {one['value']}{remark}"


def sizes(fit: Mapping[str, Any], is_seen: bool) -> list[tuple[float, float]]:
    """The errors of cells in percent, before and after the fit."""
    before, after = (
        [abs(cell[when] / cell["measured"] - 1) * 100 for cell in fit["cells"]]
        for when in ("before", "after")
    )
    both = zip(fit["cells"], before, after, strict=True)
    return [(one, other) for cell, one, other in both if cell["fitted"] == is_seen]


def mean(numbers: Sequence[float]) -> float:
    """Their mean."""
    return sum(numbers) / len(numbers)
