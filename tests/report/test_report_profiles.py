"""Flame graphs beside a report: small files, one page that shows them, links that hold."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

import browser
from browser import CHROMIUM, DRIVER, Browser
from hypothesis import given
from hypothesis import strategies as st
from profiles import any_core, made_up
from test_report import Page, experiment

from cyclescope import experiments
from cyclescope.bench import planning, profiles
from cyclescope.bench.results import ExperimentResult
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile
from cyclescope.profile.speedscope import REST, speedscope
from cyclescope.report import profiles as pages
from cyclescope.report import render

NAME = "quad-quad-0123abcd"


def profiled() -> ExperimentResult:
    """The usual experiment. One of its runs has a profile."""
    found = experiment()
    own = profiles.packed(NAME, 'quad: "a" </script>', made_up())
    run = dataclasses.replace(found.rows[0].run, profile=own)
    rows = [dataclasses.replace(row, run=run) for row in found.rows[:2]]
    return dataclasses.replace(found, rows=(*rows, found.rows[2]), runs=(run, *found.runs[1:]))


def test_rows_and_bars_link_to_the_flame_graph_of_their_run() -> None:
    links = [link for link in Page(render([profiled()])).values("href") if link[0] != "#"]
    # two rows, each in the table and in its chart
    assert links == [f"profiles/flame.html#run={NAME}&view=left-heavy"] * 4


def test_a_runs_file_is_its_profile_and_the_same_each_time(tmp_path: Path) -> None:
    files = pages.files([profiled()], tmp_path)
    assert set(files) == {tmp_path / "flame.html", tmp_path / f"{NAME}.js"}
    assert files == pages.files([profiled()], tmp_path)
    found = re.fullmatch(
        r'// [^\n]+\ncyclescopeProfile\((".*"), "([^"]+)"\);\n', files[tmp_path / f"{NAME}.js"]
    )
    assert found is not None
    assert json.loads(found[1]) == 'quad: "a" </script>'
    text = gzip.decompress(base64.b64decode(found[2])).decode()
    assert json.loads(text)["profiles"] == json.loads(speedscope(made_up(), ""))["profiles"]
    assert pages.files([experiment()], tmp_path) == {}


def test_each_run_has_a_unique_stable_name() -> None:
    jobs = planning.plan(list(experiments.ALL.values()), with_extra=True)
    names = [job.profile_name for job in jobs]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]{1,120}", name) for name in names)
    few = planning.plan([experiments.ALL["rhealstone"]])
    assert {job.profile_name for job in few} <= set(names)


@given(core=any_core("cpu0"), most=st.integers(1, 6))
def test_of_many_paths_the_largest_stay_and_no_cycle_is_lost(core: CoreProfile, most: int) -> None:
    profile = Profile("a board", "an.elf", 1, (core,))
    whole, few = (json.loads(speedscope(profile, "", limit)) for limit in (None, most))
    for own, all_of_it in zip(few["profiles"], whole["profiles"], strict=True):
        assert sum(own["weights"]) == sum(all_of_it["weights"])
    names = [frame["name"] for frame in few["shared"]["frames"]]
    by_cycles = few["profiles"][0]
    kept = {tuple(sample) for sample in by_cycles["samples"]}
    paths = [sample for sample in kept if not sample or names[sample[-1]] != REST]
    assert len(paths) <= most
    if len(core.paths) <= most:
        assert few == whole


needs_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium or chromium-driver is not installed"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.opened() as opened:
        yield opened


@needs_browser
def test_a_browser_shows_the_run_that_the_link_names(chromium: Browser, tmp_path: Path) -> None:
    for path, text in pages.files([profiled()], tmp_path).items():
        path.write_text(text, encoding="utf-8")
    shown = "document.body.innerText.includes(arguments[0])"
    chromium.show(tmp_path / "flame.html", 1200, place=f"run={NAME}&view=left-heavy")
    chromium.wait_for(shown, "cpu0, cycles (1/2)")
    chromium.show(tmp_path / "flame.html", 1200, place="run=another")
    chromium.wait_for(shown, "another.js, which has the profile, is not beside this page")
    chromium.show(tmp_path / "flame.html", 1200, place="run=../secret")
    chromium.wait_for(shown, "The address names no run")
