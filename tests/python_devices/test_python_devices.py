"""Devices in Python on the command line: what they do, in exact times, and what goes wrong."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import elf32
import pytest
from conftest import Command
from device_bench import BASE, COMMAND, HEAD, HOME, Bench

from cyclescope.statuses import Status


@pytest.fixture
def bench(cyclescope: Command, tmp_path: Path) -> Bench:
    return Bench(cyclescope, tmp_path)


def stack(result: dict[str, Any]) -> dict[str, int]:
    return {entry["cause"]: entry["cycles"] for entry in result["cores"][0]["stack"]}


def test_an_access_takes_the_time_that_the_device_says(bench: Bench) -> None:
    bench.device("""\
def read(self, offset, size):
    return 7, self.clock.after_ps(self.now_ps, 5)
def write(self, offset, size, value):
    return self.now_ps + 30_000""")
    causes = stack(bench.result())
    # a store that is answered after 3 cycles of 10 ns, and a load after 5
    assert (causes["store: part0"], causes["load: part0"]) == (3, 5)


def test_an_access_without_a_time_takes_none(bench: Bench) -> None:
    bench.device("value = Register(0)")
    assert not {"store: part0", "load: part0"} & stack(bench.result()).keys()


def test_events_come_at_their_times_and_interrupts_with_them(bench: Bench) -> None:
    bench.device("""\
def reset(self):
    self.schedule(at_ps=123_457, token=1)
    self.schedule(at_ps=123_457, token=2)
    self.schedule(at_ps=99, token=3)
    self.schedule(after_ps=50, token=3)     # moved
    self.schedule(at_ps=60, token=4)
    self.cancel(4)
def event(self, token):
    self.print(token, "at", self.now_ps)
    if token == 1:
        self.irq(True)
        self.schedule(after_ps=1)""")
    result = bench.result()
    printed = "3 at 50\n1 at 123457\n2 at 123457\n0 at 123458\n"
    assert result["streams"] == {"part0": printed}


def test_the_console_is_printed_on(bench: Bench) -> None:
    bench.device("def write(self, offset, size, value): self.print(value, offset)")
    bench.node("")
    text = (bench.folder / "board.dts").read_text()
    console = '/ { chosen { stdout-path = "/part@20000000"; }; };\n'
    (bench.folder / "board.dts").write_text(text + console)
    bench.program([(BASE + 4, 17)])
    assert bench.run().stdout.startswith("17 4\n")


def test_a_device_ends_the_run(bench: Bench) -> None:
    bench.device("def write(self, offset, size, value): self.exit(value)")
    bench.program([(BASE, 42)])
    assert bench.run().status == 42


def test_a_note_is_printed_once(bench: Bench) -> None:
    bench.device(
        "value = Register(0)\n@value.on_write\ndef noted(self, value): self.note('is\\n written')"
    )
    bench.program([(BASE, 1), (BASE, 2)])
    notes = bench.result()["notes"]
    # the store is the fifth instruction, each of a cycle of 10 ns
    said = "part0: is written (first at 50.000 ns, by 0x80000010)"
    assert [note for note in notes if "part0" in note] == [said]


def test_a_bus_error_is_the_core_s_to_take(bench: Bench) -> None:
    bench.device("def read(self, offset, size): raise BusError")
    finished = bench.run()
    assert "4-byte load at 0x20000000: part0 answered with an error" in finished.error


def test_a_bus_error_elsewhere_is_a_fault(bench: Bench) -> None:
    bench.device(
        "def reset(self): self.schedule(at_ps=5)\n"
        "def event(self, token):\n    raise BusError('of what')"
    )
    assert "part0 (acme,part): BusError: of what, in event 0 at 5 ps" in bench.run().error


def test_events_without_end_end_the_run(bench: Bench) -> None:
    bench.device(
        "def reset(self): self.schedule(at_ps=5)\ndef event(self, token): self.schedule(after_ps=0)"
    )
    assert "part0: it has events without end at 5 ps" in bench.run().error


def test_registers_are_reached_by_their_bytes(bench: Bench) -> None:
    bench.device("""\
low = Register(0x0, reset=0x12345678, mask=0xffff)
fixed = Register(0x4, reset=7, access="ro")
flags = Register(0x8, reset=0xff, access="w1c")
once = Register(0xc, reset=5, access="rc")
secret = Register(0x10, access="wo")
def reset(self):
    self.write(1, 1, 0xab)
    self.write(4, 4, 9)
    self.write(8, 2, 0x0f)
    self.write(0x10, 4, 3)
    self.print(*(hex(self.read(at, size)[0]) for at, size in [(0, 4), (1, 1), (4, 4), (8, 4)]))
    self.print(self.read(0xc, 4)[0], self.read(0xc, 4)[0], self.read(0x10, 4)[0], self.secret)
    self.read(0x14, 4)""")
    result = bench.result()
    assert result["streams"] == {"part0": "0x1234ab78 0xab 0x7 0xf0\n5 0 0 3\n"}
    assert any("offset 0x14, where the device has no register" in note for note in result["notes"])


WRONG = {
    "read": {
        "'x'": "TypeError: the value read is 'x', and has to be an int",
        "None": "TypeError: the value read is None, and has to be an int",
        "-1": "ValueError: the value read is -1, and has to be 0 to 0xffffffff",
        "1 << 32": "ValueError: the value read is 4294967296, and has to be 0 to 0xffffffff",
        "(1, 2, 3)": "ValueError: ",
        "(1, self.now_ps - 1)": "ValueError: the access completes at",
        "1.5": "TypeError: the value read is 1.5, and has to be an int",
        "1 // 0": "ZeroDivisionError: integer division or modulo by zero",
        "[][1:][0]": "IndexError: list index out of range",
        "exit()": "SystemExit",
    },
    "write": {
        "'x'": "TypeError: the time at which the access completes is 'x', and has to be an int",
        "self.irq('high')": "TypeError: ",
        "self.schedule(at_ps=1)": "ValueError: schedule: 1 ps is in the past",
        "self.schedule()": "ValueError: schedule: give either after_ps or at_ps",
        "self.schedule(at_ps=1 << 70)": "OverflowError: ",
        "self.print(1, end='')": "TypeError: ",
    },
}


@pytest.mark.parametrize(
    ("method", "result", "message"),
    [(method, *case) for method, cases in WRONG.items() for case in cases.items()],
)
def test_an_error_in_a_device_ends_the_run_as_a_fault(
    bench: Bench, method: str, result: str, message: str
) -> None:
    arguments = "offset, size" if method == "read" else "offset, size, value"
    bench.device(f"def {method}(self, {arguments}):\n    return {result}")
    finished = bench.run("--json", "result.json")
    call = {"read": "a read of 4 bytes at offset 0x0", "write": "a write of 0x1, 4 bytes"}[method]
    line = len(HEAD.splitlines()) + 1
    assert finished.error.startswith(f"part.py:{line}") or finished.error.startswith(
        f"part.py:{line + 1}"
    )
    assert f": part0 (acme,part): {message}" in finished.error
    assert f", in {call}" in finished.error
    assert " of simulated time; CYCLESCOPE_TRACEBACK=1 " in finished.error
    # results up to then are kept
    kept = json.loads((bench.folder / "result.json").read_text())
    assert (kept["outcome"], kept["message"]) == ("fault", finished.error)
    assert finished.status == 125


def test_the_traceback_is_shown_on_demand(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.device("def read(self, offset, size):\n    return 1 // 0")
    monkeypatch.setenv("CYCLESCOPE_TRACEBACK", "1")
    command = [*COMMAND, "run", "program.elf", "--board", "board.dts"]
    done = subprocess.run(
        [*command, "--devices", "part.py"], cwd=bench.folder, capture_output=True, text=True
    )
    assert "Traceback (most recent call last)" in done.stderr
    assert "return 1 // 0" in done.stderr


@pytest.mark.parametrize("method", ["__init__", "reset"])
def test_a_device_that_can_t_be_made_is_a_fault_of_the_board(bench: Bench, method: str) -> None:
    bench.device(f"def {method}(self):\n    self.x = 1 // 0")
    finished = bench.run()
    assert finished.error.startswith("board.dts:")
    assert f"part@20000000: part.py:{len(HEAD.splitlines()) + 2}: " in finished.error
    assert "ZeroDivisionError" in finished.error


PROPERTIES = """\
wait = cyclescope.property("acme,wait-cycles", "how long it waits", unit="cycles", timing=True)
size = cyclescope.property("acme,size", "how large it is", default=2, least=1, most=4)
word = cyclescope.property("acme,word", "how it is", type=str, values=["slow", "fast"])
text = cyclescope.property("acme,text", "its name", type=str, default="none")
flag = cyclescope.property("acme,flag", "whether it is so", type=bool)
list = cyclescope.property("acme,list", "some numbers", type=list[int], default=[1, 2])
def reset(self):
    self.print(self.wait, self.size, self.word, self.text, self.flag, self.list, self.label)
    self.print(self.clock_hz)
"""


def test_properties_are_attributes(bench: Bench) -> None:
    bench.device(PROPERTIES)
    bench.node("\t\tacme,wait-cycles = <3>;")
    printed = "3 2 slow none False [1, 2] part0\n100000000\n"
    assert bench.result()["streams"] == {"part0": printed}
    given = 'acme,size = <4>; acme,word = "fast"; acme,text = "it"; acme,flag; acme,list = <7>;'
    bench.node(f"\t\tacme,wait-cycles = <5>; {given}")
    printed = "5 4 fast it True [7] part0\n100000000\n"
    assert bench.result()["streams"] == {"part0": printed}


def test_ignored_properties_may_be_there(bench: Bench) -> None:
    bench.device("", HEAD.replace("clocks=", 'ignored=["vcc-supply"], clocks='))
    bench.node("\t\tvcc-supply = <&sys_clk>;")
    assert bench.result()["outcome"] == "limit"


def test_faults_of_properties_have_file_and_line(bench: Bench) -> None:
    bench.device(PROPERTIES)
    bench.node("\t\tacme,size = <5>;\n\t\tacme,sise = <1>;")
    lines = bench.run().stderr.splitlines()
    assert lines == [
        "cyclescope: error: board.dts:4: part@20000000: property 'acme,wait-cycles' is missing: "
        "how long it waits",
        "board.dts:8: part@20000000: acme,size is 5; it may be 1 to 4",
        "board.dts:9: part@20000000: unknown property 'acme,sise'; did you mean 'acme,size' or "
        "'acme,list' or 'acme,flag'?",
    ]


def test_a_timing_property_has_a_source(bench: Bench) -> None:
    bench.device(
        'a = cyclescope.property("acme,a-ns", "a", unit="ns", timing=True)\n'
        'b = cyclescope.property("acme,b-ns", "b", unit="ns", timing=True, default=7,\n'
        '    source="assumed 5 to 9: a guess")\n'
        'c = cyclescope.property("acme,c-ns", "c", unit="ns", timing=True, default=8)'
    )
    bench.node('\t\tacme,a-ns = <1>;\n\t\tcyclescope,sources = "acme,a-ns: derived: 1";')
    shown = bench.call("board", "board.dts", "--devices", "part.py", "--section", "timing")
    assert shown.status == 0
    rows = [
        line.split("│") for line in shown.stdout.splitlines() if "acme," in line and "ns" in line
    ]
    assert [[cell.strip() for cell in row[2:6]] for row in rows] == [
        ["acme,a-ns", "1 ns", "derived", ""],
        ["acme,b-ns", "7 ns", "assumed", "5 to 9"],
        ["acme,c-ns", "8 ns", "unstated", ""],
    ]
    assert (
        "part0: acme,c-ns: no source in cyclescope,sources that begins with its class"
        in shown.stderr
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class Part(\n", "part.py:1: '(' was never closed"),
        ("\nimport nothing_like_that\n", "part.py:2: ModuleNotFoundError: No module named"),
        ("x = 1\ny = x // 0\n", "part.py:2: ZeroDivisionError: "),
        ("exit(3)\n", "part.py: the file calls exit(): remove the call"),
        ("\0", "part.py"),
        (HEAD.replace("acme,part", "riscv,clint0"), "'riscv,clint0' has a model already"),
        (HEAD.replace("acme,part", "no compatible"), "expected a devicetree compatible"),
        (HEAD.replace("(Device)", ""), "the class must derive from "),
        (f"{HEAD}    a = Register(0)\n    b = Register(0)\n", "two registers have the same offset"),
        (f"{HEAD}    a = Register(2)\n", "the offset must be a multiple of 4"),
        (HEAD.replace("clocks=", "ranges=17, clocks="), "ranges must be 0 to 16"),
        (f'{HEAD}    a = cyclescope.property("a", "a", unit="s")\n', "a: units are cycles, "),
        (f'{HEAD}    a = cyclescope.property("a", "a", default=5, most=4)\n', "is not allowed"),
        (f'{HEAD}    a = cyclescope.property("a", "a", type=float)\n', "the type must be int, "),
        (
            HEAD + HEAD.replace("Part", "Other"),
            "'acme,part' is already registered by Part in part.py",
        ),
        (HEAD.replace('"acme,part"', '"xlnx,xps-uartlite-1.00.a", replace=True'), None),
        (HEAD.replace('"acme,part"', '"ingenic,jz4740-gpio", replace=True'), "can't be replaced"),
    ],
)
def test_a_file_that_can_t_be_run_is_one_line(bench: Bench, text: str, message: str | None) -> None:
    (bench.folder / "part.py").write_text(text)
    finished = bench.call("devices", "--devices", "part.py")
    if message is None:
        assert finished.status == 0, finished.stderr
        return
    assert finished.status == Status.USAGE
    assert message in finished.error
    assert finished.error.startswith("part.py")
    assert len(finished.stderr.splitlines()) == 1


def test_a_file_that_is_not_there_is_named(bench: Bench) -> None:
    assert bench.call("devices", "--devices", "none.py").error.startswith("none.py: No such file")
    assert "directory" in bench.call("devices", "--devices", ".").error


def test_nothing_is_written_beside_the_file_or_over_it(bench: Bench) -> None:
    (bench.folder / "helper.py").write_text("VALUE = 5\n")
    bench.device("import helper\nvalue = Register(0, reset=helper.VALUE)")
    before = (bench.folder / "part.py").read_text()
    refused = bench.run("--json", "part.py")
    assert "part.py: --json would overwrite a device in Python" in refused.error
    assert (bench.folder / "part.py").read_text() == before
    assert not (bench.folder / "__pycache__").exists()


def test_bindings_are_as_the_engine_s(bench: Bench) -> None:
    (bench.folder / "list.py").write_text(
        "import json, part\nfrom cyclescope import _engine, devices\n"
        "print(json.dumps([devices.bindings(), _engine.bindings()[:1]]))\n"
    )
    bench.device(PROPERTIES)
    done = subprocess.run(
        [sys.executable, "list.py"], cwd=bench.folder, capture_output=True, text=True, check=True
    )
    (own,), (engines,) = json.loads(done.stdout)
    assert own.keys() == engines.keys()
    assert own["properties"][0].keys() == engines["properties"][0].keys()
    assert (own["compatible"], own["group"]) == ("acme,part", "Devices in Python")
    assert own["about"] == "A part for tests."
    names = [prop["name"] for prop in own["properties"]]
    assert names[:3] == ["reg", "clocks", "acme,wait-cycles"]
    assert names[-1] == "interrupts"
    shown = bench.call("devices", "acme,part", "--devices", "part.py").stdout
    assert "A part for tests." in shown
    assert "how long it waits" in shown


LOOP = "def read(self, offset, size):\n    while True: pass"


@pytest.mark.parametrize(
    "body", ["def read(self, offset, size): return 0", LOOP], ids=["polled", "endless"]
)
def test_an_interruption_stops_a_run_in_a_device(bench: Bench, body: str) -> None:
    bench.device(f"def reset(self): self.print('begins')\n{body}")
    # reads without end
    bench.program([(BASE, 0)] * 500)
    command = [*COMMAND, "run", "program.elf", "--board", "board.dts"]
    if body != LOOP:
        (bench.folder / "program.elf").write_bytes(polling())
    running = subprocess.Popen(
        [*command, "--devices", "part.py", "--limit", "10000s", "--json", "result.json"],
        cwd=bench.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert running.stderr is not None
    time.sleep(1.5)
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)[1].decode()
    assert running.returncode == 128 + signal.SIGINT
    assert "cyclescope: error: interrupted by SIGINT after " in said
    assert json.loads((bench.folder / "result.json").read_text())["outcome"] == "interrupted"


def polling() -> bytes:
    """A program that reads the device again and again: lui a0, 0x20000; lw a1, 0(a0); j -4."""
    code = struct.pack("<III", 0x2000_0537, 0x0005_2583, 0xFFDF_F06F)
    return elf32.executable(elf32.Segment(HOME.address, code))


def test_a_python_program_hears_of_an_interruption(bench: Bench) -> None:
    bench.device(LOOP)
    (bench.folder / "program.py").write_text("""\
import signal, threading
import cyclescope, part
board = cyclescope.Board("board.dts").load("program.elf")
main = threading.main_thread().ident
threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
try:
    board.run()
except KeyboardInterrupt:
    print("KeyboardInterrupt")
stop = cyclescope.Stop()
threading.Timer(0.5, stop.request).start()
print(board.run(stop=stop).outcome)
""")
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.stdout == "KeyboardInterrupt\ninterrupted\n", done.stderr
