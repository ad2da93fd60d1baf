"""Ids of rows within the page: a link to a row stays valid from one report to the next."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row

_LONGEST = 48


class Anchors:
    """The ids of rows, derived from their contents and not from their places.

    A row keeps its id as long as its experiment, label, board, metric and shown settings stay the
    same. If several rows have all of them equal, the later ones are numbered.
    """

    def __init__(self, results: Sequence[ExperimentResult]) -> None:
        self._ids: dict[int, str] = {}
        taken: dict[str, int] = {}
        for result in results:
            for row in result.rows:
                anchor = _anchor(result.name, row)
                taken[anchor] = taken.get(anchor, 0) + 1
                number = taken[anchor]
                self._ids[id(row)] = anchor if number == 1 else f"{anchor}-{number}"

    def of(self, row: Row) -> str:
        """The id of one of the results' rows."""
        return self._ids[id(row)]


def _anchor(experiment: str, row: Row) -> str:
    settings = {name: row.shown_settings[name] for name in sorted(row.shown_settings)}
    text = json.dumps([row.board, row.metric, settings])
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return "-".join(filter(None, (experiment, _slug(row.label), digest)))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST].strip("-")
