"""The tutorials, typed in command by command: each prints what its page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, plugin_is_installed
from tiers import mostly_long
from tutorial_pages import Call, File, Scratch, matches, steps, titled

from cyclescope import resources
from cyclescope.firmware import compiler_cache
from cyclescope.linux import packages

TUTORIALS = ROOT / "docs" / "tutorials"
# Pages that go on in each other's folder, in their order.
FOLLOWED = (
    ("my-stm32-program-is-slow",),
    ("first-run",),
    ("your-own-board", "slow-flash-write", "how-to-trust-a-number", "fit-your-own-board"),
    ("is-qspi-fast-enough",),
    ("choose-the-flash-clock",),
    ("run-from-flash",),
    ("board-from-svd",),
    ("performance-in-ci",),
)


def environment() -> dict[str, str]:
    """The reader's, with the package on the path; the compiler's cache is the tests'."""
    compiled = str(compiler_cache.folder())
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    caches = {"ZIG_GLOBAL_CACHE_DIR": compiled, "ZIG_LOCAL_CACHE_DIR": compiled}
    plugin = {} if plugin_is_installed() else {"PYTEST_PLUGINS": "cyclescope.testing.plugin"}
    # Variables that make pytest and others print for a CI's log, or for another width.
    others = {"CI", "BUILD_NUMBER", "COLUMNS"}
    terminal = {name: value for name, value in os.environ.items() if name not in others}
    return terminal | caches | plugin | {"PATH": path, "LC_ALL": "C.UTF-8"}


def run(call: Call, folder: Path) -> str:
    """A command's output on both streams, as on a terminal."""
    done = subprocess.run(
        ["bash", "-c", call.command],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return done.stdout.decode()


def follow(page: Path, folder: Path) -> None:
    """Do what a page says, and compare what each command prints."""
    scratch = Scratch(folder)
    calls = 0
    for step in steps(page):
        if isinstance(step, File):
            scratch.write(step)
            continue
        calls += 1
        printed = run(step, folder)
        where = f"{page.name}:{step.line}: $ {step.command}"
        assert matches(step.output, printed), f"{where}\nprints:\n{printed}"
    assert calls


def test_the_readme_prints_what_it_shows(tmp_path: Path) -> None:
    (tmp_path / "firmware").symlink_to(ROOT / "firmware")
    follow(ROOT / "README.md", tmp_path)


@pytest.mark.parametrize(
    "names", mostly_long(FOLLOWED, {("first-run",)}), ids=lambda names: names[0]
)
def test_tutorials_print_what_they_show(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        follow(TUTORIALS / f"{name}.md", tmp_path)


# The kernel whose times the page has.
LINUX = "6.1.176"


def has_kernel_of_the_page() -> bool:
    """Whether the packages are there, in the version of the page."""
    found = packages.folder() / "packages.json"
    return found.is_file() and LINUX in found.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.skipif(not has_kernel_of_the_page(), reason=f"needs Debian's kernel {LINUX}")
def test_the_tutorial_of_linux_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(resources.cache()))
    follow(TUTORIALS / "linux-boot.md", tmp_path)


@pytest.mark.parametrize("page", sorted(TUTORIALS.glob("*.md")), ids=lambda page: page.stem)
def test_files_are_named_in_the_prose_above_them(page: Path) -> None:
    for file, prose in titled(page):
        assert f"`{file}`" in prose, f"{page.name}: a forge does not show the title {file}"


def test_another_output_is_no_match() -> None:
    assert matches("a ... c\n...\ne", "a b c\nd\nd\ne \n")
    assert matches("...\nb", "b\n")
    assert not matches("a ... c", "a c")
    assert not matches("a", "a\nb")
    assert not matches("", "a")
    assert not matches("1.5 us", "1x5 us")
