"""Waveform files: each wire under a name of its own, with the levels that were recorded."""

from __future__ import annotations

import io
import struct

from hypothesis import given
from hypothesis import strategies as st

from cyclescope import waveforms

SIGNALS = st.lists(
    st.tuples(st.sampled_from(["spi", "radio@0"]), st.sampled_from(["sck", "irq"]), st.booleans()),
    max_size=6,
)


def levels_by_time(vcd: str) -> tuple[list[str], dict[int, list[bool]]]:
    """The wires' full names, and all their levels behind each time that the file has."""
    names: dict[str, str] = {}
    levels: dict[str, bool] = {}
    found: dict[int, list[bool]] = {}
    scope, at_ps = "", 0
    for line in vcd.splitlines():
        words = line.split()
        match words:
            case ["$scope", _, scope, _]:
                pass
            case ["$var", _, _, code, name, _]:
                names[code] = f"{scope}.{name}"
            case [time] if time.startswith("#"):
                at_ps = int(time[1:])
            case [change] if change[0] in "01" and change[1:] in names:
                levels[change[1:]] = change[0] == "1"
        if len(levels) == len(names):
            # codes are given in the order of the signals, scopes are written in that of their names
            found[at_ps] = [levels[code] for code in sorted(names)]
    return list(names.values()), found


@given(st.data())
def test_levels_are_those_that_were_recorded(data: st.DataObject) -> None:
    signals = data.draw(SIGNALS)
    ids = st.integers(0, max(len(signals) - 1, 0))
    change = st.tuples(st.integers(0, 30), ids, st.booleans())
    changes = sorted(data.draw(st.lists(change, max_size=30)), key=lambda change: change[0])
    changes = changes if signals else []
    recorded = b"".join(struct.pack("<QI", at, wire << 1 | level) for at, wire, level in changes)
    file = io.StringIO()
    waveforms.write_vcd(file, signals, recorded, 20)

    names, found = levels_by_time(file.getvalue())
    assert len(set(names)) == len(signals)
    assert max(found) == max([20, *(at for at, _, _ in changes)])
    for at_ps, levels in found.items():
        expected = [first for _, _, first in signals]
        for _, wire, level in (change for change in changes if change[0] <= at_ps):
            expected[wire] = level
        assert levels == expected
