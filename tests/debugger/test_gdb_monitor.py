"""`monitor device`, `monitor snapshot` and `monitor trace`, and reads of registers by a client."""

from __future__ import annotations

import json
import os
import random
import re
import socket
from pathlib import Path

import pytest
import rsp
import timelines
from conftest import BOARD, Command
from debugged import TARGETS, Target
from test_gdb import what_counts
from tiers import mostly_long

LIMIT = "3s"
RV32 = TARGETS["rv32"]
M4 = TARGETS["m4"]
SNAPSHOT = b"\x89CYCSNP\n"


def arguments(target: Target, *more: str) -> tuple[str, ...]:
    return (str(target.elf), "--board", target.board, "--limit", LIMIT, "-q", *more)


def ended(client: rsp.Client | socket.socket) -> None:
    assert isinstance(client, rsp.Client)
    assert client.ask("D") == "OK"


def client_of(client: rsp.Client | socket.socket) -> rsp.Client:
    assert isinstance(client, rsp.Client)
    return client


def some_way(client: rsp.Client, steps: int) -> None:
    """Halts some instructions later."""
    for _ in range(steps):
        assert client.ask("vCont;s:1;c").startswith("T05")


@pytest.mark.parametrize("name", mostly_long(["rv32", "m4", "a7-m4"], short={"rv32"}))
def test_reads_and_looks_leave_result_and_waveforms_as_they_are(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    recorded = ("--waves", "w.vcd", "--trace", "t.pftrace", "--json", "r.json", "--exit-status=ran")
    devices = target.load().describe()["devices"]
    devices = [device for device in devices if device["base"] is not None]
    chosen = random.Random(name)
    files = []
    for looks in (False, True):
        folder = tmp_path / str(looks)
        folder.mkdir()
        with rsp.served(folder, *arguments(target, *recorded)) as (run, line):
            client = client_of(line)
            function = target.load().functions(target.load().describe()["cores"][0]["name"])
            place = next(addr for addr, _, found in function if found == target.function)
            read = 0
            is_over = False
            for _ in range(4):
                assert client.ask(f"Z0,{place:x},4") == "OK"
                is_over = not client.ask("vCont;c").startswith("T05")
                if is_over:
                    break
                assert client.ask(f"z0,{place:x},4") == "OK"
                some_way(client, 5)
                for _ in range(10 if looks else 0):
                    device = chosen.choice(devices)
                    first = device["base"] + 4 * chosen.randrange(16)
                    answer = client.ask(f"m{first:x},{chosen.choice((4, 4, 2, 8)):x}")
                    read += not answer.startswith("E")
                    assert client.monitor(f"device {device['name']} all").startswith(device["name"])
            if not is_over:
                ended(client)
            status, _, errors = rsp.wait(run)
        assert (status, errors) == (0, "")
        assert not looks or read > 20
        files.append([(folder / file).read_bytes() for file in ("w.vcd", "t.pftrace", "r.json")])
    (waves, trace, result), (looked_waves, looked_trace, looked_result) = files
    assert looked_waves == waves
    assert looked_trace == trace
    assert what_counts(json.loads(looked_result)) == what_counts(json.loads(result))


def test_a_device_is_described(tmp_path: Path) -> None:
    with rsp.served(tmp_path, *arguments(M4)) as (_, line):
        client = client_of(line)
        text = client.monitor("device usart2")
        assert text.startswith("usart2: st,stm32-usart, 0x40004400-0x400047ff\n"), text
        assert re.search(r"^  USART_BRR at 0x40004408 +0x00000000$", text, re.MULTILINE), text
        assert "  registers.USART_BRR " in text
        assert "did you mean 'usart2'" in client.monitor("device usart22")
        assert "monitor devices lists them" in client.monitor("device xyz")
        devices = client.monitor("devices").splitlines()
        assert any(device.startswith("usart2 ") for device in devices)
        for device in devices:
            short = client.monitor(f"device {device.split()[0]}")
            assert len(short.splitlines()) < 90, short
            everything = client.monitor(f"device {device.split()[0]} all")
            assert len(everything) >= len(short) - 100
            assert " more: monitor device" not in everything


def test_a_chip_is_described_by_its_own_label(tmp_path: Path) -> None:
    with rsp.served(tmp_path, str(RV32.elf), "--board", "kc705-axi-quad-spi", "-q") as (_, line):
        client = client_of(line)
        spi, chip = client.monitor("device spi0"), client.monitor("device flash0")
        assert "flash0, which monitor device flash0 shows" in spi
        assert chip.startswith("flash0, on spi0\n")
        assert "  registers.values.SR " in chip
        assert "flash0           on spi0\n" in client.monitor("devices")


def test_a_run_continues_from_a_snapshot_of_a_session(tmp_path: Path, cyclescope: Command) -> None:
    plain = M4.load().run(limit=LIMIT).to_dict()
    with rsp.served(tmp_path, *arguments(M4)) as (_, line):
        client = client_of(line)
        some_way(client, 500)
        reply = client.monitor("snapshot here.snap")
        assert reply.startswith("here.snap: the board at ")
        some_way(client, 100)
        # it replaces an existing file
        inode = (tmp_path / "here.snap").stat().st_ino
        (tmp_path / "here.snap").chmod(0o640)
        assert client.monitor("snapshot here.snap").startswith("here.snap: the board at ")
        assert (tmp_path / "here.snap").stat().st_ino != inode
        assert (tmp_path / "here.snap").stat().st_mode & 0o777 == 0o640
    run = ("run", M4.elf, "--board", M4.board, "--limit", LIMIT, "--json", tmp_path / "r.json")
    assert cyclescope(*run, "--from", tmp_path / "here.snap", "--exit-status=ran").status == 0
    assert what_counts(json.loads((tmp_path / "r.json").read_text())) == what_counts(plain)
    assert {path.name for path in tmp_path.iterdir()} == {"here.snap", "r.json"}


def test_only_own_files_are_replaced_and_nothing_is_written_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    kept = {"text": b"mine\n", "empty": b"", "trace": b"\n\x04P\x01h\x01"}
    for name, contents in kept.items():
        (folder / name).write_bytes(contents)
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (tmp_path / "outside").write_bytes(SNAPSHOT)
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "up").symlink_to(tmp_path)
    with rsp.served(folder, *arguments(RV32)) as (_, line):
        client = client_of(line)
        for name in kept:
            assert "is no snapshot: name another file" in client.monitor(f"snapshot {name}")
        for name in ("pipe", "folder", "link"):
            assert "is no regular file" in client.monitor(f"snapshot {name}"), name
        for name in ("../outside", "up/outside", "/dev/null", f"{tmp_path}/new", "folder/../../x"):
            assert ", where this runs, or below it" in client.monitor(f"snapshot {name}"), name
        for name in ("none/there", "..", "/", "x\0y"):
            assert client.monitor(f"snapshot {name}").count("\n") == 1, name
        assert "a file's name is missing" in client.monitor("snapshot")
        assert client.monitor("snapshot folder/some name").startswith("folder/some name: the board")
    for name, contents in kept.items():
        assert (folder / name).read_bytes() == contents
    assert (tmp_path / "outside").read_bytes() == SNAPSHOT
    assert (folder / "folder" / "some name").read_bytes()[:8] == SNAPSHOT
    assert len(list(folder.iterdir())) == len(kept) + 4
    assert {path.name for path in tmp_path.iterdir()} == {"own", "outside"}


def test_a_timeline_of_what_is_between_two_halts(tmp_path: Path) -> None:
    plain = M4.load().run(limit=LIMIT).to_dict()
    more = ("--json", "r.json", "--exit-status=ran")
    with rsp.served(tmp_path, *arguments(M4, *more)) as (run, line):
        client = client_of(line)
        functions = M4.load().functions("cpu0")
        place = next(addr for addr, _, found in functions if found == M4.function)
        assert "nothing is recorded" in client.monitor("trace off t.pftrace")
        assert client.ask(f"Z0,{place:x},4") == "OK"
        client.ask("vCont;c")
        assert client.monitor("trace on").startswith("records from ")
        assert "recorded already" in client.monitor("trace on")
        begin = picoseconds(client.monitor("time"))
        for _ in range(3):
            client.ask("vCont;c")
        end = picoseconds(client.monitor("time"))
        (tmp_path / "taken").write_text("mine")
        assert "is no timeline" in client.monitor("trace off taken")
        assert "t.pftrace: a timeline up to" in client.monitor("trace off t.pftrace")
        assert "nothing is recorded" in client.monitor("trace off t.pftrace")
        assert "did you mean 'serial'" in client.monitor("trace on serail")
        assert client.monitor("trace on interrupt,serial").startswith("records from ")
        client.ask("vCont;c")
        assert "a timeline up to" in client.monitor("trace off t2.pftrace")
        ended(client)
        status, _, errors = rsp.wait(run)
    assert (status, errors) == (0, "")
    slices = timelines.read(tmp_path / "t.pftrace").slices
    assert {"xQueueGenericSend", "EXTI0_IRQHandler"} & {one.name for one in slices}
    assert begin // 1000 <= min(one.begin_ns for one in slices)
    assert max(one.begin_ns for one in slices) <= end // 1000
    assert what_counts(json.loads((tmp_path / "r.json").read_text())) == what_counts(plain)


def picoseconds(reply: str) -> int:
    return int(reply.partition("(")[2].split()[0])


def test_a_timeline_of_the_whole_run_is_left_alone(tmp_path: Path) -> None:
    with rsp.served(tmp_path, *arguments(RV32, "--trace", "t.pftrace")) as (run, line):
        client = client_of(line)
        assert "recorded already, by --trace" in client.monitor("trace on")
        assert "--trace records" in client.monitor("trace off x.pftrace")
        ended(client)
        rsp.wait(run)
    assert (tmp_path / "t.pftrace").exists()
    assert not (tmp_path / "x.pftrace").exists()


def test_going_back_before_the_begin_of_a_timeline_ends_it(tmp_path: Path) -> None:
    with rsp.served(tmp_path, str(RV32.elf), "--board", BOARD, "-q") as (_, line):
        client = client_of(line)
        some_way(client, 20)
        assert client.monitor("trace on").startswith("records")
        some_way(client, 5)
        for _ in range(10):
            client.ask("bs")
        assert "going back to before it ends it" in client.monitor("trace off t.pftrace")
        assert client.monitor("trace on").startswith("records")
