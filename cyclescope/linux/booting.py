"""A bootable program: kernel, devicetree and initrd at their places in RAM, and their start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.linux import (
    executable,
    firmware,
    flattened,
    initramfs,
    kallsyms,
    kernels,
    own_devicetree,
    packages,
    vendor_devicetree,
)
from cyclescope.linux.boards import LinuxBoard, Ram
from cyclescope.linux.chosen import Chosen
from cyclescope.linux.executable import Part
from cyclescope.linux.kallsyms import KernelSymbol
from cyclescope.linux.kernels import Kernel
from cyclescope.linux.modules import Modules
from cyclescope.linux.stub import stub
from cyclescope.linux.symbols import read_symbols

OF_BOARD = "board"
"""The devicetree that is made from the board's own description."""

_MIB = 1 << 20
_PAGE = 4096
_MOST_BYTES = 512 * _MIB
_MOST_DEVICETREE_BYTES = _MIB  # Linux maps as much of it when it starts
# From the start of RAM on, as U-Boot has them on an STM32MP1; further up for a larger kernel.
_ZIMAGE_AT, _DEVICETREE_AT = 32 * _MIB, 64 * _MIB
# The function that switches tasks.
_SWITCH = "__switch_to"


@dataclass(frozen=True)
class Added:
    """Files that the initramfs gets beside its own.

    `modules` are names, and `modules_from` is the folder with the kernel's modules; without it they
    are those of Debian's package. `files` are pairs of a path in the initramfs and a file.
    """

    modules: tuple[str, ...] = ()
    modules_from: str | None = None
    files: tuple[tuple[str, str], ...] = ()

    def contents(self) -> dict[str, bytes]:
        """All of them by their paths. Raises `UsageError`, `OSError`."""
        found: dict[str, bytes] = {}
        if self.modules:
            folder = Path(self.modules_from) if self.modules_from else packages.modules()
            found |= Modules.of(folder).files_of(self.modules)
        return found | {path: _read(given) for path, given in self.files}


@dataclass(frozen=True)
class Request:
    """The files to boot: `devicetree` is "board" or a .dtb, `initrd` a file, a folder, "busybox".

    `symbols` are a kernel's vmlinux and the ELF files of programs with fixed addresses; `added` has
    further files of the initramfs. With `is_decompressed` a zImage is decompressed before it is
    loaded.
    """

    kernel: str
    devicetree: str = OF_BOARD
    initrd: str | None = None
    command_line: str | None = None
    symbols: tuple[str, ...] = ()
    added: Added = Added()
    is_decompressed: bool = False

    @staticmethod
    def named(
        kernel: str,
        devicetree: str,
        initrd: str | None,
        command_line: str | None,
        symbols: tuple[str, ...],
        board: str,
    ) -> Request:
        """A request in which "debian" stands for the files of the package.

        Raises `UsageError` if the package was not brought.
        """
        if kernel == packages.DEBIAN:
            kernel = str(packages.kernel())
        if devicetree == packages.DEBIAN:
            devicetree = str(packages.devicetree(board))
        return Request(kernel, devicetree, initrd, command_line, symbols)

    @property
    def files(self) -> dict[str, str]:
        """The files that are read, each with a description."""
        named = {self.kernel: "the kernel", self.devicetree: "the devicetree"}
        named |= {self.initrd or "": "the initrd"}
        named |= {_named(value)[1]: "a file of symbols" for value in self.symbols}
        named |= {path: "a file of the initramfs" for _, path in self.added.files}
        return {path: what for path, what in named.items() if path and Path(path).is_file()}


@dataclass(frozen=True)
class Bootable:
    """An ELF that boots a kernel, and notes about what was left out."""

    elf: bytes
    notes: tuple[str, ...] = field(default=())


def bootable(request: Request, board: LinuxBoard) -> Bootable:
    """The program for a request on a board.

    Raises `UsageError` if a file is not what it should be, or does not fit into RAM, `OSError` if
    it can't be read, `FirmwareError` if the code that starts the kernel can't be built.
    """
    kernel = kernels.recognised(_read(request.kernel), inputs.printable(request.kernel))
    if request.is_decompressed:
        kernel = kernel.decompressed
    initrd = _initrd(request.initrd, request.added.contents())
    functions, programs = _symbols(request.symbols, kernel)
    names = Names(functions, programs)
    return assembled(kernel, initrd, request.devicetree, request.command_line, names, board)


@dataclass(frozen=True)
class Names:
    """The functions of a kernel, and those of programs with fixed addresses."""

    kernel: Sequence[KernelSymbol]
    programs: Sequence[Sequence[KernelSymbol]] = ()


def assembled(
    kernel: Kernel,
    initrd: bytes,
    devicetree_file: str,
    command_line: str | None,
    names: Names,
    board: LinuxBoard,
) -> Bootable:
    """The program for a kernel and an initrd that were read; raises as `bootable` does."""
    functions, programs = names.kernel, names.programs
    layout = _Layout.of(board.ram, kernel, len(initrd))
    chosen = Chosen(command_line, layout.initrd_range)
    devicetree, notes = _devicetree(devicetree_file, board, chosen)
    code = stub(layout.kernel_at, layout.devicetree_at, board.loader_writes())
    parts = [
        Part.at(layout.stub_at, code, is_code=True),
        *_kernel_parts(kernel, layout, functions),
        Part.at(layout.devicetree_at, devicetree),
        *([Part.at(layout.initrd_at, initrd)] if initrd else []),
    ]
    parts += _program_parts(programs, _up(layout.initrd_at + len(initrd), _PAGE), board.ram)
    symbols = [
        one for found in (_own_symbols(kernel, parts), functions, *programs) for one in found
    ]
    if not any(one.name == _SWITCH for one in functions):
        lacks = "the kernel's kallsyms lack it" if functions else "the kernel has no kallsyms"
        notes += [
            f"profiles will not know the tasks, for want of {_SWITCH}: {lacks}; --symbols vmlinux"
        ]
    carried = list(firmware.carried(initrd, layout.initrd_at, board))
    return Bootable(executable.executable(layout.stub_at, parts, symbols, carried), tuple(notes))


@dataclass(frozen=True)
class _Layout:
    """The addresses of the parts; the kernel's is where its first instruction is."""

    kernel_at: int
    running_at: int
    devicetree_at: int
    stub_at: int
    initrd_at: int
    initrd_bytes: int

    @property
    def initrd_range(self) -> tuple[int, int] | None:
        return (self.initrd_at, self.initrd_at + self.initrd_bytes) if self.initrd_bytes else None

    @staticmethod
    def of(ram: Ram, kernel: Kernel, initrd_bytes: int) -> _Layout:
        """The layout. Raises `UsageError` if the parts do not fit into RAM."""
        running_at = ram.base + kernel.text_offset
        running_end = running_at + kernel.running_bytes
        kernel_at = running_at
        end = running_end
        if kernel.is_compressed:
            # above the running kernel, so that it need not move itself before it decompresses
            kernel_at = max(ram.base + _ZIMAGE_AT, _up(running_end, _MIB))
            end = kernel_at + 2 * len(kernel.data)
        devicetree_at = max(ram.base + _DEVICETREE_AT, _up(end, 2 * _MIB))
        stub_at = devicetree_at + _MOST_DEVICETREE_BYTES
        initrd_at = stub_at + _PAGE
        if initrd_at > ram.end:
            raise UsageError(
                f"{kernel.name}: a kernel of {_mib(kernel.running_bytes)} does not fit into the "
                f"board's RAM of {_mib(ram.size)}"
            )
        if initrd_at + initrd_bytes > ram.end:
            raise UsageError(
                f"--initrd: its {_mib(initrd_bytes)} do not fit into the board's RAM: "
                f"{_mib(ram.end - initrd_at)} of {_mib(ram.size)} are left beside the kernel; "
                "leave out files, or compress it"
            )
        return _Layout(kernel_at, running_at, devicetree_at, stub_at, initrd_at, initrd_bytes)


def _up(address: int, step: int) -> int:
    return address + -address % step


def _mib(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"


def _kernel_parts(kernel: Kernel, layout: _Layout, functions: Sequence[KernelSymbol]) -> list[Part]:
    """The kernel as it is loaded, and where it runs: at virtual addresses, if they are known."""
    runs_at = layout.running_at
    if functions:
        runs_at = (functions[0].address & -kernels.LINKED_PER) + kernel.text_offset
    if not kernel.is_compressed:
        return [Part(layout.kernel_at, runs_at, kernel.data, len(kernel.data))]
    loaded = Part.at(layout.kernel_at, kernel.data)
    if kernel.image is None:
        return [loaded]
    # nothing is loaded there: the part says where functions with names are
    return [loaded, Part(layout.running_at, runs_at, b"", len(kernel.image))]


def _own_symbols(kernel: Kernel, parts: Sequence[Part]) -> list[KernelSymbol]:
    """Names for what runs before the kernel: the stub, and the zImage that decompresses itself."""
    stub, loaded, *_ = parts
    named = [("boot stub", stub), *([("zImage", loaded)] if kernel.is_compressed else [])]
    return [KernelSymbol(part.runs_at, part.memory_bytes, name) for name, part in named]


def _program_parts(
    programs: Sequence[Sequence[KernelSymbol]], free_at: int, ram: Ram
) -> Iterator[Part]:
    """Parts without bytes that say where programs run; Linux loads them wherever it likes."""
    for functions in filter(None, programs):
        begin = functions[0].address
        size = max(one.address + one.size for one in functions) - begin
        if free_at + size <= ram.end:
            yield Part(free_at, begin, b"", size)
            free_at = _up(free_at + size, _PAGE)


def _symbols(
    files: Sequence[str], kernel: Kernel
) -> tuple[list[KernelSymbol], list[list[KernelSymbol]]]:
    """The kernel's functions by virtual addresses, and those of each program that is named."""
    own: list[KernelSymbol] = []
    programs = []
    for name, path in map(_named, files):
        found = read_symbols(Path(path), name)
        if name:
            programs.append(found)
        else:
            own += found
    if not own and kernel.image is not None:
        own = kallsyms.functions(kernel.image)
    return own, programs


def _named(value: str) -> tuple[str, str]:
    """The name of a program, or "" for the kernel, and the path of a file of symbols."""
    name, equals, path = value.partition("=")
    return (name, path) if equals and not Path(value).exists() else ("", value)


def _devicetree(given: str, board: LinuxBoard, chosen: Chosen) -> tuple[bytes, list[str]]:
    """The bytes of the devicetree, and a note on what it has not."""
    if given == OF_BOARD:
        made = own_devicetree.from_board(board, chosen)
        out = ", ".join(made.left_out)
        why = "Linux's drivers need more of them than the board's description has"
        notes = [f"the devicetree of the board leaves out {out}: {why}; --dtb FILE"] if out else []
        return flattened.written(made.tree), notes
    tree = flattened.read(_read(given, _MOST_DEVICETREE_BYTES), inputs.printable(given))
    pruned = vendor_devicetree.pruned(tree, board, chosen)
    names = ", ".join(pruned.disabled)
    notes = [f"{tree.file}: disabled, as they have no model: {names}"] if names else []
    if pruned.added:
        notes.append(f"{tree.file}: added, from the board's: {', '.join(pruned.added)}")
    return flattened.written(tree), notes


def _initrd(given: str | None, added: Mapping[str, bytes]) -> bytes:
    """The bytes of the initrd that an option names, with the files that are added to it."""
    if given is None:
        if added:
            raise UsageError("--modules and --file add to an initramfs: give --initrd, too")
        return b""
    own = _archive(given)
    # Linux looks for the next archive at a multiple of four bytes
    return own + bytes(-len(own) % 4) + initramfs.of_files(added) if added else own


def _archive(given: str) -> bytes:
    """The bytes of the initrd that an option names."""
    path = Path(given)
    if not given:
        raise UsageError("--initrd: the name is empty: leave the option out for no initrd")
    if given == packages.BUSYBOX and not path.exists():
        return initramfs.of_busybox(_read(str(packages.busybox())))
    if path.is_dir():
        return initramfs.of_folder(path)
    data = _read(given)
    if data.startswith(b"\x7fELF"):
        raise UsageError(
            f"--initrd {inputs.printable(given)}: a program, not an archive: put it into a folder "
            "as init, and give the folder"
        )
    return data


def _read(path: str, most_bytes: int = _MOST_BYTES) -> bytes:
    data = inputs.read(Path(path), most_bytes)
    if not data:
        raise UsageError(f"{inputs.printable(path)}: the file is empty")
    return data
