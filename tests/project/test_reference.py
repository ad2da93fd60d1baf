"""The reference: its pages are fresh, and it has all that shipped boards' nodes say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import described
import pytest
from conftest import ROOT, Command
from served_scripts import Script, served

from cyclescope.board import Board, board_tree, shipped_boards
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.devicetree_bindings import Binding, common_properties
from cyclescope.statuses import Status

COMMON = common_properties()
# nodes that others refer to: what is in them beside that may be anything
NOT_LOOKED_AT = "Other nodes"


def strings(node: Node, name: str) -> list[str]:
    """The strings of a property; none if the node does not have it."""
    prop = node.props.get(name)
    return prop.value.decode().rstrip("\0").split("\0") if prop else []


def binding_of(node: Node) -> Binding | None:
    """The reference's entry for a node."""
    device_type = "".join(strings(node, "device_type"))
    return described.binding_of(node.name, strings(node, "compatible"), device_type)


@pytest.mark.parametrize("board", shipped_boards())
def test_the_reference_has_each_property_of_each_shipped_board(board: str) -> None:
    looked_at = 0
    for node in board_tree(board).walk():
        entry = binding_of(node)
        assert entry or not strings(node, "compatible") or node.path == "/", node.path
        if entry is None or entry.group == NOT_LOOKED_AT:
            continue
        known = {prop.name for prop in entry.properties} | COMMON.keys()
        assert node.props.keys() <= known, node.path
        looked_at += 1
    assert looked_at > 3


@pytest.mark.parametrize("board", shipped_boards())
def test_timing_properties_are_those_that_the_engine_asks_sources_for(board: str) -> None:
    nodes = {node.path: node for node in board_tree(board).walk()}
    for parameter in Board(board).describe()["parameters"]:
        entry = binding_of(nodes[parameter["node"]])
        assert entry is not None
        props = [prop for prop in entry.properties if prop.name == parameter["property"]]
        assert [(prop.timing, prop.unit) for prop in props] == [(True, parameter["unit"])]


def test_each_entry_says_what_it_is() -> None:
    for entry in described.BINDINGS.values():
        assert entry.about
        assert entry.title
        for prop in entry.properties:
            assert prop.meanings, f"{entry.compatible}: {prop.name}"
    assert all(COMMON.values())


@pytest.fixture(scope="module")
def reference() -> Iterator[Script]:
    with served("reference", once="pages") as script:
        yield script


def test_pages_are_what_the_package_says(reference: Script) -> None:
    assert reference("--check") == (0, [])


def test_stale_missing_and_left_over_pages_are_found(reference: Script, tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    assert reference("--folder", folder) == (0, [])
    assert reference("--check", "--folder", folder) == (0, [])
    changed, removed, left = (
        folder / name for name in ("results.md", "bindings/cores.md", "old.md")
    )
    changed.write_text(changed.read_text() + "more\n")
    removed.unlink()
    left.write_text(changed.read_text())
    (folder / "written.md").write_text("# By people\n")
    status, said = reference("--check", "--folder", folder)
    assert status == 1
    assert {line.partition(" is stale")[0] for line in said} == set(
        map(str, (changed, removed, left))
    )
    assert reference("--folder", folder) == (0, [])
    assert not left.exists()
    assert reference("--check", "--folder", folder) == (0, [])


def test_pages_have_short_lines_but_for_links() -> None:
    for path in sorted((ROOT / "docs" / "reference").rglob("*.md")):
        long = [line for line in path.read_text().splitlines() if len(line) > 100]
        assert all("](" in line for line in long), path


def test_the_help_names_the_page_with_the_exit_statuses(cyclescope: Command) -> None:
    for command in ((), ("run",), ("debug",)):
        last = cyclescope(*command, "--help").stdout.splitlines()[-1]
        (page,) = re.findall(r"docs/\S+\.md", last)
        text = (ROOT / page).read_text(encoding="utf-8")
        assert all(f"| {status.value} |" in text for status in Status)


def test_summaries_of_commands_stand_whole_in_80_columns(cyclescope: Command) -> None:
    lines = cyclescope("--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    # the first is the usage, which has the dots of repeated arguments
    assert not any(line.endswith("...") for line in lines[1:])


def test_bindings_are_listed(cyclescope: Command) -> None:
    done = cyclescope("devices")
    assert done.status == 0
    for compatible in described.BINDINGS:
        assert compatible in done.stdout


def test_a_binding_is_shown_with_its_properties(cyclescope: Command) -> None:
    done = cyclescope("devices", "xlnx,xps-uartlite-1.00.a")
    assert done.status == 0
    for words in ("PG142", "current-speed", "Bd", "xlnx,odd-parity", "0 or 1", "0 by default"):
        assert words in done.stdout
    assert "timing" in done.stdout


def test_a_misspelt_binding_is_named_with_its_like(cyclescope: Command) -> None:
    done = cyclescope("devices", "xlnx,xps-uart-1.00.a")
    assert done.status == Status.USAGE
    assert "xlnx,xps-uartlite-1.00.a" in done.error
