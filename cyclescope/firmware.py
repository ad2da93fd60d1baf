"""Firmware: an app's sources in, an ELF out, built by `zig cc` and kept by content.

An app is a folder of `firmware/apps/` with an `app.toml`, a board's compiler settings, runtime and
linker script are in `firmware/boards/<board>/board.toml`; paths in both are relative to
`firmware/`, or to a crate that carries C sources. An app may also be ELFs that were built before,
one of which its settings name.

The name of the kept ELF is a hash of all that it is made from, so it never goes stale and any
number of processes may build at once.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from cyclescope import crates, resources
from cyclescope.errors import FirmwareError
from cyclescope.records import Records, records
from cyclescope.results import Settings, Value
from cyclescope.settings import SettingKind, defines, kinds, paths


@dataclass(frozen=True)
class Recipe:
    """What one call of the compiler needs; all paths are absolute.

    `crates` are the folders of the crates that it takes sources from, by name and version.
    """

    name: str
    target: str
    mcpu: str
    linker_script: Path
    include: tuple[Path, ...]
    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    crates: Mapping[str, Path] = field(default_factory=dict)

    def inputs(self) -> list[Path]:
        """Every file that the ELF may depend on, sorted by its portable name."""
        included: set[Path] = set()
        for folder in self.include:
            # a source of ours may include one of a crate; what is deeper has the crate's version
            foreign = self._is_foreign(folder)
            included.update(folder.glob("*.[chS]") if foreign else folder.rglob("*.h"))
        # one linker script may include others beside it
        scripts = self.linker_script.parent.glob("*.ld")
        files = {self.linker_script, *scripts, *self.sources, *included}
        return sorted(files, key=lambda path: self.portable(str(path)))

    def arguments(self) -> list[str]:
        """The compiler's arguments but for the output."""
        return [
            *("-target", self.target, f"-mcpu={self.mcpu}"),
            # paths of this machine would get into the debug information
            *(f"-ffile-prefix-map={root}={name}" for name, root in self._roots().items()),
            # the compiler runs in such a folder: sources there are relative to it
            f"-ffile-prefix-map={resources.firmware().resolve()}/=",
            *self.flags,
            # warnings about the headers of others would be errors here
            *(
                f"-isystem{folder}" if self._is_foreign(folder) else f"-I{folder}"
                for folder in self.include
            ),
            *(str(source) for source in self.sources),
            f"-Wl,-T,{self.linker_script}",
        ]

    def portable(self, text: str) -> str:
        """A text with paths, as it would be on any machine."""
        for name, root in self._roots().items():
            text = text.replace(str(root), name)
        return text

    def _roots(self) -> dict[str, Path]:
        return {"firmware": resources.firmware().resolve(), **self.crates}

    def _is_foreign(self, folder: Path) -> bool:
        return any(folder.is_relative_to(root) for root in self.crates.values())


@dataclass(frozen=True)
class App:
    """An app as its `app.toml` describes it.

    Paths in `include` and `sources` are relative to `firmware/`, or begin with the name of one of
    its `crates` in braces. `prebuilt` is the path of its ELF, with settings in braces, if it is not
    built here; `records` is the form of the results that it gives as words. `paths` are
    further paths by which `--set` takes settings ("fatfs.write-order"), with the settings' names.
    """

    name: str
    include: tuple[str, ...]
    sources: tuple[str, ...]
    settings: Mapping[str, SettingKind]
    crates: tuple[str, ...] = ()
    prebuilt: str | None = None
    records: Records | None = None
    paths: Mapping[str, str] = field(default_factory=dict)


@cache
def load_app(name: str) -> App:
    """An app of `firmware/apps/`. Raises `FirmwareError` if there is none."""
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
    )


def with_defaults(app: str, settings: Settings) -> dict[str, Value]:
    """All settings of an app, those that are not given at their defaults.

    Raises `FirmwareError` for a setting that the app does not have or a value it does not allow.
    """
    declared = load_app(app).settings
    for name, value in settings.items():
        if name not in declared or declared[name].parse(str(value)) is None:
            allowed = declared.get(name, f"the settings {', '.join(declared) or 'none'}")
            raise FirmwareError(f"app {app}: {name}={value}: allowed: {allowed}")
    return {name: settings.get(name, kind.default) for name, kind in declared.items()}


def build_app(app: str, board: str, settings: Settings) -> Path:
    """The ELF of an app of `firmware/apps/` for a board, built with settings or built before.

    Raises `FirmwareError` if there is no such app, board, setting or prebuilt ELF, or with the
    compiler's messages.
    """
    found = load_app(app)
    complete = with_defaults(app, settings)
    if found.prebuilt is not None:
        elf = _prebuilt_path(found.prebuilt, complete)
        if not elf.is_file():
            raise FirmwareError(f"app {app} has no {elf.name}")
        return elf
    return build(app_recipe(found, board, complete))


def app_recipe(app: App, board: str, settings: Settings) -> Recipe:
    """How to build an app for a board with settings, all of them given.

    Raises `FirmwareError` if the board has no build description or a crate of the app can't be had.
    """
    folders = {name: crates.folder(name) for name in app.crates}
    try:
        sources, include = _placed(app.sources, folders), _placed(app.include, folders)
    except KeyError as absent:
        raise FirmwareError(f"app {app.name}: {absent} is not among its crates") from absent
    recipe = board_recipe(app.name, board, sources, settings=settings, include=include)
    named = {crates.versioned_name(name): folder for name, folder in folders.items()}
    return replace(recipe, crates=named)


def _placed(paths: Iterable[str], folders: Mapping[str, Path]) -> list[Path]:
    """Paths of an `app.toml` as absolute ones."""
    root = resources.firmware().resolve()
    return [root / path.format_map(folders) for path in paths]


def is_available(app: str, settings: Settings) -> bool:
    """Whether an app can be built, or was built before, with these settings, all of them given."""
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
) -> Recipe:
    """How to build sources for a board, with its runtime.

    `settings` are a program's own; what else the board's programs may set has its value there.
    Raises `FirmwareError` if the board has no build description.
    """
    root = resources.firmware().resolve()
    description = _read_toml(root / "boards" / board / "board.toml", f"board {board}")
    toolchain = description["toolchain"]
    chosen = {**description.get("settings", {}), **(settings or {})}
    defined = {**defines(chosen), **(macros or {})}
    linker_script = root / toolchain["linker-script"].format_map(chosen)
    runtime = [root / source for source in description["runtime"]["sources"]]
    return Recipe(
        name=name,
        target=toolchain["target"],
        mcpu=toolchain["mcpu"],
        linker_script=linker_script,
        include=(*(root / path for path in toolchain["include"]), *_resolved(include)),
        flags=(
            *(flag.format_map(chosen) for flag in toolchain["cflags"]),
            *toolchain["ldflags"],
            *(f"-D{macro}={value}" for macro, value in defined.items()),
        ),
        sources=(*runtime, *_resolved(sources)),
    )


def build(recipe: Recipe) -> Path:
    """The ELF of a recipe, from the cache if it was built before.

    Raises `FirmwareError` with the compiler's messages.
    """
    folder = resources.cache() / "firmware"
    elf = folder / f"{recipe.name}-{_digest(recipe)}.elf"
    if elf.is_file():
        return elf
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        output = Path(scratch) / elf.name
        _compile(recipe, output)
        output.replace(elf)  # another process may have built the same: either will do
    return elf


def _compile(recipe: Recipe, output: Path) -> None:
    zig_cache = (resources.cache() / "zig").absolute()
    environment = os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": str(zig_cache),
        "ZIG_LOCAL_CACHE_DIR": str(zig_cache),
    }
    output = output.absolute()
    command = [sys.executable, "-m", "ziglang", "cc", *recipe.arguments(), "-o", str(output)]
    done = subprocess.run(
        command,
        cwd=resources.firmware(),  # what a linker script's INCLUDE is relative to
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0 or not output.is_file():
        messages = done.stderr.decode(errors="replace").strip() or "the compiler said nothing"
        raise FirmwareError(f"{recipe.name}: the firmware does not build:\n{messages}")


def _digest(recipe: Recipe) -> str:
    digest = hashlib.sha256(importlib.metadata.version("ziglang").encode())
    for text in recipe.arguments():
        digest.update(recipe.portable(text).encode() + b"\0")
    for path in recipe.inputs():
        digest.update(recipe.portable(str(path)).encode() + b"\0")
        try:
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        except OSError as error:
            raise FirmwareError(f"{recipe.name}: {path}: {error.strerror}") from error
    return digest.hexdigest()[:16]


def _read_toml(path: Path, what: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FirmwareError(f"{what}: {path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise FirmwareError(f"{path}: {error}") from error


def _resolved(paths: Iterable[Path]) -> Sequence[Path]:
    return [path.resolve() for path in paths]
