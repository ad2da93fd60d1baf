"""Programs for the SAMA5D2 Xplained: where each memory's build has its parts, what settings do."""

from __future__ import annotations

from pathlib import Path

import pytest
from elf_files import loaded, segments, sizes, symbols, words
from tiers import mostly_long

from cyclescope import firmware, resources
from cyclescope.board.results import Value
from cyclescope.errors import FirmwareError
from cyclescope.firmware import objects

BOARD = "sama5d2-xplained"
SRAM, DDR, QSPI = range(0x0020_0000, 0x0022_0000), range(0x2000_0000, 0x3000_0000), 0xD000_0000
FLASH = range(QSPI, QSPI + (16 << 20))
# Other tests use some of the same programs.
RHEALSTONE: dict[str, Value] = {"loops": 4}
OPTIMISED = RHEALSTONE | {"optimise": "O2"}
# Settings, and a source that is compiled differently for each.
SETTINGS: list[tuple[dict[str, Value], str]] = [
    ({"cache": "off"}, "start"),
    ({"spck_divider": 4}, "boot"),
    ({"continuous_read": "off"}, "boot"),
    ({"l2_prefetch": "on"}, "l2x0"),
    ({"loops": 3}, "task_switch"),
    ({"operation": "task-switch"}, "main"),
    ({"debug_drivers": "off"}, "measure"),
    ({"stack_check": 0}, "freertos_tasks"),
    ({"asserts": "off"}, "freertos_port"),
    ({"fpu_context": "on"}, "freertos_port"),
    ({"less_switches": "never"}, "task_preempt"),
    ({"less_loops": "on"}, "main"),
]


@pytest.mark.parametrize(
    ("memory", "code", "data"),
    [("sram", SRAM, SRAM), ("ddr", DDR, DDR), ("qspi", FLASH, SRAM)],
)
@pytest.mark.parametrize("optimise", mostly_long(["O0", "O2"], {"O2"}))
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


def compiled(settings: dict[str, Value], name: str) -> list[bytes]:
    """The objects of the app's sources of a name, of C and assembly, with settings."""
    chosen = firmware.with_defaults("rhealstone", OPTIMISED | settings)
    recipe = firmware.app_recipe(firmware.load_app("rhealstone"), BOARD, chosen)
    sources = [source for source in recipe.compilations() if source.path.stem == name]
    return [objects.compiled(source).read_bytes() for source in sources]


@pytest.mark.parametrize(("setting", "source"), SETTINGS)
def test_a_setting_changes_an_object(setting: dict[str, Value], source: str) -> None:
    assert compiled({}, source) != compiled(setting, source)


# All of it is compiled anew for some settings.
@pytest.mark.parametrize(
    "setting", mostly_long([setting for setting, _ in SETTINGS], [{"spck_divider": 4}])
)
def test_a_setting_changes_the_program(setting: dict[str, Value]) -> None:
    plain = firmware.build_app("rhealstone", BOARD, OPTIMISED)
    changed = firmware.build_app("rhealstone", BOARD, OPTIMISED | setting)
    assert plain.read_bytes() != changed.read_bytes()


@pytest.mark.parametrize(("pools", "makes"), [("on", False), ("off", True)])
@pytest.mark.parametrize("is_whole", mostly_long([False, True], {False}))
def test_addresses_are_read_from_pools_or_made(
    pools: str, makes: bool, is_whole: bool, tmp_path: Path
) -> None:
    settings: dict[str, Value] = {"memory": "qspi", "literal_pools": pools}
    if is_whole:
        elf, function = (
            firmware.build_app("rhealstone", BOARD, RHEALSTONE | settings),
            "vTaskSwitchContext",
        )
    else:
        path = tmp_path / "main.c"
        path.write_text("static volatile int word; int main(void) { word = 1; return word; }\n")
        recipe = firmware.board_recipe("pools", BOARD, [path], settings=settings)
        elf, function = firmware.build(recipe), "main"
    start = symbols(elf)[function]
    code = loaded(elf, start, start + sizes(elf)[function])
    # A32's movt of any condition
    found = [word for word in words(code, 0, len(code) // 4) if word & 0x0FF00000 == 0x03400000]
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
