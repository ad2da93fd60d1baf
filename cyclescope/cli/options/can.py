"""The values of `--can`: nodes on CAN buses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cyclescope.board.can import CanNode, parse_rate, read_can_script
from cyclescope.errors import UsageError
from cyclescope.host import inputs


def read_nodes(values: Iterable[str]) -> tuple[dict[str, CanNode], dict[str, str]]:
    """The nodes by label, and the files of logs. Raises `UsageError`, `OSError`."""
    nodes: dict[str, CanNode] = {}
    files: dict[str, str] = {}
    logs = []
    for value in values:
        label, equals, what = value.partition("=")
        if not equals or not label or not what:
            shown = inputs.printable(value)
            raise UsageError(f"--can {shown}: expected LABEL=ack, ack:RATE, log, log:FILE or FILE")
        kind, colon, path = what.partition(":")
        if kind == "log" and (path or not colon):
            logs.append(label)
            files |= {label: path} if path else {}
            continue
        if label in nodes:
            raise UsageError(f"--can {inputs.printable(value)}: {label} already has a node")
        if kind == "ack" and (path or not colon):
            rate = parse_rate(path, f"--can {inputs.printable(value)}") if path else None
            nodes[label] = CanNode(bits_per_second=rate)
        else:
            nodes[label] = read_can_script(what)
    for label in logs:
        # a node that logs only listens, and does not acknowledge
        nodes[label] = replace(nodes.get(label, CanNode(None)), log=True)
    return nodes, files
