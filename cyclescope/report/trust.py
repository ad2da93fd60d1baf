"""How far a result may be trusted, counted from the result itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cyclescope.results import CALIBRATED, PREDICTED, ExperimentResult, Parameter, Row


@dataclass(frozen=True)
class Trust:
    """The rows by what their numbers rest on, and the boards' timing parameters by theirs."""

    rows: tuple[Row, ...]
    parameters: tuple[tuple[str, Parameter], ...]

    @property
    def published(self) -> int:
        """Rows with a published number."""
        return sum(row.published is not None for row in self.rows)

    @property
    def unpublished(self) -> int:
        """Rows that nothing was published for."""
        return len(self.rows) - self.published

    @property
    def predicted(self) -> int:
        """Published numbers that no parameter was fitted to."""
        return sum(row.basis == PREDICTED for row in self.rows)

    @property
    def calibrated(self) -> int:
        """Published numbers that a parameter was fitted to."""
        return sum(row.basis == CALIBRATED for row in self.rows)

    @property
    def worst_predicted(self) -> Row | None:
        """The predicted row that is furthest off."""
        return max(
            (row for row in self.rows if row.basis == PREDICTED and row.error_pct is not None),
            key=lambda row: abs(row.error_pct or 0),
            default=None,
        )

    @property
    def fitted(self) -> tuple[tuple[str, Parameter], ...]:
        """The calibrated parameters, with their boards."""
        return tuple(found for found in self.parameters if found[1].basis == CALIBRATED)

    def resting_on(self, basis: str) -> int:
        """How many parameters have this basis."""
        return sum(parameter.basis == basis for _, parameter in self.parameters)


def of(result: ExperimentResult) -> Trust:
    """What one experiment rests on."""
    return overall([result])


def overall(results: Sequence[ExperimentResult]) -> Trust:
    """What all experiments rest on; a parameter that several of them use counts once."""
    rows = tuple(row for result in results for row in result.rows)
    return Trust(rows, tuple(dict.fromkeys(_parameters(results))))


def _parameters(results: Iterable[ExperimentResult]) -> Iterable[tuple[str, Parameter]]:
    for result in results:
        for board, parameters in result.parameters.items():
            for parameter in parameters:
                yield board, parameter
