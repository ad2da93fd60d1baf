"""Sweeps on a Dask cluster of separate processes: the same rows, whatever becomes of a worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD, Command
from tiers import sized

import cyclescope as package
from cyclescope import devices
from cyclescope.devices import registry
from cyclescope.errors import UsageError
from cyclescope.sweeps import dask_runs, planning
from cyclescope.sweeps.outcomes import Outcome

distributed = pytest.importorskip("distributed")

Program = Callable[[str], Path]
WORDS = "ddr.cyclescope,first-word-cycles"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Processes with a thread each, in another folder than the tests: two, or a single one."""
    with (
        distributed.LocalCluster(
            n_workers=sized(1, 2), threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_cluster_gives_what_this_machine_gives(
    client: Any, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board, the image and the program are files that the workers do not see."""
    monkeypatch.chdir(tmp_path)
    source = package.board.find_board(BOARD).resolve()
    Path("own.dts").write_text(
        f'/dts-v1/;\n/include/ "{source}"\n&ddr {{ {WORDS.partition(".")[2]} = <77>; }};\n'
    )
    Path("own.elf").write_bytes(program("flash_readback").read_bytes())
    Path("flash.bin").write_bytes(bytes(range(256)) * 2**16)
    Path("other.elf").write_bytes(program("results").read_bytes())
    # not all programs are tried on the board before
    monkeypatch.setattr(planning, "_MOST_TRIED", 1)
    arguments: dict[str, Any] = {
        "vary": {"elf": "own.elf,other.elf", "cpu0.d-cache-size": "0,16K"},
        "overrides": {"flash0.cyclescope,image": "flash.bin"},
        "again": True,
    }
    far = package.sweep("own.elf", "own.dts", dask=client, **arguments)
    near = package.sweep("own.elf", "own.dts", **arguments)
    assert far == near
    assert len(far.rows) == 4
    assert far.failures == ()
    assert Path("flash.bin").read_bytes() == bytes(range(256)) * 2**16


@pytest.mark.long
def test_runs_of_a_worker_that_is_killed_are_made_again(client: Any, program: Program) -> None:
    vary = {WORDS: "2:121:1"}
    killed: list[int] = []
    rows: list[int] = []

    def ended(row: int, outcome: Outcome) -> None:
        rows.append(row)
        if len(rows) == 20 and not killed:
            pid = next(iter(client.run(os.getpid).values()))
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    elf = program("results")
    far = package.sweep(elf, BOARD, vary, dask=client, again=True, ended=ended)
    assert killed
    assert sorted(rows) == list(range(120))
    assert far == package.sweep(elf, BOARD, vary, again=True)


@pytest.mark.long
def test_rows_that_fail_there_say_why(client: Any, program: Program) -> None:
    elfs = [str(program("results")), str(program("endless_loop"))]
    found = package.sweep(elfs[0], BOARD, {"elf": elfs}, dask=client, limit="100ms", again=True)
    assert [row.error is None for row in found.rows] == [True, False]
    assert "did not end" in str(found.rows[1].error)


@pytest.mark.long
def test_an_experiment_on_a_cluster(client: Any) -> None:
    arguments: dict[str, Any] = {
        "vary": {"app.memory": "sram,ddr"},
        "overrides": {
            "rhealstone.operation": "task-switch",
            "rhealstone.loops": "20",
            "rhealstone.cache": "on",
            "rhealstone.tick": "on",
            "rhealstone.pins": "off",
            "rhealstone.width": "quad-io",
            "rhealstone.continuous_read": "on",
            "rhealstone.spck_divider": "3",
        },
        "again": True,
    }
    far = package.sweep("rhealstone", dask=client, **arguments)
    assert far == package.sweep("rhealstone", **arguments)
    assert all(row.value("cycles") for row in far.rows)


DEVICE = """
import cyclescope

@cyclescope.device("test,sweeps-own")
class Own(cyclescope.devices.Device):
    def read(self, offset, size):
        return 7
"""


@pytest.mark.long
def test_devices_in_python_go_along(
    client: Any, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    source = tmp_path / "own.py"
    source.write_text(DEVICE)
    devices.load(source)
    shipped = package.board.find_board(BOARD).resolve()
    board = tmp_path / "own.dts"
    node = 'own: own@10000 { compatible = "test,sweeps-own"; reg = <0x60000000 0x1000>; };'
    board.write_text(f'/dts-v1/;\n/include/ "{shipped}"\n/ {{ soc {{ {node} }}; }};\n')
    vary = {WORDS: "20,40"}
    # with a second sweep, they come again
    for _ in range(2):
        found = package.sweep(program("results"), board, vary, dask=client, again=True)
        assert found.failures == ()
        assert found == package.sweep(program("results"), board, vary, again=True)
    assert set(client.run(lambda: len(registry._registered)).values()) == {0}


@pytest.mark.long
def test_runs_that_this_machine_has_do_not_go_there(
    client: Any, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elf = program("results")
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    package.sweep(elf, BOARD, {WORDS: "20,40"})
    far = package.sweep(elf, BOARD, {WORDS: "20,40,60"}, dask=client)
    assert [row.is_kept for row in far.rows] == [True, True, False]
    assert all(row.is_kept for row in package.sweep(elf, BOARD, {WORDS: "20,40,60"}).rows)


@pytest.mark.long
def test_the_command_starts_its_own_cluster(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ("--vary", f"{WORDS}=20,40", "--dask", "local", "--jobs", "2", "--again")
    done = cyclescope("sweep", program("results"), "--board", BOARD, *options, "--out", out)
    assert done.status == 0, done.stderr
    assert "on Dask, local" in done.stderr
    assert "2 runs" in done.stdout


def test_nobody_at_the_address(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_runs, "_CONNECT_S", 1)
    with pytest.raises(UsageError, match="no Dask scheduler answers"):
        package.sweep(program("results"), BOARD, {WORDS: "20,40"}, dask="tcp://127.0.0.1:9")
