"""How far results may be trusted, counted from the results themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cyclescope.bench.pivots import CLOSE_PCT
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, PREDICTED, Row
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED, Parameter


@dataclass(frozen=True)
class Trust:
    """The rows by what their numbers depend on, and the boards' timing parameters by theirs.

    `exact` are the rows whose published numbers come from the hardware's own description,
    `unmeasured` the experiments whose published numbers nobody measured on hardware, `choices` what
    experiments assumed or fitted besides the boards' parameters, with their experiments.
    """

    rows: tuple[Row, ...]
    parameters: tuple[tuple[str, Parameter], ...]
    exact: tuple[Row, ...] = ()
    choices: tuple[tuple[str, Parameter], ...] = ()
    unmeasured: tuple[str, ...] = ()

    @property
    def published(self) -> int:
        """Rows with a published number."""
        return sum(row.published is not None for row in self.rows)

    @property
    def met(self) -> int:
        """How many of the exact numbers are met to the last digit."""
        return sum(row.is_exact for row in self.exact)

    @property
    def exact_names(self) -> tuple[str, ...]:
        """The experiments with exact numbers."""
        return tuple(dict.fromkeys(row.experiment for row in self.exact))

    @property
    def measured(self) -> Trust:
        """The same for the other rows: those beside numbers measured on hardware."""
        rows = tuple(row for row in self.rows if row.experiment not in self.unmeasured)
        return Trust(rows, self.parameters, choices=self.choices)

    @property
    def unpublished(self) -> int:
        """Rows without a published number."""
        return len(self.rows) - self.published

    @property
    def predicted(self) -> int:
        """Published numbers that depend on nothing calibrated."""
        return sum(row.basis == PREDICTED for row in self.rows)

    @property
    def calibrated(self) -> int:
        """Published numbers that something calibrated changes."""
        return sum(row.basis == CALIBRATED for row in self.rows)

    @property
    def effective(self) -> int:
        """Independent published numbers: those that follow from others count once."""
        return len(self._names(self.rows))

    @property
    def effective_predicted(self) -> int:
        """Independent numbers without a cell that depends on anything calibrated."""
        calibrated = (row for row in self.rows if row.basis == CALIBRATED)
        return len(self._names(self.rows) - self._names(calibrated))

    def _names(self, rows: Iterable[Row]) -> set[tuple[str, str, str]]:
        return {(row.experiment, row.board, row.counts_as) for row in rows if row.counts_as}

    @property
    def inside(self) -> int:
        """Published numbers in the intervals that the boards' plausible values give."""
        return sum(row.is_inside is True for row in self.rows)

    @property
    def with_interval(self) -> int:
        """Published numbers whose cells have such an interval."""
        return sum(row.is_inside is not None for row in self.rows)

    def within(self, error_pct: float) -> int:
        """Published numbers that are met within an error."""
        errors = [row.error_pct for row in self.rows if row.error_pct is not None]
        return sum(abs(error) <= error_pct for error in errors)

    @property
    def close(self) -> int:
        """Published numbers that are met within `pivots.CLOSE_PCT`."""
        return sum(_is_close(row) for row in self.rows if row.published is not None)

    @property
    def worst_predicted(self) -> Row | None:
        """The predicted row that is furthest off."""
        return max(
            (row for row in self.rows if row.basis == PREDICTED and row.error_pct is not None),
            key=lambda row: abs(row.error_pct or 0),
            default=None,
        )

    @property
    def is_all_exact(self) -> bool:
        """Whether every published number is met to the last digit."""
        return self.published > 0 and all(
            row.is_exact for row in self.rows if row.published is not None
        )

    @property
    def fitted(self) -> tuple[tuple[str, Parameter], ...]:
        """What is calibrated: parameters with their boards, choices with their experiments."""
        return self.of_basis(CALIBRATED)

    @property
    def assumed(self) -> tuple[tuple[str, Parameter], ...]:
        """What is assumed: parameters with their boards, choices with their experiments."""
        return self.of_basis(ASSUMED)

    def of_basis(self, basis: str) -> tuple[tuple[str, Parameter], ...]:
        """Parameters and choices of a class.

        A value that several nodes of a kind share (two cards), or two boards with the same chip,
        was decided once: it counts as one, with all names.
        """
        decisions: dict[tuple[str, ...], list[tuple[str, Parameter]]] = {}
        for board, parameter in self.parameters:
            if parameter.basis == basis:
                same = (parameter.property_name, parameter.value, parameter.source)
                decisions.setdefault(same, []).append((board, parameter))
        choices = (choice for choice in self.choices if choice[1].basis == basis)
        return (*map(_as_one, decisions.values()), *choices)

    def resting_on(self, basis: str) -> int:
        """The number of parameters with this basis."""
        return sum(parameter.basis == basis for _, parameter in self.parameters)


def _is_close(row: Row) -> bool:
    # a published 0 has no error in percent
    return row.is_exact if row.error_pct is None else abs(row.error_pct) <= CLOSE_PCT


def _as_one(found: Sequence[tuple[str, Parameter]]) -> tuple[str, Parameter]:
    """Parameters that share a decision, as the first of them with the names of all."""
    labels = dict.fromkeys(parameter.label or parameter.node for _, parameter in found)
    board, parameter = found[0]
    return board, replace(parameter, label=", ".join(labels))


def of(result: ExperimentResult) -> Trust:
    """What one experiment depends on."""
    return overall([result])


def overall(results: Sequence[ExperimentResult]) -> Trust:
    """What all experiments depend on; a parameter that several of them use counts once."""
    rows = tuple(row for result in results for row in result.rows if row.basis != DERIVED)
    exact = tuple(
        row
        for result in results
        if result.exact
        for row in result.rows
        if row.published is not None
    )
    choices = tuple((result.name, choice) for result in results for choice in result.choices)
    unmeasured = tuple(result.name for result in results if result.exact or result.by_hand)
    parameters = tuple(dict.fromkeys(_parameters(results)))
    return Trust(rows, parameters, exact, choices, unmeasured)


def _parameters(results: Iterable[ExperimentResult]) -> Iterable[tuple[str, Parameter]]:
    for result in results:
        for board, parameters in result.parameters.items():
            for parameter in parameters:
                yield board, parameter
