"""Pages whose commands are typed in, in a folder that has docs/examples."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pokes
import pytest
from conftest import ROOT
from test_tutorials import follow
from tiers import mostly_long
from timeline_tables import printed, tables
from tutorial_pages import File, Scratch, shown, steps, titled

EXAMPLES = ROOT / "docs" / "examples"
PAGES = [
    *(ROOT / "docs" / "how-to" / f"{name}.md" for name in ("device-in-python", "profile")),
    *(ROOT / "docs" / "how-to" / f"{name}.md" for name in ("waits", "storage", "timeline")),
    *(
        ROOT / "docs" / "how-to" / f"{name}.md"
        for name in ("debug", "conditions", "advise", "pins")
    ),
    ROOT / "docs" / "fat-write.md",
    ROOT / "docs" / "quad-spi-throughput.md",
]


# the commands of the page on timelines are run below, too
@pytest.mark.parametrize(
    "page",
    mostly_long(PAGES, short={"conditions"}, key=lambda page: page.stem),
    ids=lambda page: page.stem,
)
def test_pages_print_what_they_show(page: Path, tmp_path: Path) -> None:
    for example in EXAMPLES.iterdir():
        if example.is_file():
            shutil.copy(example, tmp_path)
    follow(page, tmp_path)
    # a file that the page shows in full is the example
    for name, _ in titled(page):
        if (EXAMPLES / name).exists():
            assert (tmp_path / name).read_text() == (EXAMPLES / name).read_text(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_are_named_in_the_prose_above_them(page: Path) -> None:
    for file, prose in titled(page):
        assert f"`{file}`" in prose, f"{page.name}: a forge does not show the title {file}"


def test_the_tables_of_a_timeline_are_what_its_file_has(tmp_path: Path) -> None:
    # where there is no trace_processor, too
    page = ROOT / "docs" / "how-to" / "timeline.md"
    follow(page, tmp_path)
    databases = {name: tables(tmp_path / name) for name in ("run.pftrace", "bus.pftrace")}
    asked = 0
    for call in shown(page, "trace_processor"):
        words = call.command.split()
        assert words[:2] == ["trace_processor", "-q"]
        query = (tmp_path / words[2]).read_text()
        assert printed(databases[words[3]], query) == f"{call.output}\n", call
        asked += 1
    assert asked == 4


COUNTER = """\
import cyclescope, counter
board = cyclescope.Board("counter.dts").load("counter.elf")
stack = {entry.cause: entry.cycles for entry in board.run(limit="3us").cores[0].stack}
device = board.device("counter0")
print(device.started, device.status, stack["load: counter0"], stack["store: counter0"])
"""


def test_the_counter_of_the_page_counts(tmp_path: Path) -> None:
    page, scratch = PAGES[0], Scratch(tmp_path)
    for step in steps(page):
        if isinstance(step, File) and step.name.startswith("counter"):
            scratch.write(step)
    base = 0x2000_0000
    accesses = [(base, 1), (base + 8, 50), (base + 4, 0)]
    elf = pokes.program(pokes.HOMES["minimal-rv32"], accesses)
    (tmp_path / "counter.elf").write_bytes(elf)
    (tmp_path / "check.py").write_text(COUNTER)
    done = subprocess.run(
        [sys.executable, "check.py"], cwd=tmp_path, capture_output=True, text=True
    )
    # the store to the control register comes after 5 cycles, and counting begins 3 later; three
    # loads of 2 cycles, three stores of 1
    assert done.stdout == "8 1 6 3\n", done.stderr
