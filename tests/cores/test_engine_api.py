"""The engine's own module, as any program may call it: what does not fit is `EngineError`."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import pokes
import pytest
import tiers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cyclescope as package
from cyclescope._engine import Machine, disassemble
from cyclescope.board import board_tree
from cyclescope.errors import BoardError, EngineError

BOARD = "minimal-rv32"
PIPED = "stm32mp157c-dk2-tty"
TREE = board_tree(BOARD).to_dict()
LEAF: dict[str, Any] = {
    "path": "/",
    "name": "/",
    "labels": [],
    "file": "board.dts",
    "line": 1,
    "phandle": None,
    "props": [],
    "children": [],
}
EXAMPLES = settings(
    max_examples=tiers.sized(20, 60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NUMBERS = st.one_of(
    st.integers(-3, 40),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**16, 2**31, 2**32 - 1, 2**32, 2**60, 2**63, 2**64 - 1, 2**64, 10**30]),
)
TEXTS = st.one_of(
    st.sampled_from(["", "cpu0", "cpu0:main", "uart0", "tty", "\0", "\udcff"]), st.text(max_size=9)
)
ANYTHING = st.one_of(
    NUMBERS,
    TEXTS,
    st.binary(max_size=9),
    st.none(),
    st.booleans(),
    st.floats(),
    st.lists(TEXTS, max_size=3),
    st.lists(NUMBERS, max_size=3),
    st.dictionaries(TEXTS, NUMBERS, max_size=2),
    st.just(range(2**60)),
    st.just(object),
)


def tree_with(**changes: Any) -> dict[str, Any]:
    """A small tree with other items."""
    return {**LEAF, **changes}


def machine(board: str = BOARD) -> Machine:
    """A machine with a program that pokes nothing and goes on for ever."""
    made = Machine(TREE if board == BOARD else board_tree(board).to_dict())
    made.load(pokes.program(pokes.HOMES[board], []), "endless")
    return made


def refused(call: Callable[..., Any], *arguments: Any) -> str | None:
    """The message of a refused call, with a line for each fault of a board; None if accepted."""
    try:
        call(*arguments)
    except EngineError as error:
        said = str(error)
        lines = error.faults if isinstance(error, BoardError) else [said]
        assert said.split("\n") == lines
        assert "fault of Cyclescope" not in said
        return said
    return None


def cyclic() -> dict[str, Any]:
    """A node that is its own child."""
    tree = tree_with()
    tree["children"] = [tree]
    return tree


def deep(levels: int, width: int = 1) -> dict[str, Any]:
    """Nodes in nodes; of a width of 2 each is the child of another twice."""
    tree = tree_with()
    for _ in range(levels):
        tree = tree_with(children=[tree] * width)
    return tree


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        pytest.param(cyclic(), "nest deeper than 64", id="cyclic"),
        pytest.param(deep(200_000), "nest deeper than 64", id="deep"),
        pytest.param(deep(50, width=2), "more than 100000", id="shared"),
        (5, "must be a dict, not int"),
        ({}, "lacks 'path'"),
        (tree_with(children=5), "'children'"),
        (tree_with(children=[None]), "must be a dict, not NoneType"),
        (tree_with(props=[1]), "property must be a dict, not int"),
        (tree_with(line=-1), "'line'"),
        (tree_with(line="1"), "'line'"),
        (tree_with(path="\ud800"), "'path'"),
        (tree_with(labels=range(2**60)), "'labels'"),
        (tree_with(phandle=2**32), "'phandle'"),
        (tree_with(props=[{"name": "a", "value": [1], "file": "x", "line": 1}]), "'value'"),
        (LEAF, "no enabled cpu"),
    ],
)
def test_an_invalid_tree_of_nodes_is_refused(tree: Any, said: str) -> None:
    assert said in (refused(Machine, tree) or "")


@EXAMPLES
@given(st.data())
def test_a_tree_with_anything_in_it(data: st.DataObject) -> None:
    tree = copy.deepcopy(TREE)
    node = tree
    for _ in range(data.draw(st.integers(0, 3))):
        node = data.draw(st.sampled_from(node["children"])) if node["children"] else node
    if node["props"] and data.draw(st.booleans()):
        node = data.draw(st.sampled_from(node["props"]))
    node[data.draw(st.sampled_from(sorted(node)))] = data.draw(ANYTHING)
    refused(Machine, tree)


METHODS = {
    "load": 2,
    "watch": 1,
    "watch_calls": 1,
    "load_symbols": 3,
    "feed": 2,
    "drain": 1,
    "piped": 1,
    "advance": 3,
    "compile_after": 1,
    "skip_polling": 1,
    "trace": 1,
    "read_memory": 2,
}


@EXAMPLES
@given(st.data())
@pytest.mark.parametrize("name", METHODS)
def test_a_method_called_with_anything(name: str, data: st.DataObject) -> None:
    arguments = [data.draw(ANYTHING) for _ in range(METHODS[name])]
    if name == "trace" and isinstance(arguments[0], int) and arguments[0] in range(10**4, 2**22):
        arguments = [10**4]  # it would be done
    refused(getattr(machine(), name), *arguments)


@EXAMPLES
@given(NUMBERS, NUMBERS)
def test_memory_is_read_where_there_is_some(addr: int, length: int) -> None:
    made = machine()
    there = addr >= 0x8000_0000 and length >= 0 and addr + length <= 0x8010_0000
    if there and addr < 0x8010_0000:
        assert len(made.read_memory(addr, length)) == length
    else:
        refused(made.read_memory, addr, length)
    assert refused(made.read_memory, 0x8000_0000, 2**60)
    assert refused(made.read_memory, 0x8000_0000, 2**32 - 1)


@EXAMPLES
@given(NUMBERS, NUMBERS)
def test_any_instruction_has_a_text_or_is_refused(encoding: int, pc: int) -> None:
    fits = 0 <= encoding < 2**32 and 0 <= pc < 2**32
    assert (refused(disassemble, encoding, pc) is None) == fits


def test_a_trace_of_more_than_a_host_holds_is_refused() -> None:
    assert "at the most" in (refused(machine().trace, 2**60) or "")


def test_a_machine_without_a_program_says_what_is_wrong() -> None:
    made = Machine(TREE)
    report = made.run(10**6, None)
    assert report["outcome"] == "fault"
    assert "instruction access fault" in report["message"]


def test_a_machine_runs_on_where_it_stopped() -> None:
    made = machine()
    ends = [made.run(limit_ps, None)["elapsed_ps"] for limit_ps in (10**6, 10**6, 3 * 10**6)]
    assert ends == [10**6, 10**6, 3 * 10**6]
    assert refused(made.run, -1, None)
    assert refused(made.run, 2**64, None)


@EXAMPLES
@given(st.sampled_from(["open", "taken", "sent", "", "no"]), NUMBERS, NUMBERS)
def test_a_pipe_is_run_to_any_goal(what: str, bytes_: int, until_ps: int) -> None:
    made = machine(PIPED)
    port = made.pipe()
    assert port is not None
    made.feed(port, b"hello")
    refused(made.advance, port, min(until_ps, 10**7), (what, bytes_))
    assert made.now() < 10**8


def test_a_machine_that_runs_is_busy() -> None:
    made = machine()
    said: list[str | None] = []
    started = threading.Event()

    def meanwhile() -> None:
        started.wait()
        said.append(refused(made.now))
        said.append(refused(made.run, 10**6, None))

    def console(_: bytes) -> None:
        started.set()
        other.join(10)
        said.append(refused(made.describe))

    other = threading.Thread(target=meanwhile)
    other.start()
    made.load(pokes.program(pokes.HOMES[BOARD], [(0x1000_0004, ord("A"))]), "prints")
    made.run(10**9, console)
    started.set()
    other.join()
    assert len(said) == 3
    assert all(text and "busy" in text for text in said)
    assert made.now() == 10**9


def test_a_bus_whose_frame_can_not_be_kept_is_refused() -> None:
    elf = pokes.program(pokes.HOMES["ben-nanonote"], [])
    board = package.Board("ben-nanonote").load(elf)
    with pytest.raises(EngineError, match=r"no recordable SPI bus 'spi9'; it has atben, ssi"):
        board.run(limit=10**6, frame_on="spi9")
    board = package.Board(BOARD).load(pokes.program(pokes.HOMES[BOARD], []))
    with pytest.raises(EngineError, match="it has none"):
        board.run(limit=10**6, frame_on="spi0")


@pytest.mark.parametrize("method", ["watch", "watch_calls"])
def test_a_functions_name_that_is_no_line_is_refused_in_one(method: str) -> None:
    said = refused(getattr(machine(), method), ["main\n"])
    assert said is not None
    assert said.startswith(r"the firmware has no function 'main\n' to ")
