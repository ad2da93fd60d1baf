"""`--set PATH=VALUE` on a board: the property that a path names, and its new value.

A path is a node's label, name or full path, a dot, and a property that the node has. The change is
made on the tree before the engine checks it, so a bad value is refused like one in the .dts, with
`--set` in place of the file name; the source of a timing value is then `--set`, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cyclescope.board.description.devicetree import Node, Property
from cyclescope.errors import SettingError
from cyclescope.host.inputs import printable
from cyclescope.similar_names import asked, similar_names
from cyclescope.units import parse_number

ORIGIN = "--set"
# Values that turn a flag on and off; 1 and 0 are equal to the booleans.
TRUE = (True, "true", "1")
FALSE = (False, "false", "0")

# In this property a value that begins with ":" changes only the rate and format, not the port.
CONSOLE = ("/chosen", "stdout-path")

# A cell has 32 bits. A negative number would be read as a large one.
MOST_CELL = 2**32 - 1

OverrideValue = int | bool | str | list[int] | list[str]


def parse_set(argument: str) -> tuple[str, str]:
    """Split "PATH=VALUE". Raises `SettingError` without a path or "=", or if it is not UTF-8."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise SettingError(f"--set {printable(argument)}: not UTF-8 text") from None
    path, equals, value = argument.partition("=")
    if not equals or not path.strip():
        raise SettingError(f"--set {argument}: expected PATH=VALUE")
    return path.strip(), value.strip()


def apply_overrides(root: Node, overrides: Mapping[str, OverrideValue]) -> None:
    """Change the properties that `overrides` names by path.

    Raises `SettingError` for an unknown path, with similar ones, and for a value that does not fit
    the property.
    """
    for path, value in overrides.items():
        found = find(root, path, value)
        if found is None:
            raise absent(root, path)
        node, name = found
        _assign(root, node, name, path, value)


def find(root: Node, path: str, value: OverrideValue) -> tuple[Node, str] | None:
    """The node and the property's name that a path means; None if there is no such property.

    A flag is true if it is present, so setting an absent one to true is accepted here; the engine
    then checks whether the node may have it.
    """
    node_part, dot, name = path.rpartition(".")
    node = _find_node(root, node_part) if dot else None
    if node is None:
        return None
    # 1 is not accepted here: the path may be a misspelt number
    becomes_true = value is True or value == "true"
    return (node, name) if name in node.props or becomes_true else None


def paths(root: Node) -> list[str]:
    """Every path for `--set` on this board; nodes by label, or else by full path."""
    return [
        f"{handle}.{name}"
        for node in root.walk()
        for handle in (node.labels or [node.path])
        for name in node.props
    ]


def unknown_path(path: str, known: Iterable[str]) -> SettingError:
    """The error for an unknown path, with similar known paths."""
    hint = asked(_similar(path, list(known)))
    return SettingError(f"--set {path}: no such board property or app setting{hint}")


def absent(root: Node, path: str, others: Iterable[str] = ()) -> SettingError:
    """The error for a path that is not on a board; `others` are known paths beside the board's."""
    return _left_out(root, path) or unknown_path(path, [*others, *paths(root)])


def _left_out(root: Node, path: str) -> SettingError | None:
    """The error for a property that the node's model has, but not the board's file."""
    node_part, dot, name = path.rpartition(".")
    node = _find_node(root, node_part) if dot else None
    compatible = node.props.get("compatible") if node else None
    if compatible is None:
        return None
    from cyclescope.board.description.devicetree_bindings import (
        bindings,  # only needed for the error
    )

    own = compatible.value.decode(errors="replace").split("\0")
    models = (entry for entry in bindings() if entry.compatible in own)
    known = next((prop for entry in models for prop in entry.properties if prop.name == name), None)
    if known is None:
        return None
    default = f", {known.default} by default" if known.default is not None else ""
    return SettingError(
        f"--set {path}: {node_part} can have this property ({known.kind}{default}), but the board "
        "file does not: add it there first, then --set can change it"
    )


def _similar(path: str, known: list[str]) -> list[str]:
    """Known paths similar to one: with the same node, else as a whole, else with the same name."""
    owner, _, name = path.rpartition(".")
    siblings = [other for other in known if other.rpartition(".")[0] == owner]
    if siblings:
        return similar_names(path, siblings, cutoff=0.75) or siblings[:8]
    return (
        similar_names(path, known)
        or [other for other in known if other.rpartition(".")[2] == name][:8]
    )


def _find_node(root: Node, handle: str) -> Node | None:
    for node in root.walk():
        if handle in (node.path, node.name) or handle in node.labels:
            return node
    return None


def _assign(root: Node, node: Node, name: str, path: str, value: OverrideValue) -> None:
    old = node.props.get(name) or Property(name, b"", "empty", ORIGIN, 0)
    if value is False or (old.kind == "empty" and value in FALSE):
        if old.kind != "empty":
            raise SettingError(
                f"--set {path}: only a flag can be false; this property holds {old.kind}"
            )
        del node.props[name]
        return
    if (node.path, name) == CONSOLE and isinstance(value, str) and value.startswith(":"):
        port = old.value.rstrip(b"\0").decode(errors="replace").partition(":")[0]
        value = (port + value).removesuffix(":")
    kind, raw = _encode(root, old, path, value)
    node.props[name] = replace(old, value=raw, kind=kind, file=ORIGIN, line=0)


def _encode(root: Node, old: Property, path: str, value: OverrideValue) -> tuple[str, bytes]:
    """The kind and bytes of a new value; a text is parsed as the property's kind."""
    if old.kind == "empty":
        if value not in TRUE:
            raise SettingError(f"--set {path}={value}: this is a flag: set it to true or false")
        return "empty", b""
    if old.kind == "strings":
        return "strings", b"".join(_string(path, text) for text in _strings(old, value))
    if old.kind != "cells":
        raise SettingError(f"--set {path}: a property of {old.kind} can't be set")
    parts = value.split(",") if isinstance(value, str) else value
    parts = parts if isinstance(parts, list) else [parts]
    return "cells", b"".join(_cell(root, path, part) for part in parts)


def _strings(old: Property, value: OverrideValue) -> list[str]:
    """A comma separates strings only where the property is a list: names contain commas."""
    if isinstance(value, list):
        return [str(text) for text in value]
    is_list = old.value.count(b"\0") > 1
    return str(value).split(",") if is_list else [str(value)]


def _string(path: str, text: str) -> bytes:
    if "\0" in text or not _is_unicode(text):
        raise SettingError(f"--set {path}={text!a}: not valid in a devicetree string")
    return text.encode() + b"\0"


def _is_unicode(text: str) -> bool:
    """False for an argument with bytes that are not UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _cell(root: Node, path: str, part: int | str) -> bytes:
    if isinstance(part, str) and part.startswith("&"):
        target = _find_node(root, part[1:])
        if target is None or target.phandle is None:
            raise SettingError(f"--set {path}={part}: no node with a phandle has this label")
        return target.phandle.to_bytes(4, "big")
    number = parse_number(part) if isinstance(part, str) else part
    if isinstance(number, bool) or not isinstance(number, int):
        raise SettingError(f"--set {path}={part}: expected an integer such as 40000000, 0x10, 40M")
    if not 0 <= number <= MOST_CELL:
        shown = part if isinstance(part, str) else f"{part:#x}"
        raise SettingError(f"--set {path}={shown}: a cell of a property is 0 to {MOST_CELL}")
    return number.to_bytes(4, "big")
