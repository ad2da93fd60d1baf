"""Recipes: one program's sources, made into an ELF by `zig cc`, which is kept by content.

The name of the kept ELF is a hash of all that it is made from, so it never goes stale and any
number of processes may build at once. One that was damaged since is built anew (`host.kept`).
Its objects are kept as well, and shared with other programs (`objects`).

A program may carry others, for cores that it starts: their ELFs are built first and linked into it
as data, from `<core>_firmware_start` to `<core>_firmware_end`, as files with everything in them.
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

# What stands in debug information for the folder of kept ELFs, which those that are carried are in.
_BUILT = "built"
# In a linker script; such paths are relative to the folder `firmware`.
_INCLUDED = re.compile(r"^INCLUDE (\S+)", re.MULTILINE)

Folders = tuple[Path, ...]


@dataclass(frozen=True)
class Recipe:
    """What a program is made from; all paths are absolute.

    `crates` are the folders of the crates that it takes sources from, by name and version.
    `programs` are those that it carries, by the label of the core that each is for.
    """

    name: str
    target: str
    mcpu: str
    linker_script: Path
    include: tuple[Path, ...]
    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    crates: Mapping[str, Path] = field(default_factory=dict)
    programs: Mapping[str, Recipe] = field(default_factory=dict)

    def inputs(self) -> list[Path]:
        """Every file that the ELF may depend on, sorted by its portable name."""
        return list(_inputs(*self.places))

    @property
    def places(self) -> tuple[Path, tuple[Path, ...], tuple[Path, ...], objects.Roots, Folders]:
        """What decides which files are its inputs."""
        foreign = tuple(self.crates.values())
        return self.linker_script, self.include, self.sources, self._roots, foreign

    def arguments(self) -> list[str]:
        """What one call of the compiler would need to make the ELF, but for the output."""
        return [
            *self._compiling(),
            *filter(_is_of_linker, self.flags),
            *(str(source) for source in self.sources),
            *self._linking(),
        ]

    def compilations(self) -> list[objects.Source]:
        """Each source with how it is compiled."""
        arguments, roots = tuple(self._compiling()), dict(self._roots)
        optional = frozenset({_BUILT, *self.crates} & roots.keys())
        return [
            objects.Source(source, arguments, self.include, roots, optional)
            for source in self.sources
        ]

    def link(self, linked: Iterable[Path]) -> list[str]:
        """The compiler's arguments to link objects, but for the output."""
        return [
            *self._target(),
            *self.flags,
            *map(str, linked),
            *self._linking(),
        ]

    def with_flags(self, flags: Iterable[str]) -> Recipe:
        """The recipe with further flags behind its own, for the programs that it carries too."""
        programs = {core: inner.with_flags(flags) for core, inner in self.programs.items()}
        return replace(self, flags=(*self.flags, *flags), programs=programs)

    def _target(self) -> list[str]:
        return ["-target", self.target, f"-mcpu={self.mcpu}"]

    def _compiling(self) -> list[str]:
        return [
            *self._target(),
            # paths of this machine would get into the debug information
            *(objects.prefix_map(root, name) for name, root in self._roots),
            # the compiler runs in such a folder: sources there are relative to it
            f"-ffile-prefix-map={resources.firmware().resolve()}/=",
            *(flag for flag in self.flags if not _is_of_linker(flag)),
            # warnings about the headers of others would be errors here
            *(
                f"-isystem{folder}" if self.is_foreign(folder) else f"-I{folder}"
                for folder in self.include
            ),
        ]

    def _linking(self) -> list[str]:
        return [f"-Wl,-T,{self.linker_script}"]

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
        """Whether a folder is of one of the crates."""
        return _is_in(folder, tuple(self.crates.values()))


def build(recipe: Recipe) -> Path:
    """The ELF of a recipe, from the cache if it was built before.

    Raises `FirmwareError` with the compiler's messages.
    """
    try:
        return _build(recipe, _made_folder())
    except OSError as error:
        raise FirmwareError(
            f"{resources.cache()}: no firmware can be built there: {error.strerror}; "
            "CYCLESCOPE_CACHE names another folder"
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
    """The recipe with the ELFs that it carries as sources: they are built."""
    carried = [_carried(core, build(inner)) for core, inner in recipe.programs.items()]
    # they name the ELF without its folder
    flags = (*recipe.flags, f"-I{folder}")
    return replace(recipe, flags=flags, sources=(*recipe.sources, *carried))


def _elf(recipe: Recipe, folder: Path) -> Path:
    """Where a recipe's ELF is kept."""
    return folder / f"{recipe.name}-{_digest(recipe)}.elf"


def is_kept(recipe: Recipe) -> bool:
    """Whether a recipe's ELF was built before, and those that it carries. Raises `FirmwareError`.

    It is not looked at whether it is whole.
    """
    if not all(map(is_kept, recipe.programs.values())):
        return False
    try:
        folder = _made_folder()
        return _elf(_carrying(recipe, folder) if recipe.programs else recipe, folder).is_file()
    except OSError:
        return False


def digest(recipe: Recipe) -> str:
    """Of all that a recipe's ELF is made from, without making it. Raises `FirmwareError`."""
    parts = [_digest(recipe), *(digest(inner) for inner in recipe.programs.values())]
    return "-".join(parts)


def companions(recipe: Recipe) -> dict[str, Path]:
    """The ELFs that a recipe's ELF carries, by the labels of the cores that they are for."""
    return {core: build(inner) for core, inner in recipe.programs.items()}


def _folder() -> Path:
    return (resources.cache() / "firmware").resolve()


def _made_folder() -> Path:
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _carried(core: str, elf: Path) -> Path:
    """A source that makes data of an ELF in `_folder()`; another one for each ELF."""
    source = elf.with_name(f"{elf.stem}.{core}.S")
    text = _CARRIED.format(core=core, elf=elf.name)
    if not kept.is_whole(source):
        with leftovers.scratch(dir=elf.parent) as scratch:
            output = scratch / source.name
            output.write_text(text, encoding="utf-8")
            kept.keep(output, source)
    return source


# On a line of the caches: a loader may copy it by lines.
_CARRIED = """\
    .section .rodata.{core}_firmware, "a", %progbits
    .balign 64
    .globl {core}_firmware_start, {core}_firmware_end
{core}_firmware_start:
    .incbin "{elf}"
{core}_firmware_end:
"""


def _make(recipe: Recipe, output: Path) -> None:
    """Compile what is not kept, as many files at a time as the host has cores, and link."""
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
    """Where a link leads to: asked for each path of each build, so it is looked up once."""
    return path.resolve()


@cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(processors.count(), thread_name_prefix="compiler")


@once
def _inputs(
    linker_script: Path, include: Folders, sources: Folders, roots: objects.Roots, foreign: Folders
) -> tuple[Path, ...]:
    """Every file that an ELF may depend on; `foreign` are the folders of crates."""
    included: set[Path] = set()
    for folder in include:
        # a source of ours may include one of a crate; what is deeper has the crate's version
        is_foreign = _is_in(folder, foreign)
        included.update(folder.glob("*.[chS]") if is_foreign else _headers(folder.rglob("*")))
    for folder in {source.parent for source in sources}:
        if not _is_in(folder, foreign):
            included.update(_headers(folder.glob("*")))
    files = {*_linker_scripts(linker_script), *sources, *included}
    return tuple(sorted(files, key=lambda path: objects.portable(str(path), roots)))


def _linker_scripts(script: Path) -> set[Path]:
    """The linker script, those beside it, which it may include, and what these include."""
    near = {*script.parent.glob("*.ld")}
    named = [name for one in near for name in _INCLUDED.findall(one.read_text("utf-8"))]
    included = {resources.firmware().resolve() / name for name in named}
    # one that is not there is told of where it is read
    return {script} | near | included


def _is_in(folder: Path, roots: Folders) -> bool:
    return any(folder.is_relative_to(root) for root in roots)


def _headers(paths: Iterable[Path]) -> Iterator[Path]:
    """Those that sources include, tables for macros among them."""
    return (path for path in paths if path.suffix in {".h", ".def"})


@once
def _contents(*places: Any) -> bytes:
    """What a recipe's inputs are called on any machine, each with the digest of its bytes.

    Raises `OSError` for one that can't be read.
    """
    digest = bytearray()
    for path in _inputs(*places):
        digest += objects.portable(str(path), places[3]).encode() + b"\0"
        digest += hashlib.sha256(path.read_bytes()).digest()
    return bytes(digest)


def _is_of_linker(flag: str) -> bool:
    """Whether a flag is for linking alone: compiling a file, clang would call it unused."""
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
