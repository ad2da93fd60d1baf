"""Programs for the SAMA5D2 Xplained: where each memory's build has its parts, what settings do."""

from __future__ import annotations

from pathlib import Path

import pytest
from elf_files import loaded, segments, symbols, words

from cyclescope import firmware, resources
from cyclescope.board.results import Value
from cyclescope.errors import FirmwareError

BOARD = "sama5d2-xplained"
SRAM, DDR, QSPI = range(0x0020_0000, 0x0022_0000), range(0x2000_0000, 0x3000_0000), 0xD000_0000
FLASH = range(QSPI, QSPI + (16 << 20))
RHEALSTONE: dict[str, Value] = {"loops": 2}


@pytest.mark.parametrize(
    ("memory", "code", "data"),
    [("sram", SRAM, SRAM), ("ddr", DDR, DDR), ("qspi", FLASH, SRAM)],
)
@pytest.mark.parametrize("optimise", ["O0", "O2"])
def test_each_memory_has_its_parts_of_the_program(
    memory: str, code: range, data: range, optimise: str
) -> None:
    settings = RHEALSTONE | {"memory": memory, "optimise": optimise}
    elf = firmware.build_app("rhealstone", BOARD, settings)
    where = symbols(elf)
    # the debugger's or ROM code's part, and what the core jumps to by itself
    for name in ("_start", "boot", "qspi_map", "arm_vectors"):
        assert where[name] in SRAM, name
    for name in ("program_start", "main", "vTaskSwitchContext", "arm_svc_entry", "arm_irq_entry"):
        assert where[name] in code, name
    for name in ("pxCurrentTCB", "ucHeap", "__stack_top", "table"):
        assert where[name] in data, name
    assert ("mpddrc_start" in where) == (memory == "ddr")
    assert where["arm_vectors"] % 32 == 0
    for segment in segments(elf):
        assert any(segment[0] in place and segment[-1] in place for place in (SRAM, DDR, FLASH))


def test_all_of_the_program_fits_into_sram_with_every_option() -> None:
    settings = RHEALSTONE | {
        "memory": "sram",
        "optimise": "O0",
        "cache": "on",
        "fpu_context": "on",
        "run_time_stats": "on",
    }
    where = symbols(firmware.build_app("rhealstone", BOARD, settings))
    assert where["table"] % 16384 == 0
    assert where["table"] + 16384 <= SRAM.stop


@pytest.mark.parametrize(
    "setting",
    [
        {"cache": "off"},
        {"spck_divider": 4},
        {"continuous_read": "off"},
        {"l2_prefetch": "on"},
        {"loops": 3},
        {"operation": "task-switch"},
        {"debug_drivers": "off"},
        {"stack_check": 0},
        {"asserts": "off"},
        {"fpu_context": "on"},
        {"less_switches": "never"},
        {"less_loops": "on"},
    ],
)
def test_a_setting_changes_the_program(setting: dict[str, Value]) -> None:
    optimised = RHEALSTONE | {"optimise": "O2"}
    plain = firmware.build_app("rhealstone", BOARD, optimised)
    changed = firmware.build_app("rhealstone", BOARD, optimised | setting)
    assert plain.read_bytes() != changed.read_bytes()


@pytest.mark.parametrize(("pools", "makes"), [("on", False), ("off", True)])
def test_addresses_are_read_from_pools_or_made(pools: str, makes: bool) -> None:
    settings = RHEALSTONE | {"memory": "qspi", "literal_pools": pools}
    elf = firmware.build_app("rhealstone", BOARD, settings)
    start = symbols(elf)["vTaskSwitchContext"]
    code = loaded(elf, start, start + 256)
    # A32's movt of any condition
    found = [word for word in words(code, 0, 64) if word & 0x0FF00000 == 0x03400000]
    assert bool(found) == makes


def test_an_app_without_the_boards_settings_has_their_defaults() -> None:
    where = symbols(firmware.build_app("hello", BOARD, {}))
    assert where["main"] in SRAM


def test_a_program_may_choose_what_the_board_has_defaults_for(tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    path.write_text("int main(void) { return APP_MEMORY_DDR + APP_CACHE_OFF - 2; }\n")
    recipe = firmware.board_recipe("chosen", BOARD, [path], settings={"memory": "ddr"})
    assert symbols(firmware.build(recipe))["main"] in DDR


def test_a_memory_that_the_board_does_not_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    path.write_text("int main(void) { return 0; }\n")
    recipe = firmware.board_recipe("nowhere", BOARD, [path], settings={"memory": "rom"})
    with pytest.raises(FirmwareError, match=r"rom\.ld: No such file"):
        firmware.build(recipe)


def test_an_included_linker_script_is_part_of_what_a_build_depends_on() -> None:
    recipe = firmware.board_recipe("scripts", BOARD, [])
    names = {path.name for path in recipe.inputs()}
    assert {"sram.ld", "memories.ld", "sections.ld"} <= names


def test_no_path_of_this_machine_is_in_the_program() -> None:
    content = firmware.build_app("rhealstone", BOARD, RHEALSTONE).read_bytes()
    assert str(resources.firmware().resolve()).encode() not in content
    assert str(Path.home()).encode() not in content
