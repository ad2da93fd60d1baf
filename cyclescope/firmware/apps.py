"""Firmware: an app's sources in, an ELF out (`recipe` builds it).

An app is a folder of `firmware/apps/` with an `app.toml`, a board's compiler settings, runtime and
linker script are in `firmware/boards/<board>/board.toml`; paths in both are relative to
`firmware/`, or to a crate that carries C sources. An app may also consist of prebuilt ELFs, from
which its settings select one.

An app may have programs for further cores of a board. The program of the first core contains their
ELFs and starts the cores; settings apply to all programs.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from cyclescope import resources
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Settings, Value
from cyclescope.errors import FirmwareError
from cyclescope.firmware import clocks, crates
from cyclescope.firmware.once import once
from cyclescope.firmware.recipe import Recipe, companions, digest, is_kept
from cyclescope.firmware.recipe import build as build
from cyclescope.firmware.records import Records, records
from cyclescope.firmware.settings import SettingKind, defines, kinds, paths


@dataclass(frozen=True)
class Program:
    """An app's program for a further core; paths as in `App`."""

    include: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class LinuxSystem:
    """The Linux that an app's program runs on, from the table `[linux]`.

    `devicetree` is as for `cyclescope boot --dtb`. `init` is the script, relative to `firmware/`,
    with which the first program goes on after `boot/init.sh`. Other paths are those in the
    initramfs: of the `program`, and of the `firmware` that further cores get, by the cores' labels.
    `modules` are those of the kernel.
    """

    devicetree: str
    init: str
    program: str
    modules: tuple[str, ...]
    firmware: Mapping[str, str]
    command_line: str


@dataclass(frozen=True)
class App:
    """An app, from its `app.toml`.

    Paths in `include` and `sources` are relative to `firmware/`, or begin with the name of one of
    its `crates` in braces. `prebuilt` is the path of a prebuilt ELF, with settings in braces;
    `records` is the format of results that are words. `paths` are further paths of settings for
    `--set` ("fatfs.write-order"), with the settings' names. `programs` are the programs for further
    cores, by the cores' labels. An app with `linux` is a program for Linux: `cyclescope.linux`
    makes what boots, from the kernel of a package.
    """

    name: str
    include: tuple[str, ...]
    sources: tuple[str, ...]
    settings: Mapping[str, SettingKind]
    crates: tuple[str, ...] = ()
    prebuilt: str | None = None
    records: Records | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, Program] = field(default_factory=dict)
    description: str = ""
    linux: LinuxSystem | None = None


@cache
def load_app(name: str) -> App:
    """An app of `firmware/apps/`. Raises `FirmwareError` if there is no such app."""
    path = resources.firmware() / "apps" / name / "app.toml"
    description = _read_toml(path, f"app {name}")
    app = description["app"]
    return App(
        name=name,
        include=(f"apps/{name}", *app.get("include", [])),
        sources=tuple(app.get("sources", [])),
        settings=kinds(description.get("settings", {})),
        crates=tuple(app.get("crates", [])),
        prebuilt=app.get("prebuilt"),
        records=records(description["results"]) if "results" in description else None,
        paths=paths(description.get("settings", {})),
        programs={
            core: Program(
                include=(f"apps/{name}", *program.get("include", [])),
                sources=tuple(program["sources"]),
            )
            for core, program in description.get("programs", {}).items()
        },
        description=app.get("description", ""),
        linux=_linux(description.get("linux")),
    )


def _linux(table: Mapping[str, Any] | None) -> LinuxSystem | None:
    if table is None:
        return None
    return LinuxSystem(
        devicetree=table["devicetree"],
        init=table["init"],
        program=table["program"],
        modules=tuple(table["modules"]),
        firmware=dict(table.get("firmware", {})),
        command_line=table["command_line"],
    )


def with_defaults(app: str, settings: Settings) -> dict[str, Value]:
    """All settings of an app; those that are not given have their defaults.

    Raises `FirmwareError` for a setting that the app does not have or a value it does not allow.
    """
    declared = load_app(app).settings
    for name, value in settings.items():
        if name not in declared or declared[name].parse(str(value)) is None:
            allowed = declared.get(name, f"the settings {', '.join(declared) or 'none'}")
            raise FirmwareError(f"app {app}: {name}={value}: expected {allowed}")
    return {name: settings.get(name, kind.default) for name, kind in declared.items()}


Overrides = Mapping[str, OverrideValue]


def build_app(
    app: str,
    board: str,
    settings: Settings,
    overrides: Overrides | None = None,
    flags: Sequence[str] = (),
) -> Path:
    """The ELF of an app of `firmware/apps/` for a board, built with settings or prebuilt.

    `overrides` are the board's overrides: a program is built for its clocks. `flags` are passed to
    the compiler after the flags of the board and the app. Raises `FirmwareError` if there is no
    such app, board, setting or prebuilt ELF, or with the compiler's messages.
    """
    found = load_app(app)
    complete = with_defaults(app, settings)
    if found.prebuilt is not None:
        if flags:
            raise FirmwareError(
                f"app {app} is prebuilt: it takes no compiler flags {' '.join(flags)}"
            )
        elf = _prebuilt_path(found.prebuilt, complete)
        if not elf.is_file():
            raise FirmwareError(f"app {app} has no {elf.name}")
        return elf
    return build(app_recipe(found, board, complete, overrides).with_flags(flags))


def shipped_elf(app: str, board: str) -> Path:
    """The shipped ELF of an app for a board, built with default settings.

    Raises `FirmwareError` if the app has no shipped ELF for the board.
    """
    elf = resources.firmware().resolve() / "apps" / app / f"{board}.elf"
    if not elf.is_file():
        raise FirmwareError(f"app {app} has no ELF for {board}: {elf} does not exist")
    return elf


def unbuilt(
    app: str, board: str, settings: Settings, overrides: Overrides | None = None
) -> str | None:
    """The digest of the ELF that `build_app` would have to build; None if it is in the cache.

    Of a program for Linux it is unknown (None): the package `linux` builds it.

    Raises `FirmwareError` as `build_app` does.
    """
    found = load_app(app)
    if found.prebuilt is not None or found.linux is not None:
        return None
    recipe = app_recipe(found, board, with_defaults(app, settings), overrides)
    return None if is_kept(recipe) else digest(recipe)


def digest_of(
    app: str,
    board: str,
    settings: Settings,
    overrides: Overrides | None = None,
    flags: Sequence[str] = (),
) -> str:
    """Digest of all inputs of `build_app`, without building; raises the same errors."""
    found = load_app(app)
    complete = with_defaults(app, settings)
    if found.prebuilt is not None:
        return hashlib.sha256(
            build_app(app, board, complete, overrides, flags).read_bytes()
        ).hexdigest()
    return digest(app_recipe(found, board, complete, overrides).with_flags(flags))


def companions_of(
    app: str, board: str, settings: Settings, overrides: Overrides | None = None
) -> dict[str, Path]:
    """The ELFs for further cores in an app's ELF, by the labels of the cores.

    Raises `FirmwareError` as `build_app` does.
    """
    found = load_app(app)
    if found.prebuilt is not None:
        return {}
    return companions(app_recipe(found, board, with_defaults(app, settings), overrides))


def app_recipe(
    app: App, board: str, settings: Settings, overrides: Overrides | None = None
) -> Recipe:
    """The recipe of an app for a board, with all settings given.

    Raises `FirmwareError` if the board has no build description, or a crate of the app can't be
    fetched.
    """
    folders = {name: crates.folder(name) for name in app.crates}

    def recipe(name: str, program: App | Program, core: str | None = None) -> Recipe:
        try:
            sources = _placed(program.sources, folders)
            include = _placed(program.include, folders)
        except KeyError as absent:
            raise FirmwareError(f"app {app.name}: its app.toml lists no crate {absent}") from absent
        return replace(
            board_recipe(
                name,
                board,
                sources,
                settings=settings,
                include=include,
                core=core,
                overrides=overrides,
            ),
            crates={crates.versioned_name(crate): place for crate, place in folders.items()},
        )

    carried = {
        core: recipe(f"{app.name}-{core}", program, core) for core, program in app.programs.items()
    }
    return replace(recipe(app.name, app), programs=carried)


def linux_recipe(app: App, board: str, settings: Settings) -> Recipe:
    """The recipe of an app's program for Linux on a board, with all settings given.

    Raises `FirmwareError` if the board has no build description for such programs.
    """
    description = _board_toml(board).get("linux", {})
    if "as" in description:
        description = _board_toml(description["as"]).get("linux", {})
    if "toolchain" not in description:
        raise FirmwareError(f"board {board}: its board.toml has no toolchain for Linux")
    toolchain = description["toolchain"]
    return Recipe(
        name=app.name,
        target=toolchain["target"],
        mcpu=toolchain["mcpu"],
        linker_script=None,
        include=tuple(_resolved(_placed(app.include, {}))),
        flags=(
            *toolchain["cflags"],
            *toolchain["ldflags"],
            *(f"-D{macro}={value}" for macro, value in defines(settings).items()),
        ),
        sources=tuple(_resolved(_placed(app.sources, {}))),
    )


def _placed(paths: Iterable[str], folders: Mapping[str, Path]) -> list[Path]:
    """Absolute paths from the paths of an `app.toml`."""
    root = resources.firmware().resolve()
    return [root / path.format_map(folders) for path in paths]


def is_available(app: str, settings: Settings) -> bool:
    """Whether an app can be built, or is prebuilt, with these settings, all of them given."""
    prebuilt = load_app(app).prebuilt
    return prebuilt is None or _prebuilt_path(prebuilt, settings).is_file()


def _prebuilt_path(prebuilt: str, settings: Settings) -> Path:
    return resources.firmware().resolve() / prebuilt.format_map(settings)


def board_recipe(
    name: str,
    board: str,
    sources: Iterable[Path],
    macros: Mapping[str, str] | None = None,
    include: Iterable[Path] = (),
    settings: Settings | None = None,
    core: str | None = None,
    overrides: Overrides | None = None,
) -> Recipe:
    """The recipe of sources for a board, with its runtime; `core` is the label of a further core.

    `settings` are the program's own; other settings of the board have their default values.
    `overrides` are the board's overrides. Raises `FirmwareError` if the board has no build
    description for this core.
    """
    root = resources.firmware().resolve()
    description = _board_toml(board)
    own = description if core is None else description.get("cores", {}).get(core)
    if own is None or "toolchain" not in own:
        of_core = f"core {core}" if core else "toolchain for firmware"
        raise FirmwareError(f"board {board}: its board.toml has no {of_core}")
    toolchain = own["toolchain"]
    chosen = {**description.get("settings", {}), **(settings or {})}
    frequencies = clocks.macros(board, description.get("clocks", {}), overrides or {})
    defined = {**defines(chosen), **frequencies, **(macros or {})}
    linker_script = root / toolchain["linker-script"].format_map(chosen)
    by_setting = toolchain.get("features", {})
    features = [words[str(chosen[setting])] for setting, words in by_setting.items()]
    runtime = [root / source for source in own["runtime"]["sources"]]
    return Recipe(
        name=name,
        target=toolchain["target"],
        mcpu=toolchain["mcpu"] + "".join(features),
        linker_script=linker_script,
        include=(*(root / path for path in toolchain["include"]), *_resolved(include)),
        flags=(
            *(flag.format_map(chosen) for flag in toolchain["cflags"]),
            *toolchain["ldflags"],
            *(f"-D{macro}={value}" for macro, value in defined.items()),
        ),
        sources=(*runtime, *_resolved(sources)),
    )


def _board_toml(board: str) -> dict[str, Any]:
    """The build description of a board. Raises `FirmwareError` if it has none."""
    path = resources.firmware().resolve() / "boards" / board / "board.toml"
    return _read_toml(path, f"board {board}")


@once
def _read_toml(path: Path, what: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FirmwareError(f"{what}: {path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise FirmwareError(f"{path}: {error}") from error


def _resolved(paths: Iterable[Path]) -> Sequence[Path]:
    return list(map(_resolved_path, paths))


@once
def _resolved_path(path: Path) -> Path:
    return path.resolve()
