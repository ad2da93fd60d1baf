"""Object files of C and assembly sources, cached by content and shared between programs.

A program's settings are macros (`-DAPP_LOOPS=50000`), and few files mention any of them: an
object's key has only the macros that *it* depends on, so 126 builds of one app compile most of its
files once. The dependencies of a file are found in its text and in all files that it includes,
ignoring conditions: a header too many does no harm, a missing one does (`mentions`).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import ziglang

from cyclescope import resources
from cyclescope.errors import FirmwareError
from cyclescope.firmware import compiler_cache
from cyclescope.firmware.mentions import Words, may_name, mentioned, mentions, words
from cyclescope.firmware.once import once, unchanging
from cyclescope.host import kept, leftovers

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(?:include|include_next|embed)\b[ \t]*(.*)$", re.MULTILINE)
_NAMED = re.compile(rb'["<]([^">\n]+)[">]')

Roots = tuple[tuple[str, Path], ...]
"""Folders with the names that stand for them in a key, which is the same on any machine."""


@dataclass(frozen=True)
class Source:
    """A source file with the compiler's arguments, except the file and the output.

    `include` are the folders in which headers are searched, in order.
    """

    path: Path
    arguments: tuple[str, ...]
    include: tuple[Path, ...]
    roots: Mapping[str, Path]
    """Folders by the names that stand for them in a key, which is the same on any machine."""
    optional: frozenset[str] = frozenset()
    """The roots that matter only if the file or one that it includes lies in them."""

    def relevant(self) -> list[str]:
        """The arguments without those that can't have an effect.

        Left out are macros that the file and its headers do not mention, and folders without any of
        the files: so programs with different folders share an object.
        """
        values = " ".join(flag.partition("=")[2] for flag in self.arguments)
        # a macro's value may name another macro
        named = _mentioned(self.path, self.include, words(values.encode()))
        folders = frozenset(self._of_folders_without_files())
        return [flag for flag in self.arguments if flag not in folders and _may_matter(flag, named)]

    def searched(self) -> list[Path]:
        """The folders of `include` in which one of the headers may lie."""
        return [folder for folder in self.include if self._has_files(folder)]

    def _of_folders_without_files(self) -> Iterator[str]:
        """The arguments that name a folder without a file of the closure."""
        for folder in self.include:
            if not self._has_files(folder):
                yield from (f"-I{folder}", f"-isystem{folder}")
        for name in self.optional:
            if not self._has_files(self.roots[name]):
                yield prefix_map(self.roots[name], name)

    def _has_files(self, folder: Path) -> bool:
        return folder in _folders_with_files(self.path, self.include)

    def closure(self) -> list[Path]:
        """The file and all files that it may include, directly or indirectly.

        Raises `FirmwareError` if one of them can't be read.
        """
        return list(_closure(self.path, self.include))

    def key(self, relevant: Iterable[str]) -> str:
        """The object's key in the cache: a hash of all its inputs."""
        digest = hashlib.sha256(zig_version().encode())
        roots = tuple(self.roots.items())
        for flag in (*relevant, *map(str, self.searched())):
            digest.update(portable(flag, roots).encode() + b"\0")
        digest.update(_contents(_closure(self.path, self.include), roots))
        return digest.hexdigest()[:24]


def compiled(source: Source) -> Path:
    """The object of a source, from the cache if possible.

    Raises `FirmwareError` with the compiler's messages alone, `OSError` if it can't be cached.
    """
    folder = resources.cache().absolute() / "objects"
    # the following code reads the same files many times
    with unchanging():
        relevant = tuple(source.relevant())
        path = folder / f"{source.path.stem}-{source.key(relevant)}.o"
    with alone(path):
        return _kept_object(path, source.path, relevant)


@once
def _kept_object(path: Path, source: Path, arguments: tuple[str, ...]) -> Path:
    """The path of an object; it is compiled if it is missing or damaged."""
    if not kept.is_whole(path):
        if path.exists():
            # the compiler's cache may be damaged as well
            compiler_cache.distrust()
        path.parent.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(dir=path.parent) as scratch:
            output = scratch / path.name
            run_compiler([*arguments, "-c", str(source)], output)
            kept.keep(output, path)
    return path


def prefix_map(folder: Path, name: str) -> str:
    """The compiler's argument that replaces a folder by `name` in debug information."""
    return f"-ffile-prefix-map={folder}={name}"


def portable(text: str, roots: Roots) -> str:
    """A text with machine-independent paths."""
    for name, root in roots:
        text = text.replace(str(root), name)
    return text


@cache
def zig_version() -> str:
    """The compiler's version, which affects the programs."""
    return importlib.metadata.version("ziglang")


def run_compiler(arguments: Sequence[str], output: Path) -> None:
    """Call `zig cc`. Raises `FirmwareError` with its messages alone, `OSError`."""
    zig_cache = compiler_cache.folder()
    environment = os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": str(zig_cache),
        "ZIG_LOCAL_CACHE_DIR": str(zig_cache),
        # the user's own folder may be missing
        "TMPDIR": str(output.parent),
    }
    command = [_zig(), "cc", *arguments, "-o", str(output)]
    # a linker script's INCLUDE is relative to the folder
    done = leftovers.call(command, cwd=resources.firmware(), env=environment)
    if done.returncode != 0 or not output.is_file():
        messages = done.stderr.decode(errors="replace").strip()
        raise FirmwareError(messages or "the compiler failed without a message")


@cache
def _zig() -> str:
    """The compiler's program; `python -m ziglang` starts it as well, but takes twice the time."""
    return str(Path(ziglang.__file__).parent / "zig")


# ---- one at a time

_locks: dict[Path, threading.Lock] = {}
_locks_lock = threading.Lock()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other threads from making the same file. Other processes may: the files are equal."""
    with _locks_lock:
        lock = _locks.setdefault(path, threading.Lock())
    with lock:
        yield


# ---- contents of files


@dataclass(frozen=True, eq=False)
class _Text:
    """A file's text, its digest, and the names that it includes: None for an unknown name."""

    text: bytes
    digest: bytes
    includes: tuple[str, ...] | None


@once
def _closure(path: Path, include: tuple[Path, ...]) -> tuple[Path, ...]:
    """A file and all files that it may include. Raises `FirmwareError` if one can't be read."""
    found: dict[Path, None] = {path: None}
    waiting = [path]
    while waiting:
        for header in _included(waiting.pop(), include):
            if header not in found:
                found[header] = None
                waiting.append(header)
    return tuple(found)


def _included(path: Path, include: tuple[Path, ...]) -> Iterator[Path]:
    names = _read(path).includes
    if names is None:
        # a name from a macro: it may be any header
        yield from (file for folder in include for file in sorted(folder.glob("*.h")))
        return
    for name in names:
        yield from _headers(name, path.parent, include)


@once
def _folders_with_files(path: Path, include: tuple[Path, ...]) -> frozenset[Path]:
    """All folders that contain, at any depth, a file or one that it may include."""
    folders = {file.parent for file in _closure(path, include)}
    return frozenset(folders.union(*(folder.parents for folder in folders)))


def _mentioned(path: Path, include: tuple[Path, ...], given: Words) -> Words | None:
    """The relevant words of a file and of all files that it may include; None means any.

    The result is not cached: each program of a sweep has its own values.
    """
    texts = tuple(mentions(_read(file).text) for file in _closure(path, include))
    return mentioned(texts, given)


@once
def _contents(paths: tuple[Path, ...], roots: Roots) -> bytes:
    """The machine-independent names of files, each with the digest of its text."""
    parts = ((portable(str(path), roots).encode() + b"\0", _read(path).digest) for path in paths)
    return b"".join(part for pair in parts for part in pair)


@once
def _read(path: Path) -> _Text:
    """A file's text. Raises `FirmwareError` if it can't be read."""
    try:
        state = path.stat()
        return _text(path, state.st_mtime_ns, state.st_size, state.st_ino)
    except OSError as error:
        raise FirmwareError(f"{path}: {error.strerror}") from error


@lru_cache(maxsize=4096)
def _text(path: Path, mtime_ns: int, size_bytes: int, inode: int) -> _Text:
    text = path.read_bytes()
    names = [_NAMED.match(rest.strip()) for rest in _INCLUDE.findall(text)]
    includes = tuple(dict.fromkeys(os.fsdecode(name[1]) for name in names if name))
    return _Text(text, hashlib.sha256(text).digest(), includes if all(names) else None)


@cache
def _headers(name: str, beside: Path, include: tuple[Path, ...]) -> tuple[Path, ...]:
    """All files that an `#include` may mean. Headers must not move while a program runs."""
    places = (folder / name for folder in (beside, *include))
    return tuple(place for place in places if place.is_file())


def _may_matter(flag: str, mentioned: Words | None) -> bool:
    """Whether a flag may have an effect: all but macros that no text mentions or pastes."""
    if not flag.startswith("-D"):
        return True
    return may_name(mentioned, flag.removeprefix("-D").partition("=")[0])
