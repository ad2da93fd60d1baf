"""docs/fits.json: fits to a third of what was published are of the boards as they are."""

from __future__ import annotations

import fit_blocks
import fit_store
import pytest
from stored_results import source

from cyclescope import Stop
from cyclescope.fitting import published
from cyclescope.fitting.models import Running

STALE = "fit it anew: python scripts/results --fits"
# A whole fit of seconds.
QUICK = "rpmsg-tty"


@pytest.mark.parametrize("name", fit_store.FREE)
def test_free_parameters_agree_with_the_board(name: str) -> None:
    free = fit_store.request(name).plan().free
    stored = source().fits[name]["parameters"]
    assert [(one["path"], one["bounds"], one["before"]) for one in stored] == [
        (one.path, one.bounds, one.board_value) for one in free
    ], STALE
    for one, parameter in zip(stored, free, strict=True):
        assert one["value"] in parameter.values


@pytest.mark.parametrize("name", fit_store.FREE)
def test_before_a_fit_cells_are_those_of_the_results(name: str) -> None:
    rows = [row for row in source().results.experiments[name].rows if row.counts_as]
    seen = set(list(dict.fromkeys(row.counts_as for row in rows))[:: fit_store.EVERY])
    assert [
        (one["label"], one["measured"], one["before"], one["fitted"])
        for one in source().fits[name]["cells"]
    ] == [(row.label, row.published, row.simulated, row.counts_as in seen) for row in rows], STALE


def test_with_what_was_fitted_a_board_gives_what_the_file_has() -> None:
    plan, stored = fit_store.request(QUICK).plan(), source().fits[QUICK]
    assert plan.whole is not None
    changed = [(one["path"], str(one["value"])) for one in stored["parameters"]]
    found = published.values(plan.whole, changed, Running(2, Stop(), None))
    after = {label: value for (_, label), value in found.items()}
    assert {one["label"]: after[one["label"]] for one in stored["cells"]} == {
        one["label"]: one["after"] for one in stored["cells"]
    }, STALE


# its search and what it says of parameters are tested with quick programs, too
@pytest.mark.long
def test_fitted_again_a_board_gives_what_the_file_has() -> None:
    assert fit_store.fitted(QUICK, 2) == source().fits[QUICK]


def test_numbers_that_were_seen_come_out_better_and_the_others_hardly() -> None:
    """The text of docs/trust.md below the table."""
    gains = {}
    for name, fit in source().fits.items():
        seen, others = (
            [fit_blocks.mean(column) for column in zip(*fit_blocks.sizes(fit, one), strict=True)]
            for one in (True, False)
        )
        assert seen[1] < seen[0]
        gains[name] = (1 - seen[1] / seen[0], 1 - others[1] / others[0])
    assert 0.3 < gains["rhealstone"][0] < 0.5
    gaining = {name for name, (_, others) in gains.items() if others > 0}
    assert gaining == {"rhealstone", "bitbang-spi", "rpmsg-tty"}
    assert all(others < 1 / 3 for _, others in gains.values())
