"""Modules of a kernel, with those that they depend on, as files for an initramfs."""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.similar_names import did_you_mean

_PLAIN, _COMPRESSED = ".ko", ".ko.xz"
_MOST_BYTES = 256 << 20
_INFORMATION = ".modinfo"


@dataclass(frozen=True)
class Modules:
    """The modules of one release of a kernel: their files by name, below `lib/modules/RELEASE`."""

    root: Path
    files: Mapping[str, Path]

    @staticmethod
    def of(folder: Path) -> Modules:
        """The modules in a folder `lib/modules/RELEASE`, or in one with a single release.

        Raises `UsageError` for a folder without modules.
        """
        root = folder
        inner = [one for one in sorted(folder.iterdir()) if one.is_dir()] if folder.is_dir() else []
        if len(inner) == 1 and not (folder / "kernel").is_dir():
            root = inner[0]
        found = {
            _name(path): path
            for path in sorted(root.rglob("*.ko*"))
            if path.name.endswith((_PLAIN, _COMPRESSED))
        }
        if not found:
            raise UsageError(
                f"{inputs.printable(folder)}: no modules (*.ko) there: give the folder "
                "lib/modules/RELEASE of the kernel that boots"
            )
        return Modules(root, found)

    def files_of(self, names: Sequence[str]) -> dict[str, bytes]:
        """Files by their paths in the root file system: modules, and what modprobe reads.

        Names may have `-` for `_`. Raises `UsageError` for an unknown name, `OSError` if a file
        can't be read.
        """
        depends = self._closure(names)
        paths = {name: self._path(name) for name in depends}
        base = f"lib/modules/{self.root.name}"
        data = {name: _read(self.files[name]) for name in depends}
        files = {f"{base}/{paths[name]}": data[name] for name in depends}
        lines = (
            f"{paths[name]}:{''.join(f' {paths[one]}' for one in _before(name, depends))}\n"
            for name in depends
        )
        files[f"{base}/modules.dep"] = "".join(lines).encode()
        aliases = (
            f"alias {alias} {name}\n"
            for name in depends
            for alias in _values(data[name], "alias", self.files[name])
        )
        files[f"{base}/modules.alias"] = "".join(aliases).encode()
        return files

    def _closure(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The named modules and all that they depend on, each with its own dependencies."""
        found: dict[str, list[str]] = {}
        waiting = [_plain(name) for name in names]
        while waiting:
            name = waiting.pop(0)
            if name in found:
                continue
            if name not in self.files:
                hint = did_you_mean(name, self.files)
                raise UsageError(f"--modules: {self.root.name} has no module {name}{hint}")
            path = self.files[name]
            listed = ",".join(_values(_read(path), "depends", path))
            found[name] = [_plain(one) for one in listed.split(",") if one]
            waiting += found[name]
        return found

    def _path(self, name: str) -> str:
        return self.files[name].relative_to(self.root).as_posix().removesuffix(".xz")


def _name(path: Path) -> str:
    return _plain(path.name.removesuffix(".xz").removesuffix(_PLAIN))


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _before(name: str, depends: Mapping[str, Sequence[str]]) -> list[str]:
    """All modules that are needed for one, each before those that it needs itself.

    modprobe loads them from the last to the first.
    """
    found: dict[str, None] = {}
    begun = {name}

    def visit(module: str) -> None:
        for one in depends[module]:
            if one not in begun:
                begun.add(one)
                visit(one)
                found[one] = None

    visit(name)
    return list(reversed(found))


def _read(path: Path) -> bytes:
    data = inputs.read(path, _MOST_BYTES)
    if not path.name.endswith(_COMPRESSED):
        return data
    try:
        return lzma.decompress(data)
    except lzma.LZMAError as error:
        raise UsageError(f"{inputs.printable(path)}: it can't be decompressed: {error}") from None


def _values(data: bytes, key: str, path: Path) -> Iterator[str]:
    """The values of a key in a module's own information."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        section = ELFFile(io.BytesIO(data)).get_section_by_name(_INFORMATION)
        text = section.data() if section is not None else b""
    except (ELFError, ValueError, KeyError) as error:
        raise UsageError(f"{inputs.printable(path)}: not a module: {error}") from None
    for entry in text.split(b"\0"):
        name, _, value = entry.decode("utf-8", "replace").partition("=")
        if name == key and value:
            yield value
