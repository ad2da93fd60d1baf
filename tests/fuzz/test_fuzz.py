"""Loaders refuse any bytes with one of their own errors, or accept them: no panic."""

from __future__ import annotations

import contextlib
import struct
from functools import cache
from pathlib import Path

import elf32
from conftest import BOARD
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import sized

import cyclescope as package
from cyclescope import resources
from cyclescope.board.description import devicetree
from cyclescope.errors import EngineError

EXAMPLES = settings(
    max_examples=sized(30, 150), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
LIMIT_PS = 10**6
# One whose devices are registers and memories, and two with a core of another kind and with wires.
BOARDS = (BOARD, "ben-nanonote", "ben-nanonote-ssi")


def load_and_run(data: bytes) -> None:
    """A board must refuse the bytes or run them up to a limit, and account for every picosecond."""
    try:
        result = package.Board(BOARD).load(data).run(limit=LIMIT_PS)
    except EngineError:
        return
    for core in result.cores:
        assert sum(entry.ps for entry in core.stack) == result.elapsed_ps


@EXAMPLES
@given(st.binary(max_size=300))
def test_random_bytes_as_an_elf(data: bytes) -> None:
    load_and_run(data)


@EXAMPLES
@given(
    st.lists(st.tuples(st.integers(0, len(elf32.GOOD) - 1), st.integers(0, 255)), max_size=6),
    st.integers(0, len(elf32.GOOD)),
)
def test_a_spoiled_elf(changes: list[tuple[int, int]], length: int) -> None:
    data = bytearray(elf32.GOOD)
    for place, value in changes:
        data[place] = value
    load_and_run(bytes(data[: length or None]))


@EXAMPLES
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=24))
def test_random_instructions(words: list[int]) -> None:
    code = struct.pack(f"<{len(words)}I", *words)
    load_and_run(elf32.executable(elf32.Segment(elf32.DDR, code)))


SHIPPED = (resources.boards() / f"{BOARD}.dts").read_bytes()


def build(path: Path, source: bytes) -> None:
    path.write_bytes(source)
    with contextlib.suppress(EngineError):
        package.Board(path).describe()


@EXAMPLES
@given(
    st.integers(0, len(SHIPPED)),
    st.integers(0, 30),
    st.one_of(
        st.binary(max_size=8),
        st.sampled_from([b"<", b">", b";", b"{", b"};", b'"', b"<0>", b"<0xffffffff>", b"&", b"@"]),
    ),
)
def test_a_spoiled_board(tmp_path: Path, place: int, removed: int, inserted: bytes) -> None:
    build(tmp_path / "board.dts", SHIPPED[:place] + inserted + SHIPPED[place + removed :])


@cache
def nodes_of(shipped: Path) -> list[devicetree.Node]:
    """The nodes of a board that others can refer to, and that have properties."""
    return [node for node in devicetree.parse(shipped).walk() if node.labels and node.props]


@EXAMPLES
@given(st.data())
def test_a_board_with_odd_values(tmp_path: Path, data: st.DataObject) -> None:
    shipped = (resources.boards() / f"{data.draw(st.sampled_from(BOARDS))}.dts").resolve()
    nodes = nodes_of(shipped)
    node = data.draw(st.sampled_from(nodes))
    name = data.draw(st.sampled_from(sorted(node.props)))
    labels = sorted(f"&{node.labels[0]}" for node in nodes)
    numbers = st.one_of(st.integers(0, 40), st.integers(0, 2**32 - 1)).map(hex)
    cells = data.draw(st.lists(st.one_of(numbers, st.sampled_from(labels)), max_size=7))
    value = f"<{' '.join(cells)}>" if cells else '""'
    source = f'/dts-v1/;\n/include/ "{shipped}"\n&{node.labels[0]} {{ {name} = {value}; }};\n'
    build(tmp_path / "board.dts", source.encode())
