"""Apps of `firmware/apps/` that are programs for Linux: an ELF that boots the kernel and runs one.

Kernel, busybox, modules and devicetree are those of Debian's packages (`packages`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cyclescope import resources
from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Settings
from cyclescope.errors import FirmwareError, UsageError
from cyclescope.firmware import App, Recipe, app_recipe, build, linux_recipe, with_defaults
from cyclescope.firmware.apps import LinuxSystem
from cyclescope.firmware.recipe import digest as digest_of_recipe
from cyclescope.host import kept, leftovers
from cyclescope.linux import booting, initramfs, kallsyms, kernels, packages
from cyclescope.linux.boards import LinuxBoard
from cyclescope.linux.booting import Names
from cyclescope.linux.initramfs import file
from cyclescope.linux.modules import Modules
from cyclescope.linux.symbols import read_symbols

_Overrides = Mapping[str, OverrideValue]


def build_system(
    app: App, board: str, settings: Settings, overrides: _Overrides | None = None
) -> Path:
    """The ELF that boots an app's Linux on a board, and runs the app's program.

    Raises `FirmwareError` as `build_app` does, `UsageError` if the packages were not brought.
    """
    system = _system(app)
    complete = with_defaults(app.name, settings)
    # before a minute of compiling C's library: a package may be missing
    kernel = kernels.recognised(packages.kernel().read_bytes(), app.name).decompressed
    program = build(linux_recipe(app, board, complete))
    own = [] if kernel.image is None else kallsyms.functions(kernel.image)
    made = Board(board, overrides)
    found = booting.assembled(
        kernel,
        _initramfs(app, board, complete, program, overrides),
        str(_devicetree(system, board)),
        system.command_line,
        Names(own, (read_symbols(program),)),
        LinuxBoard(made.name, made.tree, made.describe()["map"]),
    )
    return _kept(app.name, found.elf)


def digest_of_system(
    app: App, board: str, settings: Settings, overrides: _Overrides | None = None
) -> str:
    """Digest of all inputs of `build_system`; raises the same errors."""
    system = _system(app)
    complete = with_defaults(app.name, settings)
    parts = [digest_of_recipe(linux_recipe(app, board, complete))]
    parts += map(digest_of_recipe, _others(app, board, complete, overrides).values())
    files = (packages.kernel(), packages.busybox(), *_init(system), _devicetree(system, board))
    contents = [path.read_bytes() for path in files]
    contents += [repr(system).encode(), *_modules(system).values()]
    parts += (hashlib.sha256(content).hexdigest() for content in contents)
    return hashlib.sha256("-".join(parts).encode()).hexdigest()


def _system(app: App) -> LinuxSystem:
    if app.linux is None:
        raise FirmwareError(f"app {app.name} is no program for Linux")
    return app.linux


def _others(
    app: App, board: str, settings: Settings, overrides: _Overrides | None
) -> Mapping[str, Recipe]:
    """The recipes of the programs for further cores, by the cores' labels."""
    if not app.programs:
        return {}
    return app_recipe(replace(app, sources=()), board, settings, overrides).programs


def _devicetree(system: LinuxSystem, board: str) -> Path:
    if system.devicetree != packages.DEBIAN:
        raise UsageError(f"devicetree = {system.devicetree!r}: expected {packages.DEBIAN!r}")
    return packages.devicetree(board)


def _init(system: LinuxSystem) -> tuple[Path, Path]:
    """The begin of each app's first program, and the app's own part, which goes on from it."""
    return resources.firmware() / "boot" / "init.sh", resources.firmware() / system.init


def _modules(system: LinuxSystem) -> dict[str, bytes]:
    return Modules.of(packages.modules()).files_of(system.modules)


def _initramfs(
    app: App, board: str, settings: Settings, program: Path, overrides: _Overrides | None
) -> bytes:
    system = _system(app)
    files = _modules(system)
    files[system.program] = program.read_bytes()
    others = _others(app, board, settings, overrides)
    for core, path in system.firmware.items():
        files[path] = build(others[core]).read_bytes()
    base = initramfs.busybox_files(packages.busybox().read_bytes())
    base["init"] = file(b"".join(path.read_bytes() for path in _init(system)))
    return initramfs.archive(base | {path: file(data) for path, data in files.items()})


def _kept(name: str, elf: bytes) -> Path:
    """The cached file of an ELF."""
    folder = resources.cache() / "firmware"
    path = folder / f"{name}-{hashlib.sha256(elf).hexdigest()[:16]}.elf"
    if not kept.is_whole(path):
        folder.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(dir=folder) as scratch:
            output = scratch / path.name
            output.write_bytes(elf)
            kept.keep(output, path)
    return path
