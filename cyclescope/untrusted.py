"""Files of the host are the user's to name: a board's source, which may be anyone's, names none."""

from __future__ import annotations

from cyclescope.devicetree import Node, Property
from cyclescope.errors import board_error

# Properties that are paths; `--set` gives them their values.
PATHS = ("cyclescope,image",)


def refuse_host_files(root: Node) -> None:
    """Raises `BoardError` if the source itself names a file that the board reads or writes."""
    faults = [
        _fault(node, node.props[name])
        for node in root.walk()
        for name in PATHS
        if name in node.props and node.props[name].value.strip(b"\0")
    ]
    if faults:
        raise board_error(faults)


def _fault(node: Node, prop: Property) -> str:
    path = f"{(node.labels or [node.path])[0]}.{prop.name}"
    return (
        f"{prop.file}:{prop.line}: {node.name}: {prop.name} names a file of the host: "
        f'a board\'s source may not; leave it "" here, and name the file by --set {path}=FILE'
    )
