"""A sweep's page: its plots have the numbers of the rows, and nothing is drawn of nothing."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import BOARD
from test_report import Page
from tiers import sized

from cyclescope import sweep
from cyclescope.board.results import Value
from cyclescope.report import sweep_axes, sweep_page
from cyclescope.sweeps import SweepResult, SweepRow, words
from cyclescope.sweeps.axes import Axis, axis
from cyclescope.sweeps.designs import GRID, LATIN, RANDOM, Design
from cyclescope.sweeps.measures import Measure
from cyclescope.units import parse_number

SIZES = axis("cpu0.d-cache-size", "0:8K:x2")
CLOCKS = axis("spi0.clock-frequency", "10M:40M:10M")
FLAGS = axis("flags", ["-O0", "-O2", '-D"<a>&b"'])
STACK = ("issue", "data cache misses", "waits <&>")
MEASURES = {
    one.name: one
    for one in (
        Measure("latency", "ns", is_printed=True),
        Measure("rate", "MB/s", is_printed=True),
        Measure("elapsed_ps", "ps"),
        *(Measure(f"cpu0.stack.{cause}_ps", "ps") for cause in STACK),
        Measure("cpu1.stack.issue_ps", "ps"),
    )
}


def ns(settings: Mapping[str, Value]) -> float:
    """The time of a run with `settings`."""
    size, clock = settings.get(SIZES.path, 1000), settings.get(CLOCKS.path, 10_000_000)
    assert isinstance(size, int)
    assert isinstance(clock, int)
    slow = {"-O0": 3.0, "-O2": 1.0}.get(str(settings.get("flags", "-O2")), 2.0)
    return 100.0 + slow * 4e6 / (size + 1000) + 1e9 / clock


def row(settings: Mapping[str, Value], price: float | None = None) -> SweepRow:
    time_ns = ns(settings)
    values = {"latency": time_ns, "rate": 1e4 / time_ns, "elapsed_ps": round(time_ns * 1000)}
    values |= {f"cpu0.stack.{cause}_ps": round(time_ns * 100 * n) for n, cause in enumerate(STACK)}
    return SweepRow(settings, {**values, "cpu1.stack.issue_ps": 7}, None, price, is_kept=False)


def failed(settings: Mapping[str, Value], error: str) -> SweepRow:
    return SweepRow(settings, {}, error, None, is_kept=False)


def result(
    axes: Sequence[Axis],
    rows: Sequence[SweepRow],
    metrics: Sequence[str] = ("latency",),
    design: Design = Design(),  # noqa: B008
    measures: Mapping[str, Measure] = MEASURES,
) -> SweepResult:
    columns = tuple(one.path for one in axes)
    return SweepResult(
        "fir.elf",
        "",
        tuple(axes),
        design,
        columns,
        tuple(metrics),
        measures,
        tuple(rows),
        len(rows),
    )


def number(text: str) -> Value:
    found = parse_number(text)
    return text if found is None else found


def points(axes: Sequence[Axis], design: Design = Design()) -> list[dict[str, Value]]:  # noqa: B008
    return [
        dict(zip((one.path for one in axes), map(number, point), strict=True))
        for point in design.points(axes)
    ]


def swept(
    *axes: Axis, metrics: Sequence[str] = ("latency",), kind: str = GRID, samples: int = 0
) -> SweepResult:
    """All points of a design, each with its run; the larger a cache, the dearer."""
    design = Design(kind, samples)
    return result(axes, [row(one) for one in points(axes, design)], metrics, design)


@cache
def page_of(*axes: Axis, metric: str = "latency") -> str:
    """The page of a grid, which is drawn once for all tests that look at it."""
    return sweep_page.render(swept(*axes, metrics=(metric,)))


def plots(html: str) -> dict[str, ElementTree.Element]:
    """The plots by their titles. Each is valid XML."""
    drawn = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    found = [ElementTree.fromstring(one) for one in drawn]
    return {one.attrib["aria-label"]: one for one in found}


def tips(plot: ElementTree.Element, kind: str = "point") -> list[str]:
    found = [one for one in plot.iter("g") if one.get("class") == kind]
    return [one.findtext("title") or "" for one in found]


def places(plot: ElementTree.Element) -> list[tuple[float, float]]:
    found = [one.find("use") for one in plot.iter("g") if one.get("class") == "point"]
    return [(float(one.attrib["x"]), float(one.attrib["y"])) for one in found if one is not None]


def written(plot: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in plot.iter("text")]


def proportional(values: Sequence[float], heights: Sequence[float]) -> bool:
    """Whether heights, which go down, are linear in the values."""
    slope = (heights[-1] - heights[0]) / (values[-1] - values[0])
    return slope < 0 and all(
        math.isclose(height, heights[0] + slope * (value - values[0]), abs_tol=0.05)
        for value, height in zip(values, heights, strict=True)
    )


def test_the_overview_says_what_was_best_and_with_which_settings() -> None:
    words_of = Page(sweep_page.render(swept(SIZES, CLOCKS, metrics=("latency", "rate")))).words
    best = ns({SIZES.path: 8192, CLOCKS.path: 40_000_000})
    assert "20 runs: a grid of 5 x 4 values." in words_of
    shown = f"The best latency is {best:,.6g} ns, with cpu0.d-cache-size=8K, spi0.clock-frequency"
    assert shown in words_of
    assert f"The best rate is {1e4 / best:.6g} MB/s, with cpu0.d-cache-size=8K" in words_of
    assert "The worst is 4,200 ns" in words_of


def test_a_line_over_one_setting_has_each_row_where_its_number_is() -> None:
    found = swept(SIZES)
    plot = plots(sweep_page.render(found))["latency over cpu0.d-cache-size"]
    assert len(tips(plot)) == len(found.rows) == 5
    for one, tip in zip(found.rows, tips(plot), strict=True):
        size = words.value(one.settings[SIZES.path])
        assert tip == f"latency: {one.values['latency']:,.6g} ns\ncpu0.d-cache-size={size}"
    across, heights = zip(*places(plot), strict=True)
    assert proportional([one.values["latency"] for one in found.rows], heights)
    # by factors of 2, and 0 before them
    steps = [right - left for left, right in itertools.pairwise(across)]
    assert max(steps) - min(steps) < 0.1
    assert {"0", "1K", "2K", "4K", "8K", "latency (ns)"} <= set(written(plot))


def test_two_settings_are_a_line_for_each_value_of_the_other() -> None:
    found = swept(SIZES, CLOCKS)
    drawn = plots(page_of(SIZES, CLOCKS))
    plot = drawn["latency over cpu0.d-cache-size"]
    assert {"10M", "20M", "30M", "40M"} <= set(written(plot))
    expected = {f"latency: {one.values['latency']:,.6g} ns" for one in found.rows}
    assert {tip.partition("\n")[0] for tip in tips(plot)} == expected
    assert "latency over spi0.clock-frequency" in drawn


def test_more_settings_are_a_mean_with_a_band() -> None:
    found = swept(SIZES, CLOCKS, FLAGS)
    html = page_of(SIZES, CLOCKS, FLAGS)
    plot = plots(html)["latency over cpu0.d-cache-size"]
    assert len(tips(plot)) == 5
    own = [one for one in found.rows if one.settings[SIZES.path] == 4096]
    values = [one.values["latency"] for one in own]
    (tip,) = (tip for tip in tips(plot) if tip.startswith("cpu0.d-cache-size=4K"))
    assert f"mean {sum(values) / 12000:.6g} us of 12 rows, {min(values) / 1000:.6g} to" in tip
    assert "flags=-O2" in tip
    assert "the band reaches" in html


def test_words_are_bars_by_the_best_and_dots_where_there_are_several_rows() -> None:
    plot = plots(sweep_page.render(swept(FLAGS)))["latency by flags"]
    assert [tip.rpartition("flags=")[2] for tip in tips(plot)] == ["-O2", '-D"<a>&b"', "-O0"]
    many = plots(sweep_page.render(swept(FLAGS, CLOCKS)))["latency by flags"]
    assert len(tips(many)) == 12
    assert len(tips(many, "mean")) == 3


@pytest.mark.parametrize(("metric", "better"), [("latency", min), ("rate", max)])
def test_a_map_has_the_mean_of_each_pair_and_says_which_end_is_better(
    metric: str, better: Callable[[list[float]], float]
) -> None:
    found = swept(SIZES, CLOCKS, metrics=(metric,))
    page = page_of(SIZES, CLOCKS, metric=metric)
    plot = plots(page)[f"{metric} over cpu0.d-cache-size and spi0.clock-frequency"]
    assert len(tips(plot, "cell")) == 20
    values = [one.values[metric] for one in found.rows]
    shown = {f"{value:,.4g}" if value < 1000 else f"{value:,.0f}" for value in values}
    assert shown <= set(written(plot))
    best = better(values)
    unit = MEASURES[metric].unit
    assert f"best, {best:.4g} {unit}" in Page(page).words
    outlined = [
        one.findtext("title") or ""
        for one in plot.iter("g")
        if one.get("class") == "cell" and "stroke: var(--ink)" in str(ElementTree.tostring(one))
    ]
    assert len(outlined) == 1
    assert f"{best:,.6g}" in outlined[0]


def test_a_map_takes_the_mean_over_other_settings() -> None:
    found = swept(SIZES, CLOCKS, FLAGS)
    drawn = plots(page_of(SIZES, CLOCKS, FLAGS))
    (plot,) = (plot for title, plot in drawn.items() if tips(plot, "cell"))
    assert len(tips(plot, "cell")) == 15
    own = [
        one.values["latency"]
        for one in found.rows
        if (one.settings[SIZES.path], one.settings["flags"]) == (0, "-O0")
    ]
    assert f"mean {sum(own) / 4000:.6g} us of 4 rows" in " ".join(tips(plot, "cell"))


def test_two_values_are_no_map() -> None:
    html = sweep_page.render(swept(SIZES, axis(CLOCKS.path, "10M,20M")))
    assert not any(tips(plot, "cell") for plot in plots(html).values())


def test_drawn_points_are_scattered_over_each_setting() -> None:
    spans = (axis(SIZES.path, "1K:64K:log"), axis(CLOCKS.path, "10M:40M"))
    found = swept(*spans, kind=LATIN, samples=50)
    drawn = plots(sweep_page.render(found))
    for path in (SIZES.path, CLOCKS.path):
        plot = drawn[f"latency over {path}"]
        assert len(tips(plot)) == 50
        assert proportional(
            [one.values["latency"] for one in found.rows], [y for _, y in places(plot)]
        )
    logs = [math.log(float(one.settings[SIZES.path])) for one in found.rows]
    across = [-x for x, _ in places(drawn[f"latency over {SIZES.path}"])]
    assert proportional(logs, across)


def test_very_many_rows_make_a_page_that_browsers_take() -> None:
    many = sized(2050, 10_000)
    spans = (axis(SIZES.path, "1K:64K:log"), axis(CLOCKS.path, "10M:40M"), FLAGS)
    found = swept(*spans, metrics=("latency", "rate", "elapsed_ps"), kind=RANDOM, samples=many)
    html = sweep_page.render(found)
    assert len(html) < 5_000_000
    shown = len(tips(plots(html)["latency over cpu0.d-cache-size"]))
    assert 300 < shown <= 2001
    assert f"Shown are {shown:,} of {many:,} rows, evenly selected." in html
    template = html.partition("<template>")[2].partition("</template>")[0]
    assert template.count("<tr") == many + 1


def test_rows_that_are_worth_their_price_are_joined_and_listed() -> None:
    found = swept(SIZES, CLOCKS)
    priced = [
        row(one.settings, price=float(one.settings[SIZES.path]) / 1024 + n % 3)
        for n, one in enumerate(found.rows)
    ]
    found = result(found.axes, priced)
    html = sweep_page.render(found)
    plot = plots(html)["latency over the price"]
    assert len(tips(plot)) == 20
    worth = [f"price {one.price:g}" for one in found.pareto()]
    assert [tip.splitlines()[-1] for tip in tips(plot)[-len(worth) :]] == worth
    assert "1" in written(plot)
    assert html.count('class="every sorts"') == 2
    unpriced = page_of(SIZES, CLOCKS)
    assert "over the price" not in unpriced
    assert unpriced.count('class="every sorts"') == 1


def test_cycle_stacks_are_those_of_the_best_row_for_each_value() -> None:
    found = swept(SIZES, CLOCKS)
    html = page_of(SIZES, CLOCKS)
    plot = plots(html)["Cycle stacks by cpu0.d-cache-size"]
    shares = tips(plot, "share")
    assert len(shares) == 2 * len(SIZES.values)
    best = ns({SIZES.path: 8192, CLOCKS.path: 40_000_000})
    first, second = shares[-2:]
    assert first == f"8K: waits <&>, {round(best * 200) / 1000:.6g} ns, 66.7 %"
    assert second == f"8K: data cache misses, {round(best * 100) / 1000:.6g} ns, 33.3 %"
    bare = {name: one for name, one in MEASURES.items() if ".stack." not in name}
    rows = [
        SweepRow(one.settings, {"latency": one.values["latency"]}, None, None, is_kept=False)
        for one in found.rows
    ]
    without = sweep_page.render(result(found.axes, rows, measures=bare))
    assert "Where the time went" not in without


def test_effects_are_a_table_with_bars() -> None:
    page = Page(page_of(SIZES, CLOCKS))
    assert len(page.of_class("reach")) == 2
    assert "several settings together explain another 0.0%" in page.words
    assert re.search(r"cpu0\.d-cache-size 9\d\.\d%", page.words)
    assert "8K" in page.words


def test_sobols_indices_have_both_parts_and_their_errors() -> None:
    pytest.importorskip("SALib", reason="SALib is not installed")
    spans = (axis(SIZES.path, "1K:64K:log"), axis(CLOCKS.path, "10M:40M"))
    page = Page(sweep_page.render(swept(*spans, kind="sobol", samples=32)))
    assert "Saltelli's points for Sobol's indices, 32 x 4 (seed 0)" in page.words
    assert len(page.of_class("reach")) == 4
    assert re.search(r"cpu0\.d-cache-size \d+\.\d% ± \d+\.\d% \d+\.\d% ± ", page.words)


def test_failed_rows_are_in_the_table_with_their_reasons() -> None:
    found = swept(SIZES, CLOCKS)
    rows = [*found.rows[:-2], *(failed(one.settings, "<b>no & never") for one in found.rows[-2:])]
    html = sweep_page.render(result(found.axes, rows))
    page = Page(html)
    assert "<b>no" not in html
    assert "20 runs, 2 of them failed" in page.words
    assert "<b>no & never (2 runs, as cpu0.d-cache-size=8K spi0.clock-frequency=30M)" in page.words
    assert len(page.of_class("why")) == 21
    assert len(tips(plots(html)["latency over cpu0.d-cache-size"])) == 18


@pytest.mark.parametrize("measures", [MEASURES, {"elapsed_ps": MEASURES["elapsed_ps"]}])
def test_a_sweep_of_which_all_failed_has_its_reasons(measures: Mapping[str, Measure]) -> None:
    rows = [failed(one, "it did not end") for one in points([SIZES])]
    html = sweep_page.render(result([SIZES], rows, measures=measures))
    assert plots(html) == {}
    assert "No run has given a number for latency." in Page(html).words
    assert Page(html).words.count("it did not end") == 6


def test_names_are_escaped_wherever_they_stand() -> None:
    name = "rate[file=<i>\"x\" & 'y' $a$]"
    flags = axis("<u>&\"'", FLAGS.values)
    sizes = axis("<s>.d-cache-size", SIZES.values)
    rows = [
        SweepRow(one, {name: float(n)}, None, n, is_kept=False)
        for n, one in enumerate(points([flags, sizes]))
    ]
    found = result([flags, sizes], rows, (name,), measures={name: Measure(name, "<b>/s")})
    html = sweep_page.render(found)
    assert not re.search(r"<(i|u|s)>", html)
    assert "<b>/s" not in html
    drawn = plots(html)
    assert f"{name} over <s>.d-cache-size" in drawn
    assert f"{name} by <u>&\"'" in drawn
    assert f"{name} (<b>/s)" in written(drawn[f"{name} over the price"])
    Page(html)


@pytest.mark.parametrize(
    "values",
    [
        [0, 0, 0],
        pytest.param([5, 5, 5], marks=pytest.mark.long),
        pytest.param([-1, -20, -3], marks=pytest.mark.long),
        [-5, 0, 5],
        [1e-9, 1, 1e9],
        [math.nan, 1, 2],
        pytest.param([10**30, 2, 3], marks=pytest.mark.long),
        [10**30, -(10**30), 3],
    ],
)
def test_odd_numbers_are_drawn(values: Sequence[float]) -> None:
    rows = [
        SweepRow({"a.b": n, "mode": word}, {"x": value}, None, n, is_kept=False)
        for n, value in enumerate(values)
        for word in ("p", "q", "r", "s")
        for _ in "ab"
    ]
    axes = [axis("a.b", ["0", "1", "2"]), axis("mode", "p,q,r,s")]
    html = sweep_page.render(result(axes, rows, ("x",), measures={"x": Measure("x", "")}))
    finite = sum(map(math.isfinite, values))
    assert len(tips(plots(html)["x over a.b"])) == 4 * finite


def test_one_row_has_no_plots() -> None:
    assert plots(sweep_page.render(result([SIZES], [row({SIZES.path: 1024})]))) == {}


def test_settings_that_advance_together_are_one() -> None:
    design = Design(zips=((SIZES.path, "flags"),))
    sizes = axis(SIZES.path, "1K,2K,4K")
    rows = [row(one) for one in points([sizes, FLAGS], design)]
    html = sweep_page.render(result([sizes, FLAGS], rows, design=design))
    assert [title for title in plots(html) if " over " in title] == [
        "latency over cpu0.d-cache-size + flags"
    ]
    assert "a grid of 3 values, where cpu0.d-cache-size and flags advance together" in html


def test_the_same_result_gives_the_same_bytes() -> None:
    assert sweep_page.render(swept(SIZES, CLOCKS, FLAGS)) == page_of(SIZES, CLOCKS, FLAGS)


@pytest.mark.parametrize(
    ("numbers", "by_factors"),
    [
        ([0, 1, 2, 4, 8], True),
        ([1, 10, 100], True),
        ([10, 20, 30, 40], False),
        ([2, 3, 8], False),
        ([0, 4096, 32768], True),
        ([0, 0.5], False),
        ([-8, 1, 8], False),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], False),
    ],
)
def test_an_axis_is_logarithmic_if_it_goes_by_factors(
    numbers: Sequence[float], by_factors: bool
) -> None:
    assert sweep_axes.goes_by_factors(numbers) == by_factors


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (4096, "4K"),
        (102_400, "100K"),
        (40_000_000, "40M"),
        (1_500_000, "1.5M"),
        (12_345_678, "12345678"),
        (2**20, "1Mi"),
        (True, "True"),
        ("quad-io", "quad-io"),
        (0.25, "0.25"),
    ],
)
def test_values_are_written_as_people_write_them(value: Value, text: str) -> None:
    assert words.value(value) == text


def test_a_real_sweep_has_its_runs_on_the_page(program: Callable[[str], Path]) -> None:
    found = sweep(
        program("coroutines"), BOARD, {"cpu0.d-cache-size": "1K,2K,4K"}, threads=1, metrics=()
    )
    assert not found.failures
    html = sweep_page.render(found)
    plot = plots(html)["elapsed_ps over cpu0.d-cache-size"]
    assert tips(plot) == [
        f"elapsed_ps: {one.values['elapsed_ps']:,} ps\n"
        f"cpu0.d-cache-size={words.value(one.settings['cpu0.d-cache-size'])}"
        for one in found.rows
    ]
    stack = plots(html)["Cycle stacks by cpu0.d-cache-size"]
    assert {tip.partition(":")[0] for tip in tips(stack, "share")} == {"1K", "2K", "4K"}
