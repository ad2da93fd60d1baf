"""Arguments of `--vary`: values, ranges, spans; and the choice of points."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import sized

from cyclescope.errors import SettingError, UsageError
from cyclescope.sweeps.axes import Axis, Span, axis, parse_vary
from cyclescope.sweeps.designs import GRID, LATIN, RANDOM, SOBOL, Design
from cyclescope.sweeps.prices import Prices, parse_price

SIZES = ("0", "1024", "2048", "4096", "8192", "16384", "32768")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("10M,20M,40M", ("10M", "20M", "40M")),
        ("10M:40M:10M", ("10000000", "20000000", "30000000", "40000000")),
        ("10M:40M:+20M", ("10000000", "30000000")),
        ("1K:4K:x2", ("1024", "2048", "4096")),
        ("64:4096:x4", ("64", "256", "1024", "4096")),
        # from 0 the factor begins at one of the unit of the upper end
        ("0:32K:x2", SIZES),
        ("0:4:x2", ("0", "1", "2", "4")),
        ("0,1K:4K:x2", ("0", "1024", "2048", "4096")),
        ("1,2;3,4", ("1,2", "3,4")),
        ("a.elf,b.elf", ("a.elf", "b.elf")),
        ("quad", ("quad",)),
    ],
)
def test_values(text: str, values: tuple[str, ...]) -> None:
    assert parse_vary(f"node.property={text}") == Axis("node.property", values)


def test_a_span_is_for_samples() -> None:
    assert parse_vary("a.b=10:20").span == Span(10, 20)
    drawn = parse_vary("a.b=1:1000:log")
    assert [drawn.at(part) for part in (0.0, 1 / 3, 2 / 3, 1.0)] == ["1", "10", "100", "1000"]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("a.b", "expected PATH=VALUES"),
        ("=1", "expected PATH=VALUES"),
        ("a.b=", "there are no values"),
        ("a.b=1,,2", "nothing between two ,"),
        ("a.b=1,2,1", "1 is given twice"),
        ("a.b=4:2:1", "an empty range: 4 is above 2"),
        ("a.b=10Q:1M:x2", "10Q is no number"),
        ("a.b=1:8:x1", "x1 is no step"),
        ("a.b=1:8:0", "0 is no step"),
        ("a.b=1:8:zzz", "zzz is no step"),
        ("a.b=0:8:log", "log begins above 0"),
        ("a.b=0:1G:1", "1,000,000,001 values: at most 1,000,000"),
        ("a.b=5,1:8", "needs its step"),
    ],
)
def test_nonsense_is_reported(argument: str, words: str) -> None:
    with pytest.raises(SettingError) as refused:
        parse_vary(argument)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=30))
def test_any_text_is_an_axis_or_refused(text: str) -> None:
    try:
        found = parse_vary(text)
    except SettingError as error:
        lines = str(error).splitlines()
    else:
        lines = [found.path]
        assert found.values or found.span
    assert len(lines) == 1


@given(st.integers(0, 10**9), st.integers(0, 10**5), st.integers(1, 10**6))
def test_a_range_has_each_step_and_nothing_beyond(low: int, steps: int, step: int) -> None:
    steps %= 1000
    found = axis("a.b", f"{low}:{low + steps * step}:{step}").values
    assert [int(value) for value in found] == [low + number * step for number in range(steps + 1)]


# ---- designs

AXES = (axis("a", ["1", "2"]), axis("b", ["x", "y", "z"]), axis("c", ["5", "6"]))


def test_a_grid_has_all_combinations_the_last_axis_first() -> None:
    points = list(Design().points(AXES))
    assert points == list(product(*(one.values for one in AXES)))
    assert Design().size(AXES) == len(points) == 12


def test_zipped_axes_advance_together() -> None:
    design = Design(GRID, zips=(("a", "c"),))
    assert list(design.points(AXES)) == [
        *(("1", b, "5") for b in "xyz"),
        *(("2", b, "6") for b in "xyz"),
    ]
    assert design.size(AXES) == 6


@pytest.mark.parametrize(
    ("zips", "words"),
    [
        ((("a", "b"),), "a has 2 values and b 3"),
        ((("a",),), "two paths or more"),
        ((("a", "d"),), "d is not varied"),
        ((("a", "c"), ("c", "a")), "c is given twice"),
    ],
)
def test_a_zip_that_does_not_fit(zips: tuple[tuple[str, ...], ...], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        Design(GRID, zips=zips).size(AXES)


@given(st.integers(1, 40), st.integers(0, 5))
def test_a_latin_hypercube_has_one_point_in_each_part(samples: int, seed: int) -> None:
    spans = [Axis("a", (), Span(0, samples * 1000 - 1)), axis("b", ["1", "2"])]
    points = list(Design(LATIN, samples, seed=seed).points(spans))
    assert sorted(int(point[0]) // 1000 for point in points) == list(range(samples))
    halves = Counter(point[1] for point in points)
    assert abs(halves["1"] - halves["2"]) <= 1


@pytest.mark.parametrize("kind", [RANDOM, LATIN, SOBOL])
def test_the_same_seed_draws_the_same(kind: str) -> None:
    spans = [Axis("a", (), Span(0, 10**6)), axis("b", ["1", "2", "3"])]
    design = Design(kind, 16, seed=1)
    points = list(design.points(spans))
    assert points == list(design.points(spans))
    assert points != list(Design(kind, 16, seed=2).points(spans))
    assert len(points) == design.size(spans) == (64 if kind == SOBOL else 16)


def test_sobol_wants_a_power_of_two() -> None:
    with pytest.raises(UsageError, match="powers of 2"):
        list(Design(SOBOL, 10).points(AXES))


def test_a_grid_that_nobody_runs_is_reported_with_its_count() -> None:
    # a million is what one setting may have
    count = sized(10_000, 1_000_000)
    large = [axis(name, f"1:{count}:1") for name in "ab"]
    with pytest.raises(SettingError, match=f"{count * count:,} runs: at most 1,000,000"):
        Design().points(large)


# ---- prices


def test_prices_by_value_and_by_unit() -> None:
    prices = Prices((parse_price("a=1:0.5,2:0.75"), parse_price("size=0.02/1K")))
    assert prices.of({"a": "2", "size": "4K"}) == pytest.approx(0.83)
    prices.check([AXES[0], axis("size", "1K:4K:x2")])
    with pytest.raises(SettingError, match="a: 3 has no price"):
        prices.check([axis("a", ["1", "3"]), axis("size", ["1"])])
    with pytest.raises(SettingError, match="it is not varied"):
        prices.check([AXES[1]])


@pytest.mark.parametrize("argument", ["a", "a=", "a=1", "a=1:x", "a=1:nan", "a=0.1/0", "a=x/1K"])
def test_an_invalid_price_is_refused(argument: str) -> None:
    with pytest.raises(SettingError, match="--price a"):
        parse_price(argument)
