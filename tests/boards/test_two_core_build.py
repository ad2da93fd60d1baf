"""Programs for two cores: one ELF that carries another, with settings that reach both."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import ziglang
from elf_files import loaded, symbols, words

from cyclescope import firmware, resources
from cyclescope.errors import FirmwareError
from cyclescope.firmware import objects
from cyclescope.firmware.recipe import Recipe, companions

APP = "hello_two_cores"
BOARD = "stm32mp157c-dk2"
# ARMv7-M and RM0436: 16 exceptions, 150 interrupts
VECTORS = 166
# numbers of the NVIC (RM0436), after the 16 exceptions
SYSTICK, IPCC_RX1, IPCC_TX1 = 15, 16 + 103, 16 + 104
# addresses of code for a core that knows only Thumb are odd
THUMB = 1


def two_programs(tmp_path: Path, inner: str = "int main(void) { return 2; }\n") -> Recipe:
    """A program for the A7 that does nothing with the M4's, which it carries."""
    first, second = tmp_path / "first.c", tmp_path / "second.c"
    first.write_text(
        "extern const char cm4_firmware_start[], cm4_firmware_end[];\n"
        "int main(void) { return cm4_firmware_end - cm4_firmware_start > 0 ? 1 : 0; }\n"
    )
    second.write_text(inner)
    carried = firmware.board_recipe("second", BOARD, [second], core="cm4")
    return replace(firmware.board_recipe("first", BOARD, [first]), programs={"cm4": carried})


def test_the_first_cores_program_carries_the_others_whole_elf() -> None:
    elf = firmware.build_app(APP, BOARD, {})
    carried = firmware.companions_of(APP, BOARD, {})
    where = symbols(elf)
    start, end = where["cm4_firmware_start"], where["cm4_firmware_end"]
    assert list(carried) == ["cm4"]
    assert loaded(elf, start, end) == carried["cm4"].read_bytes()


def test_vectors_name_the_handlers_that_drivers_define() -> None:
    elf = firmware.companions_of(APP, BOARD, {})["cm4"]
    where = symbols(elf)
    entries = words(loaded(elf, 0, 4 * VECTORS), 0, VECTORS)
    assert entries[0] == where["__stack_top"] == 0x10040000
    named = {1: "Reset_Handler", SYSTICK: "SysTick_Handler"}
    named |= {IPCC_RX1: "IPCC_RX1_IRQHandler", IPCC_TX1: "IPCC_TX1_IRQHandler"}
    for number, name in named.items():
        assert entries[number] | THUMB == where[name] | THUMB, name
    assert set(entries[16:IPCC_RX1]) == {entries[2]}


def test_a_change_of_the_carried_program_is_another_build(tmp_path: Path) -> None:
    builds = {firmware.build(two_programs(tmp_path))}
    builds.add(firmware.build(two_programs(tmp_path)))
    assert len(builds) == 1
    builds.add(firmware.build(two_programs(tmp_path, "int main(void) { return 3; }\n")))
    assert len(builds) == 2


def test_settings_reach_both_programs() -> None:
    plain, silent = ({}, {"log": "off"})
    assert firmware.companions_of(APP, BOARD, plain) != firmware.companions_of(APP, BOARD, silent)
    assert firmware.build_app(APP, BOARD, plain) != firmware.build_app(APP, BOARD, silent)
    text = b"hello from the M4"
    assert text in firmware.build_app(APP, BOARD, plain).read_bytes()
    assert text not in firmware.build_app(APP, BOARD, silent).read_bytes()


def test_an_error_in_the_carried_program_is_the_compilers_own(tmp_path: Path) -> None:
    recipe = two_programs(tmp_path, "int main(void) { return missing; }\n")
    with pytest.raises(FirmwareError, match=r"second: .*\n.*second\.c:1:25: error: .*'missing'"):
        firmware.build(recipe)


def test_a_board_without_such_a_core_is_named(tmp_path: Path) -> None:
    with pytest.raises(FirmwareError, match=r"board sama5d2-xplained: .* no core cm4"):
        firmware.board_recipe("nowhere", "sama5d2-xplained", [], core="cm4")


def test_no_path_of_this_machine_is_in_both() -> None:
    """The M4's ELF is data of the A7's: a longer path would move the data after it."""
    content = firmware.build_app(APP, BOARD, {}).read_bytes()
    compiler = Path(ziglang.__file__).parent
    for root in (resources.firmware(), resources.cache(), compiler):
        assert str(root.resolve()).encode() not in content


@pytest.mark.long  # builds all anew; its short form is the test above
def test_an_elf_is_the_same_wherever_the_compiler_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its headers' folder is in the debug information, which the A7's image carries."""
    here = firmware.build_app(APP, BOARD, {}).read_bytes()
    compiler, there = Path(ziglang.__file__).parent, tmp_path / "a-longer-path" / "ziglang"
    there.mkdir(parents=True)
    # it finds its headers beside its program
    shutil.copy2(compiler / "zig", there)
    (there / "lib").symlink_to(compiler / "lib")
    monkeypatch.setattr(ziglang, "__file__", str(there / "__init__.py"))
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "cache"))
    objects._zig.cache_clear()
    try:
        assert firmware.build_app(APP, BOARD, {}).read_bytes() == here
    finally:
        objects._zig.cache_clear()


def test_a_program_without_others_has_no_companions(tmp_path: Path) -> None:
    assert companions(firmware.board_recipe("alone", BOARD, [])) == {}
