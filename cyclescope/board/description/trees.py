"""Boards by name or path, and their trees: parsed again only if their files change."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cyclescope import resources
from cyclescope.board.description import devicetree
from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.similar_names import did_you_mean, did_you_mean_or

# Number of cached trees; a bench uses the same few boards hundreds of times.
_MOST_KEPT = 32
# Two writes may have the same time: a change just after another one may stay unnoticed.
_SETTLED_NS = 2 * 10**9

# The state of a file, by which a change is noticed: device, inode, size, time of last write.
_State = tuple[int, int, int, int]


@dataclass(frozen=True)
class _Kept:
    """A tree, and the states of its files when it was parsed."""

    tree: devicetree.Node
    states: tuple[_State, ...]


# By the user's name of a board: trees whose files are on another machine.
_given: dict[str, devicetree.Node] = {}

# By path, and by the path in messages, which depends on the working directory.
_kept: dict[tuple[Path, str], _Kept] = {}


def shipped_boards() -> list[str]:
    """The names of the boards that come with Cyclescope, sorted."""
    return sorted(path.stem for path in resources.boards().glob("*.dts"))


def give(name_or_path: str, tree: devicetree.Node) -> None:
    """Use this tree for this name or path from now on, instead of any file."""
    _given[name_or_path] = tree


def find_board(name_or_path: str | os.PathLike[str]) -> Path:
    """The path of a board's .dts, from a shipped board's name or a path.

    Raises `UsageError`, with similar names, if there is no such board, or if it is not a file.
    """
    text = os.fspath(name_or_path)
    if text in _given:
        return Path(text)
    is_path = text.endswith(".dts") or os.sep in text
    path = Path(text) if is_path else resources.boards() / f"{text}.dts"
    if path.is_file():
        return path
    if is_path:
        if path.exists():
            inputs.check(path)
        hint = did_you_mean(path.name, _beside(path))
        raise UsageError(f"{inputs.printable(text)}: no such board file{inputs.printable(hint)}")
    known = shipped_boards()
    hint = did_you_mean_or(text, known, f"there are {', '.join(known)}")
    own = "" if hint.endswith("?") else "; "
    raise UsageError(
        f"no board is called {inputs.printable(text)!r}{hint}{own} a path of your own ends in .dts"
    )


def _beside(path: Path) -> list[str]:
    """The names of the boards' files in a file's folder."""
    try:
        return [other.name for other in path.parent.glob("*.dts")]
    except (OSError, ValueError):
        return []


def board_tree(name_or_path: str | os.PathLike[str]) -> devicetree.Node:
    """The tree of a board before any override; the caller may change it.

    Raises `UsageError` if there is no such board, `BoardError` if its source has errors.
    """
    if (given := _given.get(os.fspath(name_or_path))) is not None:
        return given.copied()
    path = find_board(name_or_path)
    try:
        place = path.resolve(), devicetree.shown_path(path)
    except OSError:
        return devicetree.parse(path)  # its folder or the working directory was deleted
    kept = _kept.get(place)
    if kept is None or kept.states != _states(kept.tree.files):
        began_ns = time.time_ns()
        tree = devicetree.parse(path)
        states = _states(tree.files)
        if states is None or any(written_ns > began_ns - _SETTLED_NS for *_, written_ns in states):
            _kept.pop(place, None)
            return tree
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        kept = _kept[place] = _Kept(tree, states)
    return kept.tree.copied()


def _states(files: Iterable[str]) -> tuple[_State, ...] | None:
    """The states of files; None if one is missing or not a regular file."""
    found = []
    for file in files:
        try:
            state = Path(file).stat()
        except OSError:
            return None
        if not stat.S_ISREG(state.st_mode):
            return None
        found.append((state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns))
    return tuple(found)
