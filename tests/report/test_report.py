"""The report: one file that needs nothing else, says everything, and lets nothing through."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT
from tiers import mostly_long, sized

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import PREDICTED, UNPUBLISHED, Row, RunRecord
from cyclescope.board.description.parameters import CALIBRATED, Parameter
from cyclescope.board.results import CoreResult, RunResult, Section, Settings, StackEntry
from cyclescope.report import colours, render, stacks, text, write_report
from cyclescope.report.text import RowName

VOID = {"meta", "br", "hr", "img", "input", "link"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HOSTILE = '<script>alert("1")</script> & \'x\' "y" $z$ {{ 7 * 6 }}'


class Page(HTMLParser):
    """A page as a list of elements; what is opened must be closed, and in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag in {"td", "th"}:
            self.texts.append(" ")

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._open):
            self.texts.append(data)

    @property
    def words(self) -> str:
        """All text, each run of blanks as one."""
        return " ".join("".join(self.texts).split())

    def of_class(self, name: str) -> list[str]:
        """The tags of the elements of a class."""
        return [tag for tag, attrs in self.elements if name in attrs.get("class", "").split()]

    def values(self, attribute: str) -> list[str]:
        """All values of an attribute."""
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]


def scripts(html: str) -> str:
    """All code that the page would run."""
    return "".join(re.findall(r"<script.*?</script>", html, re.DOTALL))


def stack(*shares: tuple[str, int]) -> tuple[StackEntry, ...]:
    return tuple(StackEntry(cause, ps // 10_000, ps) for cause, ps in shares)


def record(name: str, settings: Settings, console: str = "") -> RunRecord:
    """A run with a section of its own: 60 ms of waiting for SPI, 35 ms of work."""
    section = Section(
        "timed", 1, 10, stack(("load: spi0", 60 * 10**9), ("issue", 35 * 10**9), ("tiny", 10**6))
    )
    core = CoreResult("cpu0", 10**8, 10, 20, stack(("issue", 10**12)), (section,))
    result = RunResult(
        "board-a", "app", "exit", 0, None, 10**12, console, (core,), {}, ("note: odd bit",), 5
    )
    return RunRecord(name, "app", "board-a", settings, result)


def row(run: RunRecord, label: str, published: int | None, basis: str) -> Row:
    return Row(
        "quad",
        "board-a",
        run.settings,
        "write_time",
        "us",
        95_000,
        published,
        basis,
        label,
        run,
        ("timed",),
        counts_as=label if published else "",
    )


def experiment(name: str = "quad", label: str = "quad write", note: str = "") -> ExperimentResult:
    first = record("app mode=quad", {"mode": "quad"}, "Chip Erased\n")
    second = record("app mode=slow", {"mode": "slow"}, "another transcript\n")
    source = "calibrated: dual write"
    return ExperimentResult(
        name=name,
        title="Quad SPI",
        source="A note, 2014",
        notes=(note or "Another core stands in.",),
        rows=(
            row(first, label, 94_338, PREDICTED),
            row(first, "dual write", 90_000, CALIBRATED),
            row(second, "slow write", None, UNPUBLISHED),
        ),
        runs=(first, second, RunRecord("app mode=bad", "app", "board-a", {}, None, "it fell over")),
        parameters={
            "board-a": (
                Parameter(
                    "/spi", "spi0", "read-cycles", "4", "cycles", "PG153, table 2", "documented"
                ),
                Parameter("/ddr", "ddr", "beat-cycles", "1", "cycles", source, CALIBRATED),
            )
        },
    )


@cache
def usual() -> str:
    """The report of the experiment: it takes a part of a second, and many tests look at it."""
    return render([experiment()])


def test_the_file_needs_nothing_else() -> None:
    html = usual()
    page = Page(html)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"link", "iframe", "img", "object", "embed", "base", "image"}
    assert page.values("src") == page.values("srcset") == []
    assert not re.search(r"\b(fetch|import|XMLHttpRequest|WebSocket|eval)\b", scripts(html))
    assert all(target.startswith("#") for target in page.values("href"))
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    assert "http:" not in html
    assert "https:" not in html
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)


def test_every_reference_has_its_one_target() -> None:
    html = render([experiment("one"), experiment("two")])
    ids = Page(html).values("id")
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r"url\(#([^)]+)\)", html))
    targets.update(target.removeprefix("#") for target in Page(html).values("href"))
    assert targets <= set(ids)


def test_each_experiment_has_a_section_and_each_row_its_bars() -> None:
    results = [experiment("one"), experiment("two")]
    page = Page(render(results))
    sections = [attrs["id"] for tag, attrs in page.elements if tag == "section"]
    assert sections == ["overview", "trust", "one", "two"]
    rows = sum(len(result.rows) for result in results)
    # the published ones are in the overview as well
    assert len([tag for tag in page.of_class("simulated") if tag == "g"]) == rows + 4
    assert len([tag for tag in page.of_class("published") if tag == "g"]) == 4 + 4
    # two causes and "other" in each row's stack
    assert page.of_class("share") == ["g"] * 3 * rows


def test_a_section_says_all_that_a_reader_needs() -> None:
    html = usual()
    words = Page(html).words
    for said in (
        "94,338",
        "95,000",
        "+0.7 %",
        "+5.6 %",
        "quad write",
        "slow write",
        "mode=quad",
        "Another core stands in.",
        "note: odd bit",
        "A note, 2014",
        "PG153, table 2",
        "calibrated: dual write",
        "it fell over",
        "Chip Erased",
        "95 ms",
    ):
        assert said in words
    # only the runs that have a published number show their console
    assert "another transcript" not in words


def test_how_far_to_trust_it_is_counted() -> None:
    words = Page(usual()).words
    assert "Of 2 published numbers, 1 was predicted and 1 calibrated." in words
    assert "2 timing parameters: 1 directly from a document, 0 derived" in words
    assert "0 assumed (estimated, chosen, or taken from a similar part) and 1 calibrated" in words
    plain = dataclasses.replace(experiment(), rows=experiment().rows[2:], parameters={})
    words = Page(render([plain])).words
    assert "No row of this report has a published number" in words
    assert "no timing parameters" in words


def test_nothing_that_a_board_or_firmware_says_becomes_markup() -> None:
    run = record(HOSTILE, {"mode": HOSTILE, HOSTILE: 1}, HOSTILE)
    hostile = ExperimentResult(
        "quad",
        HOSTILE,
        HOSTILE,
        (HOSTILE,),
        rows=(row(run, HOSTILE, 1, PREDICTED), row(run, HOSTILE, None, UNPUBLISHED)),
        runs=(run, RunRecord(HOSTILE, HOSTILE, HOSTILE, {}, None, HOSTILE)),
        parameters={HOSTILE: (Parameter(*[HOSTILE] * 6, CALIBRATED),)},
    )
    html = render([hostile])
    page = Page(html)
    assert scripts(html) == scripts(render([]))
    assert "<script>alert" not in html
    assert HOSTILE in "".join(page.texts)


def test_causes_named_by_firmware_authors_are_escaped_in_plots_and_legends() -> None:
    result = experiment()
    section = Section("timed", 1, 1, stack((HOSTILE, 10**9)))
    run = result.runs[0]
    assert run.result is not None
    core = dataclasses.replace(run.result.cores[0], sections=(section,))
    run = dataclasses.replace(run, result=dataclasses.replace(run.result, cores=(core,)))
    html = render([dataclasses.replace(result, rows=(row(run, "x", None, UNPUBLISHED),))])
    assert scripts(html) == scripts(render([]))
    assert HOSTILE in Page(html).texts


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import test_report;"
        "sys.stdout.write(test_report.render([test_report.experiment()]))"
    )
    folders = (Path(__file__).parent, ROOT / "tests", ROOT / "tests" / "support")
    hosts = (("2", "Asia/Tokyo"), ("1", "UTC"))
    pages = {
        subprocess.run(
            [sys.executable, "-c", code, *map(str, folders)],
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "PYTHONIOENCODING": "utf-8"},
            cwd=tmp_path,
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in hosts[: sized(1, 2)]
    }
    assert pages == {usual().encode()}


def test_host_time_leaves_no_trace() -> None:
    slow = experiment()
    runs = tuple(
        dataclasses.replace(run, result=dataclasses.replace(run.result, wall_ns=987_654_321))
        if run.result
        else run
        for run in slow.runs
    )
    rows = tuple(dataclasses.replace(row, run=runs[slow.runs.index(row.run)]) for row in slow.rows)
    assert render([dataclasses.replace(slow, rows=rows, runs=runs)]) == usual()


def test_every_colour_of_a_plot_follows_the_page() -> None:
    page = Page(usual())
    plotted = [value for value in page.values("style") if "fill" in value or "stroke" in value]
    assert plotted
    assert all(
        "var(--" in value for value in plotted if re.search(r"(fill|stroke): (?!none)", value)
    )
    assert not any(re.search(r"#[0-9a-f]{6}", value) for value in plotted)
    assert set(colours.values(dark=False)) == set(colours.values(dark=True))


def test_a_cause_has_one_look_and_no_two_share_it() -> None:
    causes = [(f"cause {number}", 100 - number) for number in range(25)]
    styles = colours.styles([causes])
    looks = {style.css_class for style in styles.values()}
    assert len(looks) == len(causes) + 2  # "other", and the core's own work among waits
    assert colours.styles([causes[5:], causes[:5]]) == styles


@pytest.mark.parametrize("causes", [1, 8, 9, 40])
def test_small_causes_are_merged_and_no_picosecond_is_lost(causes: int) -> None:
    rows = [
        (
            RowName(f"row {number}", ""),
            stack(*((f"c{i}", (i + 1) ** number) for i in range(causes))),
        )
        for number in range(1, 5)
    ]
    panel = stacks.panel(rows)
    assert panel is not None
    assert len(panel.causes) <= 11
    for shown, (_, entries) in zip(panel.rows, rows, strict=True):
        assert shown.total_ps == sum(entry.ps for entry in entries)
        assert sum(map(shown.ps_of, panel.causes)) == shown.total_ps


def test_a_rows_main_cause_is_shown_however_short_the_row() -> None:
    many = stack(*((f"c{number}", 10**9) for number in range(20)))
    short = stack(("its own", 90), ("c0", 10))
    panel = stacks.panel([(RowName("long", ""), many), (RowName("short", ""), short)])
    assert panel is not None
    assert panel.rows[1].ps_of("its own") == 90


def test_times_far_apart_are_shown_as_shares() -> None:
    def rows(*times_ps: int) -> Iterable[tuple[RowName, tuple[StackEntry, ...]]]:
        return [(RowName("row", ""), stack(("issue", ps))) for ps in times_ps]

    near, far = stacks.panel(list(rows(10, 100))), stacks.panel(list(rows(10, 1000)))
    assert near is not None
    assert far is not None
    assert not near.as_shares
    assert far.as_shares
    assert stacks.panel([(RowName("row", ""), ())]) is None


def test_rows_of_one_label_are_distinguished() -> None:
    one = row(record("a", {"mode": "quad", "pages": 1}), "write", None, UNPUBLISHED)
    two = row(
        record("b", {"mode": "quad", "pages": 1, "spi0.xlnx,sck-ratio": 8}),
        "write",
        None,
        UNPUBLISHED,
    )
    three = row(record("c", {"mode": "quad", "pages": 1}), "read", None, UNPUBLISHED)
    names = [str(name) for name in text.row_names([one, two, three])]
    assert names == ["write", "write sck-ratio=8", "read"]


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (94338, 6, "94,338"),
        (94.338, 4, "94.34"),
        (0.07788, 4, "0.07788"),
        (1494.0, 4, "1,494"),
        (0, 6, "0"),
        (0.0, 6, "0"),
        (100, 4, "100"),
        (1e9, 4, "1,000,000,000"),
    ],
)
def test_numbers_are_written_without_exponent(value: float, digits: int, shown: str) -> None:
    assert text.plain(value, digits) == shown


def test_a_time_is_shown_in_the_unit_that_fits() -> None:
    assert text.scale_for("us", [94_338, 78_820]).text(94_338) == "94.34 ms"
    assert text.scale_for("ps", []).unit == "ps"
    assert text.scale_for("kB/s", [10**9]).text(3) == "3 kB/s"


def test_an_experiment_without_a_single_row_still_has_its_section() -> None:
    failed = dataclasses.replace(experiment(), rows=(), runs=experiment().runs[2:])
    page = Page(render([failed]))
    assert "svg" not in {tag for tag, _ in page.elements}
    assert "it fell over" in page.words


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("scheme", mostly_long(["light", "dark"], {"dark"}))
def test_a_browser_shows_it_in_the_readers_colours(tmp_path: Path, scheme: str) -> None:
    image = pytest.importorskip("PIL.Image")
    path, shot = tmp_path / "report.html", tmp_path / "shot.png"
    write_report([experiment()], path)
    preferred = {"dark": 0, "light": 1}[scheme]
    flags = "headless no-sandbox disable-gpu disable-quic no-first-run hide-scrollbars"
    flags += " disable-background-networking disable-component-update disable-sync"
    subprocess.run(
        [
            str(CHROMIUM),
            *(f"--{flag}" for flag in flags.split()),
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--blink-settings=preferredColorScheme={preferred}",
            "--window-size=1100,6000",
            f"--screenshot={shot}",
            path.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    pixels = image.open(shot).convert("RGB")
    found = {"#{:02x}{:02x}{:02x}".format(*colour) for _, colour in pixels.getcolors(1 << 24)}
    wanted = colours.values(dark=scheme == "dark")
    assert "#{:02x}{:02x}{:02x}".format(*pixels.getpixel((1090, 2))) == wanted["page"]
    assert {
        wanted[role] for role in ("ink", "published", "simulated", "cause-0", "cause-1")
    } <= found
