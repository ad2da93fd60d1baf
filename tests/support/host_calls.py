"""A program's calls to the host's file system, from strace's log."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)\s+= (?P<result>-?\d+)(?P<file><.*>)?")
_LINE = re.compile(r"(?P<pid>\d+) +(?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(?P<rest>.*)")
_UNFINISHED = " <unfinished ...>"
_TEXT = re.compile(
    r'(?:(?P<folder>AT_FDCWD|\d+)(?:<(?P<at>[^>]*)>)?, )?"(?P<path>(?:[^"\\]|\\.)*)"'
)
_WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE")
_LOOKS = (
    "stat",
    "access",
    "readlink",
    "getcwd",
    "chdir",
    "statfs",
    "inotify",
    "getxattr",
    "execve",
)


@dataclass
class Calls:
    """Real paths of files that were opened to be read, or to be written; paths that were changed.

    `others` are calls that reach beyond files: programs that were started, connections.
    """

    read: set[Path] = field(default_factory=set)
    written: set[Path] = field(default_factory=set)
    changed: set[Path] = field(default_factory=set)
    others: list[str] = field(default_factory=list)


def is_there() -> bool:
    """Whether strace is installed and may be used."""
    found = shutil.which("strace")
    if found is None:
        return False
    tried = subprocess.run([found, "-qq", "true"], capture_output=True, check=False)
    return tried.returncode == 0


def traced(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path
) -> tuple[subprocess.CompletedProcess[bytes], Calls]:
    """Run a command in a folder: its end, and its calls."""
    strace = [
        "strace",
        "-f",
        "-y",
        "-qq",
        "-s",
        "4096",
        "-o",
        str(log),
        "-e",
        "trace=%file,%network",
    ]
    done = subprocess.run(
        [*strace, "--", *command],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=300,
    )
    return done, calls(log.read_text(errors="replace"), folder)


def calls(log: str, folder: Path) -> Calls:
    """The calls of a log that did something; the first is the start of the command itself."""
    found = Calls()
    for line in list(_whole_lines(log))[1:]:
        match = _CALL.match(line)
        if match and int(match["result"]) >= 0:
            _sort(found, match, folder)
    return found


def _whole_lines(log: str) -> Iterator[str]:
    """Lines of calls, those of several threads put together again."""
    begun: dict[str, str] = {}
    for line in log.splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        pid, rest = match["pid"], match["rest"]
        if rest.endswith(_UNFINISHED):
            begun[pid] = rest.removesuffix(_UNFINISHED)
            continue
        resumed = _RESUMED.match(rest)
        yield begun.pop(pid, "") + resumed["rest"] if resumed else rest


def _sort(found: Calls, call: re.Match[str], folder: Path) -> None:
    name, arguments = call["name"], call["arguments"]
    if name.startswith("open") or name == "creat":
        path = Path((call["file"] or "<>")[1:-1])
        writes = name == "creat" or any(flag in arguments for flag in _WRITING)
        (found.written if writes else found.read).add(path)
    elif name == "execve" or not _TEXT.search(arguments):
        found.others.append(f"{name}({arguments})")
    elif not any(look in name for look in _LOOKS):
        for text in _TEXT.finditer(arguments):
            base = text["at"] or folder
            found.changed.add(Path(os.path.normpath(Path(base) / text["path"])))
