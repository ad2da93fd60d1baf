"""Numbers derived from the cells of `rhealstone`, with the published cells in their place."""

import itertools

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, PREDICTED, Row, RunRecord
from cyclescope.experiments import rhealstone_ratios as ratios

NAMES = {"ddr": "DDR3L", "qspi": "QSPI", "sram": "SRAM"}


def cell(operation: str, memory: str, cache: str, loops: int) -> Row:
    """A row that met its published number; of rounded ones the middle of what the ratios say."""
    where = {
        "kind": "table-4-1",
        "benchmark": operation,
        "memory": NAMES[memory],
        "cache_mmu": cache == "on",
        "loops": loops,
    }
    table = published.load(ratios.TABLE)
    ends = [table.find(f"derived_cycles_{end}", where) for end in ("min", "max")]
    cycles = table.find("cycles", where) or sum(end or 0 for end in ends) / 2
    settings = {
        "operation": operation,
        "memory": memory,
        "cache": cache,
        "loops": loops,
        "tick": "on",
    }
    run = RunRecord("run", "rhealstone", "sama5d2-xplained", settings, None)
    return Row(
        "rhealstone",
        "sama5d2-xplained",
        settings,
        "cycles",
        "cycles",
        cycles,
        cycles,
        PREDICTED,
        f"{operation} {memory}",
        run,
    )


def cells() -> list[Row]:
    places = (ratios.PUBLISHED_OPERATIONS, NAMES, ("on", "off"), (1, ratios.MANY))
    return [cell(*place) for place in itertools.product(*places)]  # type: ignore[arg-type]


def test_the_published_cells_give_the_published_ratios() -> None:
    found = [row for row in ratios.rows(cells()) if row.metric == "ratio"]
    assert len(found) == 24
    assert all(row.basis == DERIVED for row in found)
    assert [row.label for row in found if round(row.simulated, 2) != row.published] == []


def test_the_published_cells_give_the_ranges_of_section_5() -> None:
    ranges = ("percent", "improvement")
    ends = {row.label: row for row in ratios.rows(cells()) if row.metric in ranges}
    assert len(ends) == 14
    miss = [ends[f"cache-miss QSPI against SRAM, {end}"] for end in ("min", "max")]
    assert [round(row.simulated, 1) for row in miss] == [20.5, 26.3]
    assert [row.published for row in miss] == [20, 26]
    gain = [ends[f"cache-hit QSPI against no-cache QSPI, {end}"] for end in ("min", "max")]
    assert [round(row.simulated) for row in gain] == [53, 152]
    assert [row.published for row in gain] == [50, 150]


def test_the_published_cells_give_the_range_of_hits() -> None:
    ends = {row.label: row for row in ratios.rows(cells()) if row.metric == "hit_ratio"}
    published_ends = [
        ends[f"cache-hit QSPI/{memory}, {end}"].published
        for memory in ("sram", "ddr")
        for end in ("min", "max")
    ]
    assert published_ends == [1.0, 1.01, 0.96, 1.0]
    assert [row.label for row in ends.values() if round(row.simulated, 2) != row.published] == []


def test_missing_cells_give_no_row() -> None:
    only = [row for row in cells() if row.settings["memory"] == "qspi"]
    assert [row.metric for row in ratios.rows(only)] == ["improvement"] * 4
    assert list(ratios.findings(only)) == []
    assert list(ratios.rows([])) == []


def test_the_conclusion_is_said_with_its_numbers() -> None:
    sentence, hits = ratios.findings(cells())
    assert "99 to 100 % of its speed in SRAM; when they miss at 21 to 26 %" in sentence
    assert "without them at 9 to 13 %" in sentence
    assert "1.000 to 1.011 times as long as from SRAM, 0.963 to 1.001 times" in hits
