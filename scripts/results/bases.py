"""Tables of the results' bases: calibrated and assumed values, and omitted effects.

    calibrated EXPERIMENT       the calibrated parameters and choices, with the cells that they move
    assumed EXPERIMENT [N]      the N assumptions that move a cell most
    influence EXPERIMENT [N]    the N parameters and choices that move a cell most
    left-out EXPERIMENT         what the model lacks, the largest effect first
    coverage                    how many published numbers lie in intervals, by their level

The cells' changes are in published/sensitivity.csv. If the file lacks an experiment, the columns
are absent. The ranges of cells are in published/uncertainty.csv.
"""

from __future__ import annotations

from collections.abc import Sequence

import figures
from keys import Source, UnknownKeyError
from tables import arguments, experiment, table

from cyclescope import experiments as declared
from cyclescope.bench import coverage as counted
from cyclescope.bench import influence, trust, uncertainty
from cyclescope.bench.influence import MOST_PCT, Influence
from cyclescope.bench.moves import Move
from cyclescope.bench.results import ExperimentResult
from cyclescope.board.description.parameters import ASSUMED, Parameter
from cyclescope.cli.tables import experiment as screens

UNMEASURED = "The effect of each parameter on the numbers has not been measured."
_MOST = 10


def _asked(source: Source, words: Sequence[str]) -> tuple[ExperimentResult, int]:
    """The experiment of a marker, and its number of lines."""
    plain = arguments(words, ()).plain
    if len(plain) not in (1, 2) or (len(plain) == 2 and not plain[1].isdigit()):
        raise UnknownKeyError("expected EXPERIMENT [N]")
    return experiment(source, plain[0]), int(plain[1]) if len(plain) == 2 else _MOST


def _value(parameter: Parameter) -> str:
    return f"{parameter.value} {parameter.unit}".rstrip()


def _called(parameter: Parameter) -> str:
    return f"{parameter.owner}: {parameter.property_name}"


def calibrated(source: Source, words: Sequence[str]) -> str:
    """The values and choices that were fitted to published numbers."""
    result, _ = _asked(source, words)
    found = trust.of(result).fitted
    if not found:
        return "Nothing is calibrated."
    known = influence.load()
    headings = ["what", "value", "why"]
    lines = [[_called(one), _value(one), one.source] for _, one in found]
    if known.strongest(result.name):
        headings += [f"cells changed by more than {MOST_PCT:g} %", "largest change"]
        lines = [
            [*line, *_moved(known, result.name, one)]
            for line, (_, one) in zip(lines, found, strict=True)
        ]
    return table(headings, lines, left=3)


def _moved(known: Influence, name: str, parameter: Parameter) -> list[str]:
    """The number of cells that a parameter moves, and the cell that it moves most."""
    most = known.moved(name, screens.names(parameter))
    if not most:
        return ["0", figures.ABSENT]
    cell = max(most, key=lambda one: abs(most[one]))
    moved = sum(abs(pct) > MOST_PCT for pct in most.values())
    largest = f"{figures.percent(most[cell])} ({cell})" if cell else figures.ABSENT
    return [str(moved), largest]


def assumed(source: Source, words: Sequence[str]) -> str:
    """The assumptions that matter most, with their plausible ranges."""
    result, most = _asked(source, words)
    found = [one for one in _strongest(result) if one[0].basis == ASSUMED][:most]
    if not found:
        return UNMEASURED
    sources = {
        name: parameter.source
        for _, parameter in trust.of(result).assumed
        for name in screens.names(parameter)
    }
    headings = ("assumed", "value", "plausible", "why", "most affected cell", "change")
    lines = [
        (move.parameter, move.value, move.plausible, sources.get(move.parameter, ""), *_change(one))
        for one in found
        for move in (one[0],)
    ]
    return table(headings, lines, left=5)


def strongest(source: Source, words: Sequence[str]) -> str:
    """The parameters that move published cells most, whatever their class."""
    result, most = _asked(source, words)
    found = _strongest(result)[:most]
    if not found:
        return UNMEASURED
    headings = ("class", "parameter or choice", "value", "changed to", "most affected cell")
    lines = [
        (move.basis, move.parameter, move.value, move.to, *_change(one))
        for one in found
        for move in (one[0],)
    ]
    return table((*headings, "change"), lines, left=5)


def _strongest(result: ExperimentResult) -> list[tuple[Move, str, float]]:
    return influence.load().strongest(result.name)


def _change(one: tuple[Move, str, float]) -> tuple[str, str]:
    _, cell, pct = one
    return cell or figures.ABSENT, figures.percent(pct)


def coverage(source: Source, words: Sequence[str]) -> str:
    """The count of numbers measured on hardware that lie in the intervals of each level."""
    if words:
        raise UnknownKeyError("coverage: of all experiments, without an argument")
    rows, known = trust.overall(source.named("all")).rows, uncertainty.load()
    every, once = (counted.curve(own, known) for own in (rows, counted.independent(rows)))
    if not every:
        return UNMEASURED
    headings = ("interval", "contains, of all numbers", "of independent numbers")
    lines = [
        (f"{one.level_pct:g} %", _held(one), _held(two))
        for one, two in zip(every, once, strict=True)
    ]
    return table(headings, lines)


def _held(one: counted.Coverage) -> str:
    return f"{one.inside} of {one.numbers}: {one.pct:.0f} %"


def left_out(source: Source, words: Sequence[str]) -> str:
    """Effects that the model leaves out, and why they may matter."""
    result, _ = _asked(source, words)
    found = declared.ALL[result.name].left_out
    if not found:
        return "What the model leaves out here has not been listed."
    headings = ("left out", "why it may matter", "cells", "how estimated", "effect")
    lines = [(one.what, one.why, one.cells, one.estimate, f"{one.effect_pct:g} %") for one in found]
    return table(headings, lines, left=4)
