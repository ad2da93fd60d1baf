"""`bench SUITE --elfs`: programs as suites have them, made here; their lines, files and boards."""

from __future__ import annotations

import json
import random
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import bincopy
import pytest
import suite_blocks
import suite_store
from conftest import ROOT, Command
from keys import Source
from store import Results
from tiers import sized

from cyclescope import firmware, suites
from cyclescope.bench import published
from cyclescope.bench.rows import Row, RunRecord
from cyclescope.board.results import CoreResult, RunResult, Window
from cyclescope.board.setup.fitting import Map
from cyclescope.errors import UsageError
from cyclescope.statuses import Status
from cyclescope.suites import coremark, embench, pqm4, programs, running, summary
from cyclescope.suites.programs import Program
from cyclescope.suites.running import Done
from cyclescope.suites.suite import Reading, Reads

BOARD = "minimal-armv7m"
SOURCE = ROOT / "tests" / "firmware" / "armv7m" / "suites.c"
NAME = "crypto_kem_ml-kem-512_m4fspeed_speed"
COUNTS = {"KEYPAIR": "392423", "ENCAPS": "1000", "DECAPS": "428000"}
# 100,000 rounds of subs 1, nop 1, bne 2; and what else is between the functions that are timed.
LOOP_CYCLES, AROUND = 400_000, 20
PRINTS = {"SUITE_PQM4": "1", "ROUNDS": "1", "VERDICT": '"OK"', **COUNTS}


def built(macros: dict[str, str]) -> Path:
    return firmware.build(firmware.board_recipe("suites", BOARD, [SOURCE], macros))


def put(folder: Path, name: str, macros: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    shutil.copy(built(macros), folder / name)
    return folder / name


def as_hex(elf: Path, path: Path) -> None:
    parts, _ = programs.read(elf)
    file = bincopy.BinFile()
    for address, data in parts:
        file.add_binary(data, address=address)
    path.write_text(file.as_ihex())


def rows_of(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(path.read_text())
    return found


# ---- the command line


def test_without_elfs_a_line_says_how_to_get_them(cyclescope: Command) -> None:
    for name in suites.ALL:
        done = cyclescope("bench", name)
        assert done.status == 0
        assert done.stderr == ""
        (line,) = done.stdout.splitlines()
        assert line.startswith(f"{name}: build ")
        assert f"cyclescope bench {name} --elfs DIR" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--elfs", "."], "--elfs needs one of pqm4, coremark, embench"),
        (["pqm4", "embench", "--elfs", "."], "--elfs needs one of"),
        (["picosoc-xip", "--elfs", "."], "--elfs needs one of"),
        (["pqm4", "--board", BOARD], "--elfs only takes --board"),
        (["pqm4", "--elfs", ".", "--quick"], "--elfs only takes --board, --limit"),
        (
            ["pqm4", "--elfs", ".", "--board", BOARD],
            "no crypto_..._speed.elf or .hex in it; build the speed programs",
        ),
        (["pqm4", "--elfs", "none", "--board", BOARD], "none: no such file or folder"),
        (["pqm4", "--limit", "1s"], "--elfs only takes --board"),
        (["pqm4", "--elfs", ".", "--limit", "1"], "1"),
        (["pqm5"], "did you mean 'pqm4'"),
    ],
)
def test_conflicting_options_are_reported(
    cyclescope: Command, arguments: list[str], message: str
) -> None:
    done = cyclescope("bench", *arguments)
    assert done.status == Status.USAGE
    assert message in done.error


def test_counts_stand_beside_the_hardwares(cyclescope: Command, tmp_path: Path) -> None:
    put(tmp_path / "elfs", f"{NAME}.elf", PRINTS)
    put(tmp_path / "elfs", "crypto_kem_ml-kem-512_m4fspeed_stack.elf", PRINTS)
    done = cyclescope("bench", "pqm4", "--elfs", "elfs", "--board", BOARD)
    assert (done.status, done.stdout.count("failed")) == (0, 0), done.stderr
    assert done.stderr == f"cyclescope: 1 of 1: {NAME}.elf on {BOARD}: 3 numbers\n"
    rows = rows_of(tmp_path / "results" / "pqm4.json")
    assert [row["simulated"] for row in rows] == [392423, 1000, 428000]
    # no number of hardware is for this board
    assert {row["published"] for row in rows} == {None}
    assert rows[0]["settings"] == {
        "scheme": "ml-kem-512",
        "implementation": "m4fspeed",
        "operation": "keypair",
        "executions": 1,
    }
    text = (tmp_path / "results" / "pqm4.csv").read_text()
    assert text.splitlines()[1].startswith(f"pqm4,{BOARD},ml-kem-512,m4fspeed,keypair,1,")


def test_an_elf_and_its_hex_give_the_same(cyclescope: Command, tmp_path: Path) -> None:
    elf = put(tmp_path / "elfs", f"{NAME}.elf", PRINTS | {"ROUNDS": "3"})
    (tmp_path / "hex").mkdir()
    as_hex(elf, tmp_path / "hex" / f"{NAME}.hex")
    outputs = []
    for place in ("elfs", "hex", f"elfs/{NAME}.elf"):
        arguments = ("--elfs", place, "--board", BOARD, "--json", "-", "--jobs", 1)
        done = cyclescope("bench", "pqm4", *arguments)
        assert done.status == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] == outputs[2]
    # the mean of three executions
    assert json.loads(outputs[0])[0]["simulated"] == 392424
    assert json.loads(outputs[0])[0]["settings"]["executions"] == 3


def test_results_do_not_overwrite_a_program(cyclescope: Command, tmp_path: Path) -> None:
    program = put(tmp_path / "elfs", f"{NAME}.elf", PRINTS)
    before = program.read_bytes()
    arguments = ("--elfs", "elfs", "--board", BOARD, "--json", f"elfs/{NAME}.elf")
    done = cyclescope("bench", "pqm4", *arguments)
    assert done.status == Status.USAGE
    assert f"--json would overwrite the program {NAME}.elf" in done.error
    assert program.read_bytes() == before


@pytest.mark.parametrize(
    ("macros", "rows", "message"),
    [
        ({"VERDICT": '"ERROR"'}, 3, "the program says: ERROR KEYS"),
        ({"CUT_OFF": "1"}, 3, "its last lines: + / hard fault"),
        ({"HANGS": "1"}, 3, "the limit of 50.000 ms"),
        ({"DECAPS": None}, 2, "no cycle count of decaps was printed"),
    ],
)
def test_a_programs_misuse_is_reported(
    cyclescope: Command, tmp_path: Path, macros: dict[str, str | None], rows: int, message: str
) -> None:
    given = {name: value for name, value in (PRINTS | macros).items() if value is not None}
    put(tmp_path / "elfs", f"{NAME}.elf", given)
    done = cyclescope("bench", "pqm4", "--elfs", "elfs", "--board", BOARD, "--limit", "50ms")
    assert done.status == Status.FAILED
    assert message in done.stderr
    assert f"failed: {NAME}.elf on {BOARD}" in done.stdout
    assert len(rows_of(tmp_path / "results" / "pqm4.json")) == rows


def test_odd_files_are_left_out_and_the_others_run(cyclescope: Command, tmp_path: Path) -> None:
    elf = put(tmp_path / "elfs", f"{NAME}.elf", PRINTS)
    odd = {
        "empty": b"",
        "text": b"int main(void) { return 0; }\n",
        "cut": elf.read_bytes()[:60],
        "wide": elf.read_bytes().replace(b"\x7fELF\x01", b"\x7fELF\x02", 1),
    }
    for name, data in odd.items():
        (tmp_path / "elfs" / f"crypto_sign_{name}_ref_speed.elf").write_bytes(data)
    (tmp_path / "elfs" / "crypto_sign_hex_ref_speed.hex").write_text(":00000001FE\n")
    (tmp_path / "elfs" / "crypto_sign_folder_ref_speed.elf").mkdir()
    done = cyclescope("bench", "pqm4", "--elfs", "elfs", "--board", BOARD)
    assert done.status == Status.FAILED
    warnings = [line for line in done.stderr.splitlines() if "warning" in line]
    assert len(warnings) == len(odd) + 2
    assert all("crypto_sign_" in line for line in warnings)
    assert len(rows_of(tmp_path / "results" / "pqm4.json")) == 3


def test_embench_is_timed_between_its_triggers(cyclescope: Command, tmp_path: Path) -> None:
    elf = put(tmp_path / "elfs", "crc32", {"SUITE_EMBENCH": "1"})
    # it continues after them until its limit
    call = ("bench", "embench", "--board", BOARD, "--limit", f"{sized(1, 100)}s", "--elfs")
    done = cyclescope(*call, "elfs")
    assert done.status == 0, done.stderr
    (row,) = rows_of(tmp_path / "results" / "embench.json")
    assert row["label"] == "crc32"
    assert 0 < row["settings"]["cycles"] - LOOP_CYCLES < AROUND
    # at 100 MHz
    assert row["simulated"] == pytest.approx(LOOP_CYCLES / 1e5, abs=0.001)
    (tmp_path / "hex").mkdir()
    as_hex(elf, tmp_path / "hex" / "crc32.hex")
    done = cyclescope(*call, "hex")
    assert done.status == Status.FAILED
    assert "embench needs the symbols of an ELF file" in done.stderr


def test_coremark_is_timed_by_its_port(cyclescope: Command, tmp_path: Path) -> None:
    elf = put(tmp_path / "elfs", "coremark.elf", {"SUITE_COREMARK": "1", "WRONG": '""'})
    done = cyclescope("bench", "coremark", "--elfs", "elfs", "--board", BOARD)
    assert done.status == 0, done.stderr
    assert {"published", "simulated", "unit", "error"} <= set(done.stdout.split())
    rows = rows_of(tmp_path / "results" / "coremark.json")
    mark, per_mhz, cycles = (row["simulated"] for row in rows)
    # the program prints 17 s, and takes some milliseconds
    assert mark == pytest.approx(3000 * 100e6 / LOOP_CYCLES, rel=AROUND / LOOP_CYCLES)
    assert per_mhz == pytest.approx(mark / 100, rel=1e-5)
    assert cycles == round(LOOP_CYCLES / 3000)
    # without symbols, what it prints counts
    (tmp_path / "hex").mkdir()
    as_hex(elf, tmp_path / "hex" / "coremark.hex")
    done = cyclescope("bench", "coremark", "--elfs", "hex", "--board", BOARD)
    assert done.status == 0, done.stderr
    first, second, _ = rows_of(tmp_path / "results" / "coremark.json")
    assert (first["simulated"], second["simulated"]) == (171.97, 1.72)


def test_coremark_with_wrong_results_is_a_failure(cyclescope: Command, tmp_path: Path) -> None:
    wrong = {"SUITE_COREMARK": "1", "WRONG": r'"[0]ERROR! list crc 0x1234 - should be 0xe714\n"'}
    put(tmp_path / "elfs", "coremark.elf", wrong)
    done = cyclescope("bench", "coremark", "--elfs", "elfs", "--board", BOARD)
    assert done.status == Status.FAILED
    assert "the program says: [0]ERROR! list crc 0x1234" in done.stderr


def test_a_signature_that_does_not_verify_is_remarked(cyclescope: Command, tmp_path: Path) -> None:
    says = "ERROR Signature did not verify correctly!"
    put(tmp_path / "elfs", f"{NAME}.elf", PRINTS | {"VERDICT": f'"{says}"'})
    done = cyclescope("bench", "pqm4", "--elfs", "elfs", "--board", BOARD)
    assert done.status == 0
    assert f'"{says}" is what is printed by {NAME}.elf.' in " ".join(done.stdout.split())


def test_rows_are_kept_for_the_pages_by_suite_and_board(tmp_path: Path) -> None:
    stored, given = tmp_path / "suites.csv", tmp_path / "pqm4.json"
    for board, cycles in (("nucleo-l4r5zi", 400_000), ("a", 1), ("nucleo-l4r5zi", 392_611)):
        where = {"scheme": "ml-kem-512", "implementation": "m4fspeed", "operation": "keypair"}
        reading = Reading("keypair", "cycles", "cycles", cycles, where, "mean", where)
        program = Program(Path("x.elf"), {}, board, True)
        record = running.record_of(pqm4.SUITE, Done(program, Reads()))
        row = running.row_of(pqm4.SUITE, board, reading, record)
        given.write_text(json.dumps([row.to_dict()]))
        suite_store.keep(given, stored)
    kept = suite_store.load(stored)["pqm4"]
    assert [(row.board, row.simulated) for row in kept] == [("a", 1), ("nucleo-l4r5zi", 392_611)]
    assert kept[1].published == 392_423
    found = {"pqm4": kept}
    text = suite_blocks.numbers(Source(Results({}), {}, found), ["pqm4", "nucleo-l4r5zi"])
    assert "| keypair | 392,211 | 392,423 | 392,614 | 392,611 | 0.0 % | yes |" in text
    text = suite_blocks.classes(Source(Results({}), {}, found), ["pqm4"])
    assert "| `nucleo-l4r5zi` | hashing | 1 | 1 | +0.0 % | +0.0 % | +0.0 % | 1 | 1 | 1 |" in text
    given.write_text("[]")
    with pytest.raises(UsageError, match="no rows of"):
        suite_store.keep(given, stored)


def test_kinds_of_code_and_steadiness_are_those_of_the_published_table() -> None:
    def row(scheme: str, implementation: str, operation: str, published: int) -> Row:
        where = {"scheme": scheme, "implementation": implementation, "operation": operation}
        run = RunRecord("", "", "nucleo-l4r5zi", {}, None)
        expected = ("cycles", "cycles", published, published, "predicted", "x", run)
        return Row("pqm4", "nucleo-l4r5zi", where, *expected)

    rows = [
        row("bikel1", "m4f", "decaps", 56744036),
        row("bikel1", "opt", "decaps", 138514606),
        row("ml-kem-512", "m4fspeed", "keypair", 392423),
        row("haetae2", "m4f", "keypair", 6743278),
    ]
    assert [pqm4.kind_of(one) for one in rows] == ["assembly", "C", "hashing", "assembly"]
    assert [summary.is_steady(pqm4.SUITE, one) for one in rows] == [True, True, True, False]


# ---- names and lines


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("crypto_kem_ml-kem-768_m4fspeed_speed", ("kem", "ml-kem-768", "m4fspeed")),
        ("mupq_crypto_sign_mirith_hypercube_Ia_fast_opt_speed", None),
        ("mupq_pqclean_crypto_sign_sphincs-sha2-128f-simple_clean_speed", None),
        ("crypto_sign_fndsa_provisional-512_m4f_speed", ("sign", "fndsa_provisional-512", "m4f")),
    ],
)
def test_names_say_scheme_and_implementation(
    stem: str, expected: tuple[str, str, str] | None
) -> None:
    found = pqm4.identify(stem)
    assert found is not None
    if expected is not None:
        assert tuple(found.values()) == expected
    table = published.load(pqm4.SUITE.tables["nucleo-l4r5zi"])
    where = {name: found[name] for name in ("scheme", "implementation")}
    assert table.has("mean", where)


@pytest.mark.parametrize("stem", ["", "boardtest", "crypto_kem_ml-kem-768_m4_test", "_speed"])
def test_other_names_identify_no_program(stem: str) -> None:
    assert pqm4.identify(stem) is None
    assert embench.identify(stem) is None
    assert coremark.identify(stem) is None


def test_every_published_row_has_a_name_of_a_program() -> None:
    for name, kinds in (("nucleo-l4r5zi", 138), ("stm32f4-disco", 75)):
        table = published.load(pqm4.SUITE.tables[name])
        found = table.distinct(("scheme", "implementation"))
        assert len(found) == kinds
        for row in found:
            stem = f"crypto_kem_{row['scheme']}_{row['implementation']}_speed"
            assert pqm4.identify(stem) == {"kind": "kem", **row}
        for row in table.results:
            assert row["min"] <= row["mean"] <= row["max"]


def console_of(counts: list[int], operations: tuple[str, ...]) -> str:
    pairs = (f"{name} cycles:\n{count}\n" for name, count in zip(operations, counts, strict=True))
    return "=====\n" + "".join(pairs) + "OK KEYS\n\n+\n#\n"


def test_counts_are_read_whatever_stands_around_them() -> None:
    """At random: what is printed between pairs changes none, and nothing else is a count."""
    made = random.Random("pqm4")
    operations = ("keypair", "encaps", "decaps")
    noise = ["", "+", "#", "OK KEYS", "cycles:", "x cycles: 3", "12", "-7", "\0", "é", "1e5", "٣"]
    for _ in range(sized(200, 2000)):
        counts = [made.randrange(10 ** made.randrange(1, 13)) for _ in operations]
        lines = console_of(counts, operations).split("\n")
        for _ in range(made.randrange(6)):
            # not within a pair
            places = [at for at in range(len(lines)) if not lines[at - 1].endswith("cycles:")]
            lines.insert(made.choice(places), made.choice(noise))
        ending = made.choice(["\n", "\r\n"])
        found = pqm4.cycles(ending.join(lines))
        found.pop("", None)
        assert found == dict(zip(operations, ([count] for count in counts), strict=True))


def test_no_text_upsets_a_reader() -> None:
    made = random.Random("suites")
    pieces = ["keypair cycles:", "\n", "12", "ERROR", "Iterations : 0", "Total time (secs): 0"]
    pieces += ["Total ticks : 9" * 50, "Iterations       : 10", "\0", "\x80", " : ", "9" * 400]
    named = {"kind": "kem", "scheme": "a", "implementation": "b", "port": "c", "program": "crc32"}
    for _ in range(sized(200, 2000)):
        text = "".join(made.choice(pieces) for _ in range(made.randrange(40)))
        result = RunResult("b", "f", "exit", 0, None, 1, text, (), {})
        for suite in (pqm4, embench):
            reads = suite.reads(named, result)
            assert reads.readings or reads.error
        assert len(coremark.fields(text)) <= 100


def called(*calls: tuple[str, int, int]) -> RunResult:
    """A run at 16 MHz in which functions were called, each from and to a time in picoseconds."""
    core = CoreResult("cpu0", 16_000_000, 0, 0, ())
    windows = tuple(Window(name, begin, end, (core,)) for name, begin, end in calls)
    return RunResult("b", "f", "limit", None, None, 1, "", (core,), {}, windows=windows)


@pytest.mark.parametrize(
    ("calls", "error"),
    [
        ((), "start_trigger was called 0 times, stop_trigger 0 times, not each once"),
        ((("start_trigger", 0, 5),), "start_trigger was called 1 times, stop_trigger 0 times"),
        ((("stop_trigger", 0, 5), ("start_trigger", 7, 9)), "not each once and in this order"),
        (
            (("start_trigger", 0, 5), ("stop_trigger", 10**9, 2 * 10**9)) * 2,
            "start_trigger was called 2 times, stop_trigger 2 times",
        ),
        ((("start_trigger", 0, 5), ("stop_trigger", 5, 9)), "less than a microsecond passes"),
        ((("start_trigger", 0, 5), ("stop_trigger", 10**6 + 4, 10**7)), "less than a microsecond"),
    ],
)
def test_embench_without_its_two_triggers_has_no_time(
    calls: tuple[tuple[str, int, int], ...], error: str
) -> None:
    reads = embench.reads({"program": "crc32"}, called(*calls))
    assert reads.readings == ()
    assert error in (reads.error or "")


def test_embench_counts_between_the_end_of_one_and_the_begin_of_the_other() -> None:
    calls = (("start_trigger", 10, 10**6), ("stop_trigger", 10**6 + 2_000_400_000, 10**10))
    reads = embench.reads({"program": "crc32"}, called(*calls))
    (reading,) = reads.readings
    assert (reads.error, reading.value, reading.unit) == (None, 2.0, "ms")
    assert reading.settings == {"program": "crc32", "cycles": 32006}
    least = embench.reads(
        {"program": "crc32"}, called(("start_trigger", 0, 5), ("stop_trigger", 10**6 + 5, 10**7))
    )
    assert least.readings[0].settings["cycles"] == 16


def test_embenchs_mean_is_of_relative_speeds() -> None:
    run = RunRecord("", "", embench.BOARD, {}, None)
    rows = [
        Row("embench", embench.BOARD, {}, "time", "ms", ours, theirs, "predicted", "x", run)
        for ours, theirs in ((100, 200), (400, 50), (7, None))
    ]
    (mean,) = embench.derived(rows)
    # of 2 and 1/8
    assert (mean.simulated, mean.published, mean.settings) == (0.5, 1, {"programs": 2})
    assert list(embench.derived(rows[2:])) == []


@pytest.mark.parametrize(
    ("console", "error"),
    [
        ("Iterations : 10\n", "it printed no Iterations and no Total time (secs), or these are 0"),
        ("Iterations : 0\nTotal time (secs) : 2.5\n", "or these are 0"),
        (
            "Iterations : 10\nTotal time (secs) : 2.5\nCannot validate operation\n",
            "Cannot validate",
        ),
    ],
)
def test_coremark_without_a_time_has_no_mark(console: str, error: str) -> None:
    result = replace(called(), console=console)
    reads = coremark.reads({"port": "coremark"}, result)
    assert reads.readings == ()
    assert error in (reads.error or "")


def test_coremark_is_read_from_its_two_functions_or_its_console() -> None:
    printed = "Iterations : 10\nTotal time (secs) : 2.5\n"
    result = replace(called(), console=printed)
    values = [one.value for one in coremark.reads({"port": "coremark"}, result).readings]
    assert values == [4.0, 0.25, 4_000_000]
    timed = called(("start_time", 0, 10**12), ("stop_time", 3 * 10**12, 4 * 10**12))
    values = [
        one.value
        for one in coremark.reads({"port": "coremark"}, replace(timed, console=printed)).readings
    ]
    assert values == [5.0, 0.312, 3_200_000]


# ---- boards

FLASH, SRAM = (0x0800_0000, 0x0810_0000), (0x2000_0000, 0x2002_0000)
SMALL = Map("small", (FLASH, SRAM), ((0x4002_3800, 0x4002_3C00),))
# its flash is a device that programs lie in
LARGE = Map("large", ((0x2000_0000, 0x200A_0000),), (FLASH, (0x4002_1000, 0x4002_1400)))


@pytest.mark.parametrize(
    ("words", "board"),
    [
        ((0x200A_0000, 0x0800_0101), "large"),
        ((0x2002_0000, 0x0800_0101), "small"),
        ((0x2001_0000, 0x0800_0101, 0x4002_3830), "small"),
        ((0x2001_0000, 0x0800_0101, 0x4002_1000), "large"),
        ((0x2001_0000, 0x0800_0101), None),
        ((0x3000_0000, 0x0800_0101), None),
    ],
)
def test_a_programs_board_is_that_whose_memory_and_devices_it_uses(
    words: tuple[int, ...], board: str | None
) -> None:
    parts = ((0x0800_0000, struct.pack(f"<{len(words)}I", *words)),)
    if board is None:
        with pytest.raises(UsageError, match="--board says which it is"):
            programs.board_of(Path("a.elf"), parts, [SMALL, LARGE])
    else:
        assert programs.board_of(Path("a.elf"), parts, [SMALL, LARGE]) == board


@pytest.mark.parametrize(
    ("stack", "board"),
    [
        (0x200A_0000, "nucleo-l4r5zi"),
        (0x2001_C000, "stm32f4-disco"),
        (0x2002_0000, "stm32f4-disco"),
    ],
)
def test_pqm4s_linker_scripts_identify_its_boards(stack: int, board: str) -> None:
    """The ends of RAM in pqm4's own linker scripts, one of them for schemes with large stacks."""
    maps = [Map.of(name) for name in pqm4.SUITE.tables]
    parts = ((0x0800_0000, struct.pack("<2I", stack, 0x0800_0101)),)
    assert programs.board_of(Path("a.elf"), parts, maps) == board


def test_kept_rows_stand_beside_what_is_published_now() -> None:
    kept = suite_store.load(ROOT / "docs" / "suites.csv")
    assert all(kept.values())
    for row in kept["pqm4"]:
        where = {name: row.settings[name] for name in pqm4.SUITE.span_of}
        assert row.published == running.find(pqm4.SUITE, row.board, "mean", where)
    for row in kept["embench"]:
        if row.label != embench.MEAN:
            where = {"program": row.settings["program"]}
            assert row.published == running.find(embench.SUITE, row.board, "time_ms", where)
