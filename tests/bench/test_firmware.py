"""Building firmware: settings become macros, builds are kept, errors are the compiler's own."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import BOARD

from cyclescope import firmware, resources
from cyclescope.errors import FirmwareError
from cyclescope.firmware.settings import defines


def source(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "main.c"
    path.write_text(text)
    return path


def test_settings_become_macros() -> None:
    assert defines({"pages": 64, "mode": "quad", "line-size": "two-way"}) == {
        "APP_PAGES": "64",
        "APP_MODE_QUAD": "1",
        "APP_LINE_SIZE_TWO_WAY": "1",
    }


def test_a_second_build_is_the_first_ones_file(tmp_path: Path) -> None:
    path = source(tmp_path, "int main(void) { return 0; }\n")
    first = firmware.build(firmware.board_recipe("twice", BOARD, [path]))
    written_ns = first.stat().st_mtime_ns
    second = firmware.build(firmware.board_recipe("twice", BOARD, [path]))
    assert (second, second.stat().st_mtime_ns) == (first, written_ns)


def test_a_changed_source_or_setting_is_another_build(tmp_path: Path) -> None:
    path = source(tmp_path, "int main(void) { return APP_N; }\n")
    builds = {firmware.build(firmware.board_recipe("n", BOARD, [path], {"APP_N": "1"}))}
    builds.add(firmware.build(firmware.board_recipe("n", BOARD, [path], {"APP_N": "2"})))
    path.write_text("int main(void) { return APP_N + 1; }\n")
    builds.add(firmware.build(firmware.board_recipe("n", BOARD, [path], {"APP_N": "1"})))
    assert len(builds) == 3


def test_files_that_linker_scripts_include_are_inputs(tmp_path: Path) -> None:
    """Also from another board's folder."""
    path = source(tmp_path, "int main(void) { return 0; }\n")
    inputs = firmware.board_recipe("included", "nucleo-l4r5zi", [path]).inputs()
    boards = resources.firmware().resolve() / "boards"
    for name in (
        "nucleo-l4r5zi/flash.ld",
        "nucleo-l4r5zi/memories.ld",
        "stm32f4-disco/sections.ld",
    ):
        assert boards / name in inputs


def test_the_same_build_at_once_gives_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = source(tmp_path, "int main(void) { return 3; }\n")
    recipe = firmware.board_recipe("at_once", BOARD, [path], {"APP_ONCE": tmp_path.name})
    with ThreadPoolExecutor(3) as pool:
        built = set(pool.map(firmware.build, [recipe] * 3))
    assert len(built) == 1
    assert built.pop().read_bytes().startswith(b"\x7fELF")


def test_a_compile_error_is_the_compilers_own(tmp_path: Path) -> None:
    path = source(tmp_path, "int main(void) { return missing; }\n")
    with pytest.raises(FirmwareError, match=r"main\.c:1:25: error: .*'missing'"):
        firmware.build(firmware.board_recipe("broken", BOARD, [path]))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"page": 1}, "the settings mode, access, pages"),
        ({"pages": 0}, "1 to 65536"),
        ({"mode": "octal"}, "standard, dual, quad"),
    ],
)
def test_an_app_refuses_a_setting_that_it_does_not_have(
    settings: dict[str, str | int], said: str
) -> None:
    with pytest.raises(FirmwareError, match=said):
        firmware.build_app("quad_spi_throughput", BOARD, settings)


def test_an_app_or_board_that_is_not_there_is_named() -> None:
    with pytest.raises(FirmwareError, match="no_such_app"):
        firmware.build_app("no_such_app", BOARD, {})
    with pytest.raises(FirmwareError, match="no-such-board"):
        firmware.build_app("hello", "no-such-board", {})


def test_no_path_of_this_machine_is_in_an_app() -> None:
    elf = firmware.build_app("hello", BOARD, {})
    root = str(resources.firmware().resolve()).encode()
    assert root not in elf.read_bytes()
