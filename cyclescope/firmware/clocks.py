"""The clock frequencies of a board, for which its programs are built.

A program has no frequencies of its own: `firmware/boards/<board>/board.toml` names the clocks by
label, and the build defines a macro for each from the .dts. So a program that is built for a board
with a changed clock uses the changed frequency.
"""

from __future__ import annotations

from collections.abc import Mapping

from cyclescope.board import board_tree
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.overrides import OverrideValue, apply_overrides
from cyclescope.errors import FirmwareError
from cyclescope.firmware.once import once

FREQUENCY = "clock-frequency"
# The property of a clock; if firmware changes the clock, this is its frequency at reset.
_CLOCKS = frozenset(("fixed-clock", "cyclescope,variable-clock"))


def macros(
    board: str, labels: Mapping[str, str], overrides: Mapping[str, OverrideValue]
) -> dict[str, str]:
    """The definitions of a board's clocks, each by its `BOARD_` macro: "100000000u", in hertz.

    `labels` has the clocks' labels by the macros' names; `overrides` are the board's overrides.
    Raises `FirmwareError` for a label without a frequency, `SettingError` for an invalid frequency.
    """
    if not labels:
        return {}
    changed = tuple(sorted(frequencies(overrides).items()))
    return dict(_macros(board, tuple(labels.items()), changed))


@once
def _macros(
    board: str, labels: tuple[tuple[str, str], ...], changed: tuple[tuple[str, OverrideValue], ...]
) -> dict[str, str]:
    tree = board_tree(board)
    apply_overrides(tree, dict(changed))
    found = frequencies_hz(tree)
    for macro, label in labels:
        if label not in found:
            raise FirmwareError(f"board {board}: {macro} in its board.toml: unknown clock {label}")
    return {f"BOARD_{macro}": f"{found[label]}u" for macro, label in labels}


def frequencies(overrides: Mapping[str, OverrideValue]) -> dict[str, OverrideValue]:
    """The overrides that a program depends on: those of frequencies."""
    return {path: value for path, value in overrides.items() if path.endswith(f".{FREQUENCY}")}


def frequencies_hz(tree: Node) -> dict[str, int]:
    """The frequencies of clocks by label."""
    return {
        label: int.from_bytes(node.props[FREQUENCY].value, "big")
        for node in tree.walk()
        if _CLOCKS.intersection(node.compatibles) and FREQUENCY in node.props
        for label in node.labels
    }
