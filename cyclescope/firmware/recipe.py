"""Recipes: one program's sources, built into an ELF by `zig cc` and cached by content.

The name of the cached ELF has a hash of all its inputs, so it never goes stale and any number of
processes may build at once. A damaged ELF is built again (`host.kept`). Its objects are cached as
well, and shared with other programs (`objects`).

A program may contain others, for cores that it starts: their ELFs are built first and linked into
it as data, complete files from `<core>_firmware_start` to `<core>_firmware_end`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import ziglang

from cyclescope import resources
from cyclescope.errors import FirmwareError
from cyclescope.firmware import compiler_cache, objects
from cyclescope.firmware.once import once
from cyclescope.host import kept, leftovers, processors

# The name in debug information for the folder of cached ELFs, which holds the contained ELFs.
_BUILT = "built"
# An inclusion in a linker script; its path is relative to the folder `firmware`.
_INCLUDED = re.compile(r"^INCLUDE (\S+)", re.MULTILINE)

Folders = tuple[Path, ...]


@dataclass(frozen=True)
class Recipe:
    """The inputs of a program; all paths are absolute.

    Without a linker script the compiler's own for the target counts, as for a program for Linux.
    `crates` are the folders of the crates with sources of the program, by name and version.
    `programs` are the contained programs, by the labels of their cores.
    """

    name: str
    target: str
    mcpu: str
    linker_script: Path | None
    include: tuple[Path, ...]
    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    crates: Mapping[str, Path] = field(default_factory=dict)
    programs: Mapping[str, Recipe] = field(default_factory=dict)

    def inputs(self) -> list[Path]:
        """Every file that the ELF may depend on, sorted by its portable name."""
        return list(_inputs(*self.places))

    @property
    def places(
        self,
    ) -> tuple[Path | None, tuple[Path, ...], tuple[Path, ...], objects.Roots, Folders]:
        """The values that determine the recipe's input files."""
        foreign = tuple(self.crates.values())
        return self.linker_script, self.include, self.sources, self._roots, foreign

    def arguments(self) -> list[str]:
        """The arguments of a single compiler call that would make the ELF, except the output."""
        return [
            *self._compiling(),
            *filter(_is_of_linker, self.flags),
            *(str(source) for source in self.sources),
            *self._linking(),
        ]

    def compilations(self) -> list[objects.Source]:
        """Each source with its compiler arguments."""
        arguments, roots = tuple(self._compiling()), dict(self._roots)
        optional = frozenset({_BUILT, *self.crates} & roots.keys())
        return [
            objects.Source(source, arguments, self.include, roots, optional)
            for source in self.sources
        ]

    def link(self, linked: Iterable[Path]) -> list[str]:
        """The compiler's arguments to link objects, except the output."""
        return [
            *self._target(),
            *self.flags,
            *map(str, linked),
            *self._linking(),
        ]

    def with_flags(self, flags: Iterable[str]) -> Recipe:
        """The recipe with further flags after its own, also for the contained programs."""
        programs = {core: inner.with_flags(flags) for core, inner in self.programs.items()}
        return replace(self, flags=(*self.flags, *flags), programs=programs)

    def _target(self) -> list[str]:
        return ["-target", self.target, f"-mcpu={self.mcpu}"]

    def _compiling(self) -> list[str]:
        return [
            *self._target(),
            # without this, the debug information would have paths of this machine
            *(objects.prefix_map(root, name) for name, root in self._roots),
            # the compiler runs in this folder: its sources have relative paths
            f"-ffile-prefix-map={resources.firmware().resolve()}/=",
            *(flag for flag in self.flags if not _is_of_linker(flag)),
            # -isystem: warnings about third-party headers would be errors
            *(
                f"-isystem{folder}" if self.is_foreign(folder) else f"-I{folder}"
                for folder in self.include
            ),
        ]

    def _linking(self) -> list[str]:
        return [] if self.linker_script is None else [f"-Wl,-T,{self.linker_script}"]

    def portable(self, text: str) -> str:
        """A text with paths, as it would be on any machine."""
        return objects.portable(text, self._roots)

    @cached_property
    def _roots(self) -> objects.Roots:
        built = {_BUILT: _folder()} if self.programs else {}
        # debug information names the compiler's own headers, such as stdint.h
        own = {"ziglang": _resolved(Path(ziglang.__file__)).parent}
        named = {"firmware": _resolved(resources.firmware()), **own, **built, **self.crates}
        return tuple(named.items())

    def is_foreign(self, folder: Path) -> bool:
        """Whether a folder belongs to a crate."""
        return _is_in(folder, tuple(self.crates.values()))


def build(recipe: Recipe) -> Path:
    """The ELF of a recipe, from the cache if possible.

    Raises `FirmwareError` with the compiler's messages.
    """
    try:
        return _build(recipe, _made_folder())
    except OSError as error:
        raise FirmwareError(
            f"{resources.cache()}: can't build firmware there: {error.strerror}; "
            "set CYCLESCOPE_CACHE to another folder"
        ) from error


def _build(recipe: Recipe, folder: Path) -> Path:
    if recipe.programs:
        recipe = _carrying(recipe, folder)
    elf = _elf(recipe, folder)
    with objects.alone(elf):
        if not kept.is_whole(elf):
            if elf.exists():
                # what damaged it may have damaged what the compiler keeps
                compiler_cache.distrust()
            with leftovers.scratch(dir=folder) as scratch:
                output = scratch / elf.name
                _make(recipe, output)
                kept.keep(output, elf)
    return elf


def _carrying(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe with the contained ELFs, which are built, as sources."""
    carried = [_carried(core, build(inner)) for core, inner in recipe.programs.items()]
    # the sources name the ELF without its folder
    flags = (*recipe.flags, f"-I{folder}")
    return replace(recipe, flags=flags, sources=(*recipe.sources, *carried))


def _elf(recipe: Recipe, folder: Path) -> Path:
    """The path of a recipe's ELF in the cache."""
    return folder / f"{recipe.name}-{_digest(recipe)}.elf"


def is_kept(recipe: Recipe) -> bool:
    """Whether a recipe's ELF and the contained ELFs are in the cache. Raises `FirmwareError`.

    Their contents are not checked.
    """
    if not all(map(is_kept, recipe.programs.values())):
        return False
    try:
        folder = _made_folder()
        return _elf(_carrying(recipe, folder) if recipe.programs else recipe, folder).is_file()
    except OSError:
        return False


def digest(recipe: Recipe) -> str:
    """Digest of all inputs of a recipe's ELF, without building it. Raises `FirmwareError`."""
    parts = [_digest(recipe), *(digest(inner) for inner in recipe.programs.values())]
    return "-".join(parts)


def companions(recipe: Recipe) -> dict[str, Path]:
    """The ELFs that a recipe's ELF contains, by the labels of their cores."""
    return {core: build(inner) for core, inner in recipe.programs.items()}


def _folder() -> Path:
    return (resources.cache() / "firmware").resolve()


def _made_folder() -> Path:
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _carried(core: str, elf: Path) -> Path:
    """A source that includes an ELF of `_folder()` as data; each ELF has its own source."""
    source = elf.with_name(f"{elf.stem}.{core}.S")
    text = _CARRIED.format(core=core, elf=elf.name)
    if not kept.is_whole(source):
        with leftovers.scratch(dir=elf.parent) as scratch:
            output = scratch / source.name
            output.write_text(text, encoding="utf-8")
            kept.keep(output, source)
    return source


# Aligned to a cache line: a loader may copy it by lines.
_CARRIED = """\
    .section .rodata.{core}_firmware, "a", %progbits
    .balign 64
    .globl {core}_firmware_start, {core}_firmware_end
{core}_firmware_start:
    .incbin "{elf}"
{core}_firmware_end:
"""


def _make(recipe: Recipe, output: Path) -> None:
    """Compile objects that are not cached, one for each core of the host at a time, and link."""
    found = [_compilers().submit(objects.compiled, source) for source in recipe.compilations()]
    errors = [error for future in found if (error := future.exception())]
    try:
        for error in errors:
            if not isinstance(error, FirmwareError):
                raise error
        if errors:
            raise FirmwareError("\n".join(map(str, errors)))
        objects.run_compiler(recipe.link(future.result() for future in found), output)
    except FirmwareError as error:
        raise FirmwareError(f"{recipe.name}: the firmware does not build:\n{error}") from error


@cache
def _resolved(path: Path) -> Path:
    """The target of a link; looked up once, as each build asks for each of its paths."""
    return path.resolve()


@cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(processors.count(), thread_name_prefix="compiler")


@once
def _inputs(
    linker_script: Path | None,
    include: Folders,
    sources: Folders,
    roots: objects.Roots,
    foreign: Folders,
) -> tuple[Path, ...]:
    """Every file that an ELF may depend on; `foreign` are the folders of crates."""
    included: set[Path] = set()
    for folder in include:
        # our sources may include files of a crate, whose own files are covered by its version
        is_foreign = _is_in(folder, foreign)
        included.update(folder.glob("*.[chS]") if is_foreign else _headers(folder.rglob("*")))
    for folder in {source.parent for source in sources}:
        if not _is_in(folder, foreign):
            included.update(_headers(folder.glob("*")))
    files = {*_linker_scripts(linker_script), *sources, *included}
    return tuple(sorted(files, key=lambda path: objects.portable(str(path), roots)))


def _linker_scripts(script: Path | None) -> set[Path]:
    """The linker script, the scripts in its folder, which it may include, and their inclusions."""
    if script is None:
        return set()
    siblings = {*script.parent.glob("*.ld")}
    named = [name for one in siblings for name in _INCLUDED.findall(one.read_text("utf-8"))]
    included = {resources.firmware().resolve() / name for name in named}
    # a missing script is an error when it is read
    return {script} | siblings | included


def _is_in(folder: Path, roots: Folders) -> bool:
    return any(folder.is_relative_to(root) for root in roots)


def _headers(paths: Iterable[Path]) -> Iterator[Path]:
    """Headers for sources, including tables for macros."""
    return (path for path in paths if path.suffix in {".h", ".def"})


@once
def _contents(*places: Any) -> bytes:
    """The machine-independent names of a recipe's inputs, each with the digest of its bytes.

    Raises `OSError` for a file that can't be read.
    """
    digest = bytearray()
    for path in _inputs(*places):
        digest += objects.portable(str(path), places[3]).encode() + b"\0"
        digest += hashlib.sha256(path.read_bytes()).digest()
    return bytes(digest)


def _is_of_linker(flag: str) -> bool:
    """Whether a flag is only for linking: clang would warn that it is unused in a compilation."""
    return flag.startswith("-Wl,") or flag in ("-nostdlib", "-static")


def _digest(recipe: Recipe) -> str:
    digest = hashlib.sha256(objects.zig_version().encode())
    for text in recipe.arguments():
        digest.update(recipe.portable(text).encode() + b"\0")
    try:
        digest.update(_contents(*recipe.places))
    except OSError as error:
        raise FirmwareError(f"{recipe.name}: {error.filename}: {error.strerror}") from error
    return digest.hexdigest()[:16]
