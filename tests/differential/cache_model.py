"""A cache's directory as the textbook has it: sets of lines in the order of their last use."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass
class Cache:
    """Least recently used lines go; counts what it fills and writes back."""

    size_bytes: int
    line_bytes: int
    sets: int
    is_write_back: bool = True
    fills: int = 0
    write_backs: int = 0
    _lines: dict[int, OrderedDict[int, bool]] = field(default_factory=dict)

    def access(self, address: int, *, store: bool = False) -> None:
        """A load, a fetch, or a store, inside one line."""
        line = address // self.line_bytes
        ways = self._lines.setdefault(line % self.sets, OrderedDict())
        allocates = not store or self.is_write_back
        if line not in ways:
            if not allocates:
                return
            self.fills += 1
            if len(ways) == self.size_bytes // self.line_bytes // self.sets:
                _, dirty = ways.popitem(last=False)
                self.write_backs += dirty
            ways[line] = False
        ways.move_to_end(line)
        ways[line] |= store and self.is_write_back

    def invalidate(self) -> None:
        """Forgets all lines (fence.i on an instruction cache)."""
        self._lines.clear()
