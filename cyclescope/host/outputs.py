"""Output files of the user: checked before the first run, written completely or not at all.

All outputs go through this module. Links are followed. A regular or new file is replaced as a
whole: a file beside it is written, and finally takes its mode, owner and place; if that is not
possible, the file itself is written. Any other file (a FIFO, a device, a descriptor such as
/dev/stdout or the path of `>(command)`) is opened and written directly.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from cyclescope.errors import OutputError, complain

AnyPath = str | os.PathLike[str]

# The number of links that the system itself follows.
_MOST_LINKS = 40
# Errors of a rename to a writable file: from a folder's sticky bit, or from a
# file that is a mount point.
_NO_RENAME = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)


def check_outputs(
    outputs: Mapping[str, AnyPath | None], inputs: Mapping[str, str], folder: AnyPath | None = None
) -> None:
    """Check output files before anything runs; makes no file and changes none.

    `outputs` has the paths by their options, None for an unused option; `inputs` are files that
    must not be overwritten, with descriptions ("the firmware"); a checked `folder` will exist when
    the files are written. Raises `OutputError` if a file can't be written, if two are the same, or
    if one is an input.
    """
    options: dict[Hashable, str] = {}
    keys = [(_input_key(path), what) for path, what in inputs.items()]
    kept = {key: what for key, what in keys if key is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        if folder is None or Path(folder).exists() or not _is_in(path, folder):
            check(path)
        key = _target(path).key
        if key in kept:
            raise OutputError(f"{path}: {option} would overwrite {kept[key]}: name another file")
        if key in options:
            raise OutputError(f"{path}: {options[key]} and {option} name the same file")
        if key is not None:
            options[key] = option


def is_same(path: AnyPath, other: AnyPath) -> bool:
    """Whether two paths lead to the same file, also through links, and also to a new one."""
    key = _input_key(path)
    return key is not None and key == _input_key(other)


def check(path: AnyPath) -> None:
    """Raises `OutputError` if a file can't be written; makes no file and changes none."""
    target = _target(path)
    with _named_errors(target.named):
        if target.descriptor is not None:
            _check_descriptor(target.descriptor)
        elif target.found is None:
            if not target.real.parent.is_dir():
                raise OutputError(f"{target.named}: its folder does not exist: make it first")
            _probe(target.real.parent)
        elif stat.S_ISDIR(target.found.st_mode):
            raise OutputError(f"{target.named}: this is a folder: name a file")
        elif stat.S_ISSOCK(target.found.st_mode):
            raise OutputError(f"{target.named}: this is a socket: name a file")
        elif stat.S_ISREG(target.found.st_mode):
            os.close(os.open(target.named, os.O_WRONLY))
        elif not os.access(target.named, os.W_OK):
            # not opened, as the other end would notice
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def check_folder(path: AnyPath) -> None:
    """Raises `OutputError` if files can't be made in a folder, which may not exist yet.

    Makes nothing.
    """
    named = os.fspath(path)
    folder = Path(named)
    with _named_errors(named):
        while not folder.exists() and folder != folder.parent:
            if folder.is_symlink():
                raise OutputError(f"{named}: {folder} is a broken link")
            folder = folder.parent
        if not folder.is_dir():
            raise OutputError(f"{named}: {folder} is not a folder")
        _probe(folder)


def make_folder(path: AnyPath) -> None:
    """Make a folder and its parents, unless it exists. Raises `OutputError`."""
    with _named_errors(os.fspath(path)):
        Path(path).mkdir(parents=True, exist_ok=True)


def write_text(path: AnyPath, text: str) -> None:
    """Write a file completely or not at all. Raises `OutputError`."""
    with opened(path, "w") as file:
        file.write(text)


def save_all(texts: Mapping[AnyPath, str]) -> bool:
    """Write files by their paths, and make their folders; whether all could be written.

    Errors are printed on stderr; the other files are written all the same.
    """
    saved = True
    for path, text in texts.items():
        try:
            make_folder(Path(path).parent)
            write_text(path, text)
        except OutputError as error:
            complain(str(error))
            saved = False
    return saved


@contextmanager
def opened(path: AnyPath, mode: Literal["w", "wb"]) -> Iterator[IO[Any]]:
    """A new file, UTF-8 or bytes, that replaces `path` if the block ends without an error.

    If the path is not a regular file, it is written directly. Raises `OutputError`, also for
    `OSError` in the block.
    """
    target = _target(path)
    with _named_errors(target.named):
        scratch = _scratch_for(target)
        if scratch is None:
            with _fdopen(_through(target), mode) as file:
                yield file
            return
        descriptor, place = scratch
        try:
            with _fdopen(descriptor, mode) as file:
                yield file
                file.flush()
                _complete(descriptor, target.found)
            _put(place, target)
        finally:
            with suppress(OSError):
                place.unlink()


# ---- targets of paths


@dataclass(frozen=True)
class _Target:
    """The target of a path: `real` is without links, `descriptor` is one of this process."""

    named: str
    real: Path
    descriptor: int | None
    found: os.stat_result | None

    @property
    def is_replaced(self) -> bool:
        """Whether the target is a regular file with a path, or does not exist yet."""
        if self.descriptor is not None:
            return False
        if self.found is None:
            return True
        try:
            # links in /proc may lead to deleted files
            leads_there = os.path.samestat(self.found, self.real.stat())
        except OSError:
            return False
        return stat.S_ISREG(self.found.st_mode) and leads_there

    @property
    def key(self) -> Hashable:
        """A key that is equal for all paths of one file; None if several outputs can share it."""
        if self.found is None:
            try:
                folder = self.real.parent.stat()
            except FileNotFoundError:
                return self.real
            return folder.st_dev, folder.st_ino, self.real.name
        if stat.S_ISCHR(self.found.st_mode):
            return None
        return self.found.st_dev, self.found.st_ino


def _target(path: AnyPath) -> _Target:
    named = os.fspath(path)
    if not named or named.endswith("/") or "\0" in named:
        raise OutputError(f"{named!r} is not a valid file name")
    with _named_errors(named):
        try:
            found = Path(named).stat()
        except FileNotFoundError:
            found = None
        return _Target(named, Path(named).resolve(), _descriptor(named), found)


def _is_in(path: AnyPath, folder: AnyPath) -> bool:
    return Path(path).parent.resolve() == Path(folder).resolve()


def _descriptor(named: str) -> int | None:
    """The descriptor of this process that a path names (/dev/stdout, /dev/fd/3), if any."""
    own = Path("/proc/self/fd").resolve()
    path = Path(named)
    for _ in range(_MOST_LINKS):
        if path.name.isdecimal() and path.parent.resolve() == own:
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None


def _input_key(path: AnyPath) -> Hashable:
    """The key of an input file; None if no output can be the same file."""
    try:
        return _target(path).key
    except (OSError, OutputError):
        return None


@contextmanager
def _named_errors(named: str) -> Iterator[None]:
    """Turns `OSError` into an `OutputError` with the user's name of the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{named}: can't be written: {error.strerror or error}") from error


# ---- writing


def _check_descriptor(descriptor: int) -> None:
    try:
        access = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError:
        access = os.O_RDONLY
    if access == os.O_RDONLY:
        raise OSError(errno.EBADF, "not open for writing")


def _through(target: _Target) -> int:
    """A descriptor of a target that is written directly."""
    if target.descriptor is not None:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        return os.dup(target.descriptor)
    regular = target.found is not None and stat.S_ISREG(target.found.st_mode)
    return os.open(target.named, os.O_WRONLY | os.O_NOCTTY | (os.O_TRUNC if regular else 0))


def _scratch_for(target: _Target) -> tuple[int, Path] | None:
    """A new file beside a target that is to be replaced; None if it is written directly."""
    if not target.is_replaced:
        return None
    try:
        # private until it gets the mode of the finished file
        return _scratch(target.real.parent, 0o666 if target.found is None else 0o600)
    except OSError:
        if target.found is None:
            raise
        return None


def _scratch(folder: Path, mode: int) -> tuple[int, Path]:
    """A new file in a folder: its descriptor for writing, and its path."""
    while True:
        path = folder / f".cyclescope-{os.getpid()}-{os.urandom(4).hex()}.tmp"
        with suppress(FileExistsError):
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), path


def _probe(folder: Path) -> None:
    """Raises `OSError` if no file can be made in a folder; permissions alone do not show it."""
    descriptor, path = _scratch(folder, 0o600)
    os.close(descriptor)
    path.unlink()


def _fdopen(descriptor: int, mode: Literal["w", "wb"]) -> IO[Any]:
    if mode == "wb":
        return os.fdopen(descriptor, "wb")
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")


def _complete(descriptor: int, before: os.stat_result | None) -> None:
    """Give a new file the owner and mode of the old one, `before`, and flush it to the disk."""
    if before is not None:
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    try:
        os.fsync(descriptor)
    except OSError as error:
        # not every file system supports it
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _put(scratch: Path, target: _Target) -> None:
    """Move a finished file to its target, or copy its contents."""
    try:
        scratch.replace(target.real)
    except OSError as error:
        if target.found is None or error.errno not in _NO_RENAME:
            raise
        import shutil  # rarely needed

        with scratch.open("rb") as source, target.real.open("r+b") as file:
            file.truncate()
            shutil.copyfileobj(source, file)
