"""The published tables: what is found in them, and that the kernels' files are those measured."""

import hashlib
import tomllib

import pytest

from cyclescope import firmware, resources
from cyclescope.bench import published
from cyclescope.errors import FirmwareError

FILE = ("program", "opt", "isa", "code_in", "compiler")
RTL = published.load("picosoc_rtl")


def hashes() -> dict[str, str]:
    text = (resources.published() / "picosoc_rtl.toml").read_text(encoding="utf-8")
    found: dict[str, str] = tomllib.loads(text)["elf_sha256"]
    return found


def test_the_rows_of_a_csv_file_have_numbers_words_and_gaps() -> None:
    assert len(RTL.results) == 1960
    single = next(row for row in RTL.results if row["flash_mode"] == "single")
    assert "dummy" not in single
    where = {name: single[name] for name in ("soc", *FILE, "mode_index")}
    assert RTL.find("cycles", where) == single["cycles"]
    assert isinstance(single["checksum"], int)
    assert RTL.find("dummy", where) is None


def test_a_part_of_a_question_says_whether_there_is_an_answer() -> None:
    assert RTL.has("cycles", {"soc": "hx8k", "program": "branch"})
    assert not RTL.has("cycles", {"soc": "icebreaker", "program": "branch"})
    assert not RTL.has("time_us", {"soc": "hx8k"})
    assert {len(row) for row in RTL.distinct(("soc", *FILE))} == {1 + len(FILE)}
    assert len(RTL.distinct(("soc", *FILE))) == 133


def test_rows_with_lists_do_not_disturb_a_question() -> None:
    table = published.Table({}, ({"a": [1], "b": 2}, {"a": 1, "b": 3}))
    assert table.find("b", {"a": 1}) == 3
    assert table.find("b", {"a": "x"}) is None


def test_the_kernels_are_the_bytes_that_the_rtl_ran() -> None:
    folder = resources.firmware() / "apps" / "picosoc_kernels" / "elf"
    found = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert found == hashes()
    assert len(found) == 98
    assert {"-".join(str(row[name]) for name in FILE) for row in RTL.results} == set(found)


def test_a_prebuilt_app_gives_the_file_that_its_settings_name() -> None:
    settings = {"program": "sort", "opt": "Os", "isa": "rv32im", "code_in": "sram"}
    elf = firmware.build_app("picosoc_kernels", "picosoc-hx8k", settings)
    assert elf.name == "sort-Os-rv32im-sram-gcc.elf"
    with pytest.raises(FirmwareError, match=r"has no sort-asm-rv32im-sram-gcc\.elf"):
        firmware.build_app("picosoc_kernels", "picosoc-hx8k", settings | {"opt": "asm"})
    with pytest.raises(FirmwareError, match="align, alu"):
        firmware.build_app("picosoc_kernels", "picosoc-hx8k", {"program": "nothing"})
    for name in hashes():
        program, opt, isa, code_in, compiler = name.split("-")
        parts = (program, opt, isa, code_in, compiler)
        firmware.build_app("picosoc_kernels", "", dict(zip(FILE, parts, strict=True)))


def test_the_apps_flash_modes_are_the_tables() -> None:
    records = firmware.load_app("picosoc_kernels").records
    assert records is not None
    modes = {(row["mode_index"], row["flash_mode"], row.get("dummy")) for row in RTL.results}
    declared = [
        (case["mode_index"], case["flash_mode"], case.get("dummy")) for case in records.cases
    ]
    assert sorted(modes, key=str) == sorted(declared, key=str)
    assert [index for index, _, _ in declared] == list(range(19))
