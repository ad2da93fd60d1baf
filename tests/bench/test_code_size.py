"""Sizes of code by source file, against what the linker put into the ELF."""

from pathlib import Path

import elf32
import pytest

from cyclescope.errors import FirmwareError
from cyclescope.experiments import rhealstone_size
from cyclescope.firmware import build_app, code_size


@pytest.fixture(scope="module")
def rhealstone() -> Path:
    return build_app("rhealstone", "sama5d2-xplained", {"memory": "qspi"})


def test_every_byte_of_code_belongs_to_a_source_file(rhealstone: Path) -> None:
    sizes = code_size.functions(rhealstone)
    sections = code_size.sections(rhealstone)
    # the linker aligns, and adds veneers
    whole = sections[".boot"] + sections[".text"]
    assert 0.97 * whole < sum(sizes.values()) <= whole
    assert sizes["runtime/arm/vectors.S"] > 32
    kernel = [path for path in sizes if path.endswith("FreeRTOS-Kernel/tasks.c")]
    assert len(kernel) == 1
    assert sizes[kernel[0]] > 4000


def test_code_without_debug_information_is_refused(tmp_path: Path) -> None:
    elf = tmp_path / "bare.elf"
    elf.write_bytes(elf32.executable(elf32.Segment(elf32.DDR, elf32.EXIT_0)))
    with pytest.raises(FirmwareError, match="no debug information"):
        code_size.functions(elf)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("freertos-next-0.12.0/FreeRTOS-Kernel/tasks.c", "the kernel"),
        ("drivers/freertos/freertos_queue.c", "the kernel"),
        ("freertos-next-0.12.0/FreeRTOS-Kernel/portable/MemMang/heap_4.c", "the kernel"),
        (
            "freertos-next-0.12.0/FreeRTOS-Kernel/portable/GCC/ARM_CRx_No_GIC/port.c",
            "the kernel's port",
        ),
        ("drivers/freertos/freertos_port.S", "the kernel's port"),
        ("apps/rhealstone/main.c", "the operations"),
        ("runtime/console.c", "drivers and start-up"),
        ("drivers/freertos/board_support.c", "drivers and start-up"),
    ],
)
def test_source_files_belong_to_parts(path: str, part: str) -> None:
    assert rhealstone_size.part_of(path) == part
