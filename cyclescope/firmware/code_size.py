"""Code size of an ELF by source: bytes of functions by source file.

Functions come from the debug information, whose paths the build makes portable: relative to this
project's firmware, or to the crates' folder for one that carries C sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

from cyclescope.errors import FirmwareError

_SHF_ALLOC = 2
# DW_LANG_Mips_Assembler: the language that all assemblers write
_ASSEMBLER = 0x8001


def functions(elf: Path, units: str = "") -> Mapping[str, int]:
    """Bytes of the functions of each source file, by its path; assembly files count as a whole.

    Only compilation units whose path begins with `units` are counted, with the files that they
    include. Raises `FirmwareError` if the ELF has no debug information.
    """
    with elf.open("rb") as stream:
        file = ELFFile(stream)
        if not file.has_dwarf_info():
            raise FirmwareError(f"{elf.name} has no debug information: build it with -g")
        found: dict[str, int] = {}
        dwarf = file.get_dwarf_info()
        kept = [(part["sh_addr"], part["sh_addr"] + part["sh_size"]) for part in _code(file)]
        for unit in dwarf.iter_CUs():
            if not _text(unit.get_top_DIE(), "DW_AT_name").startswith(units):
                continue
            for path, low, size in _ranges(unit):
                # functions that the linker has dropped are outside the sections
                if any(first <= low < end for first, end in kept):
                    found[path] = found.get(path, 0) + size
        return found


def sections(elf: Path) -> Mapping[str, int]:
    """Bytes of the sections that take memory when the program runs, by name."""
    with elf.open("rb") as stream:
        file = ELFFile(stream)
        return {
            section.name: section["sh_size"]
            for section in file.iter_sections()
            if section["sh_flags"] & _SHF_ALLOC
        }


def _code(file: ELFFile) -> Iterator[Any]:
    for section in file.iter_sections():
        if section["sh_flags"] & _SHF_ALLOC and section["sh_size"]:
            yield section


def _ranges(unit: CompileUnit) -> Iterator[tuple[str, int, int]]:
    """Functions of a compilation unit: their file, first address and size."""
    top = unit.get_top_DIE()
    if top.attributes["DW_AT_language"].value == _ASSEMBLER:
        for low, size in _spans(unit, top):
            yield _text(top, "DW_AT_name"), low, size
        return
    files = _files(unit)
    for child in top.iter_children():
        span = _span(child) if child.tag == "DW_TAG_subprogram" else None
        if span is not None:
            number = child.attributes.get("DW_AT_decl_file")
            path = files.get(number.value) if number else None
            yield path or _text(top, "DW_AT_name"), *span


def _spans(unit: CompileUnit, top: DIE) -> Iterator[tuple[int, int]]:
    """The address ranges of a unit: one range, or a list."""
    span = _span(top)
    if span is not None:
        yield span
    lists = unit.dwarfinfo.range_lists()
    if "DW_AT_ranges" in top.attributes and lists is not None:
        base = top.attributes["DW_AT_low_pc"].value if "DW_AT_low_pc" in top.attributes else 0
        for entry in lists.get_range_list_at_offset(top.attributes["DW_AT_ranges"].value, unit):
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
            else:
                low = entry.begin_offset + (0 if entry.is_absolute else base)
                yield low, entry.end_offset - entry.begin_offset


def _span(entry: DIE) -> tuple[int, int] | None:
    low, high = (entry.attributes.get(f"DW_AT_{end}_pc") for end in ("low", "high"))
    if low is None or high is None:
        return None
    is_address = high.form == "DW_FORM_addr"
    return low.value, high.value - low.value if is_address else high.value


def _files(unit: CompileUnit) -> Mapping[int, str]:
    """Paths by their number in the unit's line table."""
    program = unit.dwarfinfo.line_program_for_CU(unit)
    if program is None:
        return {}
    header = program.header
    # DWARF 5 counts from 0, with the compilation's own folder first; earlier ones from 1.
    first = 0 if header.version >= 5 else 1
    folders = [_decoded(folder) for folder in header.include_directory]
    found = {}
    for number, entry in enumerate(header.file_entry):
        name = _decoded(entry.name)
        at = entry.dir_index - first
        folder = folders[at] if 0 <= at < len(folders) else ""
        found[number + first] = name if name.startswith("/") or not folder else f"{folder}/{name}"
    return found


def _text(entry: DIE, name: str) -> str:
    found = entry.attributes.get(name)
    return "" if found is None else _decoded(found.value)


def _decoded(text: bytes | str) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
