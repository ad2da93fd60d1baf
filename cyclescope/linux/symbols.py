"""Functions of ELF files: a kernel's vmlinux, and programs that run at fixed addresses."""

from __future__ import annotations

import io
from pathlib import Path

from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.linux.kallsyms import VARIABLES, KernelSymbol, distinct

# A vmlinux with debug information has some hundred MiB.
_MOST_BYTES = 2048 << 20
_DYNAMIC = "ET_DYN"
_FUNCTION = "STT_FUNC"


def read_symbols(path: Path, name: str = "") -> list[KernelSymbol]:
    """The functions of a file, sorted; with a program's name, `name:function`.

    Without one, it is a kernel, which has `VARIABLES`, too.

    Raises `UsageError` if it is not an ELF file with symbols and fixed addresses, `OSError` if it
    can't be read.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    shown = inputs.printable(path)
    try:
        elf = ELFFile(io.BytesIO(inputs.read(path, _MOST_BYTES)))
        table = elf.get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            raise UsageError(f"--symbols {shown}: it has no symbols: give the file before strip")
        if elf.header.e_type == _DYNAMIC:
            what = "it has no fixed addresses: link it with -static -no-pie"
            raise UsageError(f"--symbols {shown}: {what}")
        found = [
            KernelSymbol(
                symbol.entry.st_value & ~1,
                symbol.entry.st_size,
                _named(name, symbol.name),
                symbol.entry.st_info.type == _FUNCTION,
            )
            for symbol in table.iter_symbols()
            if symbol.entry.st_value
            and (symbol.entry.st_info.type == _FUNCTION or (not name and symbol.name in VARIABLES))
        ]
    except (ELFError, ValueError, KeyError) as error:
        raise UsageError(f"--symbols {shown}: not an ELF file: {error}") from None
    return distinct(found)


def _named(program: str, function: str) -> str:
    return f"{program}:{function}" if program else function
