"""The report's overview, what it answers, and links that hold."""

from __future__ import annotations

import dataclasses
import re

import pytest
from test_report import Page, experiment, usual
from test_report_views import PIVOT, kernels, result, row

from cyclescope import experiments
from cyclescope.bench import trust
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.report import agreement, colours, render, strip
from cyclescope.report.anchors import Anchors


def cards(html: str) -> str:
    """The words of the cards."""
    return Page("".join(re.findall("<article.*?</article>", html, re.DOTALL))).words


def found(*results: ExperimentResult) -> agreement.Agreement:
    return agreement.collect(results, Anchors(results))


@pytest.mark.parametrize("name", experiments.ALL)
def test_every_experiment_has_a_question_and_no_answer_from_nothing(name: str) -> None:
    asked = experiments.ALL[name]
    assert asked.question.endswith("?")
    assert len(asked.question) < 160
    assert asked.answer([]) == ""


def test_a_card_has_the_question_the_answer_and_how_many_are_close() -> None:
    ours = dataclasses.replace(experiment(), question="How fast?", answer="In 95 ms.")
    card = cards(render([ours]))
    for said in (
        "How fast?",
        "In 95 ms.",
        "2 of 2 published numbers within 10",
        "1 of all calibrated",
        "1 run without a result. app mode=bad: it fell over",
    ):
        assert said in card


def test_a_question_that_the_rows_do_not_answer_says_so() -> None:
    failed = dataclasses.replace(
        experiment(), rows=(), runs=experiment().runs[2:], question="How fast?"
    )
    card = cards(render([failed]))
    assert "These runs don't answer it." in card
    assert "No results." in card
    assert "it fell over" in card


def test_each_published_number_is_a_point_that_leads_to_its_row() -> None:
    html = usual()
    page = Page(html)
    # over the published number, and by experiment
    assert page.of_class("cell") == ["g"] * 2 * 2
    targets = [
        attrs["href"].removeprefix("#")
        for tag, attrs in page.elements
        if tag == "a" and re.fullmatch(r"#quad-(quad|dual)-write-\w{6}", attrs.get("href", ""))
    ]
    rows = [attrs["id"] for tag, attrs in page.elements if tag == "tr" and "id" in attrs]
    # the point's link, and the row's own
    assert all(targets.count(anchor) >= 2 for anchor in rows[:2])
    assert set(targets) == set(rows[:2])
    assert (
        "quad: quad write published 94,338, simulated 95,000 us, +0.7 % (predicted)" in page.words
    )


def test_exact_numbers_that_are_met_hide_no_others() -> None:
    ours = found(result(kernels(3)), experiment())
    assert len(ours.met) == 5
    assert [cell.row.experiment for cell in ours.shown] == ["xip", "quad", "quad"]
    html = render([result(kernels(3)), experiment()])
    page = Page(html)
    assert len(page.of_class("cell")) == 3 * 2
    assert page.of_class("met") == ["g"]
    assert re.search(r'<g class="met"><a href="#xip"><title>xip: 5 numbers of the', html)
    assert "5 of 6 numbers of a hardware's own description are met exactly." in page.words


def test_a_number_without_a_logarithm_is_left_out_and_counted() -> None:
    rows = [row({"n": n}, simulated, 4) for n, simulated in enumerate((4, 0))]
    ours = found(result(rows, exact=False))
    assert (len(ours.shown), ours.left_out) == (1, 1)
    words = Page(render([result(rows, exact=False)])).words
    assert "1 number with a 0 has no place on these axes." in words


def test_derived_rows_are_not_points() -> None:
    rows = [row({"n": n}, 4, 5) for n in range(2)]
    rows[1] = dataclasses.replace(rows[1], basis=DERIVED)
    assert len(found(result(rows, exact=False)).shown) == 1


def test_an_experiment_of_few_numbers_has_room_for_its_name() -> None:
    names = ["a-rather-long-name-of-one", "another-long-name-of-two", "c"]
    results = [
        dataclasses.replace(
            result([row({"n": n}, 4, 5) for n in range(count)], exact=False), name=name
        )
        for name, count in zip(names, (1, 2, 200), strict=True)
    ]
    drawn = strip.draw(found(*results))
    middles = [float(re.search(rf'x="([\d.]+)"[^>]*>{name}</text>', drawn)[1]) for name in names]
    assert middles[1] - middles[0] > 100
    assert middles[0] > 40
    assert len(re.findall("<title>", drawn)) == 203


def of_errors(*errors_pct: int, basis: str = "predicted") -> list[Row]:
    return [
        dataclasses.replace(row({"n": n}, 1000 + 10 * error, 1000), basis=basis)
        for n, error in enumerate(errors_pct)
    ]


def test_the_histogram_counts_each_number_once() -> None:
    rows = [
        *of_errors(0, 1, -1, 9, 11, -11, 400, -80),
        *of_errors(0, 12, basis=CALIBRATED),
    ]
    words = Page(render([result(rows, exact=False)])).words
    for said in (
        "\N{MINUS SIGN}2.0 % to +2.0 %: 3 predicted numbers",
        "1 calibrated number",
        "+6.0 % to +10.0 %: 1 predicted number",
        "+10.0 % to +14.0 %: 1 predicted number",
        "+30.0 % and above: 1 predicted number",
        "below \N{MINUS SIGN}30.0 %: 1 predicted",
    ):
        assert said in words
    counted = re.findall(r": (\d+) (?:predicted|calibrated) numbers?", words)
    assert sum(map(int, counted)) == len(rows)
    assert trust.of(result(rows, exact=False)).close == 5


def test_a_row_keeps_its_id_when_others_come_and_go() -> None:
    first = experiment()
    fewer = dataclasses.replace(first, rows=first.rows[1:])
    rows = first.rows
    assert [Anchors([first]).of(each) for each in rows[1:]] == [
        Anchors([fewer]).of(each) for each in rows[1:]
    ]
    assert len({Anchors([first]).of(each) for each in rows}) == len(rows)
    # a default that an app gets later changes no link
    run = dataclasses.replace(rows[0].run, implied=("new",))
    later = dataclasses.replace(rows[0], settings=dict(rows[0].settings) | {"new": 1}, run=run)
    changed = dataclasses.replace(first, rows=(later,))
    assert Anchors([changed]).of(later) == Anchors([first]).of(rows[0])


def test_identical_rows_have_different_ids() -> None:
    twins = [row({"n": 1}, 1, 1), row({"n": 1}, 2, 1)]
    anchors = Anchors([result(twins)])
    assert anchors.of(twins[1]) == f"{anchors.of(twins[0])}-2"


def test_every_row_is_listed_once_wherever_tables_of_groups_show_it() -> None:
    rows = [row({"n": n, "mode": "m", "program": "p"}, n, n, pivot=PIVOT) for n in range(1, 4)]
    rows += [row({"n": n}, n, n) for n in range(4, 6)]
    page = Page(render([result(rows)]))
    listed = [attrs["id"] for tag, attrs in page.elements if tag == "tr" and "id" in attrs]
    anchors = Anchors([result(rows)])
    assert sorted(listed) == sorted(anchors.of(each) for each in rows)


def test_fitted_values_come_folded_and_after_the_first_picture() -> None:
    html = usual()
    assert html.index("<svg") < html.index("What was calibrated")
    section = html[html.index('<section class="experiment"') :]
    assert section.index("<svg") < section.index("What was fitted or assumed")
    assert re.search(r"assumed</h3>\s*<details>", section)
    assert not re.search(r"<details open", html.replace("<details open><summary>Contents", ""))


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_marks_stand_out_from_the_page(dark: bool) -> None:
    values = colours.values(dark)
    words = ("ink", "muted", "link", "predicted", "calibrated", "off")
    for role in words:
        assert contrast(values[role], values["page"]) >= 4.5, role
        assert contrast(values[role], values["shade"]) >= 4.5, role
    assert contrast(values["ink"], values["band"]) >= 4.5
    marks = [role for role in values if role.startswith("cause-")]
    for role in (*marks, "published", "simulated", "other"):
        assert contrast(values[role], values["page"]) >= 3, role
