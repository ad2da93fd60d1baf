"""Code with labels: a list of halfwords or words whose jumps are filled in at the end."""

from __future__ import annotations

from collections.abc import Callable

Jump = Callable[[int], list[int]]
"""Makes a jump of its distance in bytes, from its own address to its target."""


class Labelled:
    """Code from an address on, of units of 2 or 4 bytes."""

    def __init__(self, base: int, unit_bytes: int) -> None:
        self._base, self._unit_bytes = base, unit_bytes
        self._code: list[int] = []
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str, Jump]] = []

    def add(self, *units: int) -> None:
        """Append code."""
        self._code += units

    def mark(self, name: str) -> None:
        """The next instruction has this label."""
        self._labels[name] = self.here

    def jump(self, name: str, make: Jump) -> None:
        """Append a jump to a label."""
        self._jumps.append((len(self._code), name, make))
        self._code += make(0)

    @property
    def here(self) -> int:
        """The address of the next instruction."""
        return self._base + self._unit_bytes * len(self._code)

    def at(self, name: str) -> int:
        """The address of a label."""
        return self._labels[name]

    def code(self) -> list[int]:
        """The whole code, with its jumps."""
        for at, name, make in self._jumps:
            units = make(self._labels[name] - self._base - self._unit_bytes * at)
            self._code[at : at + len(units)] = units
        self._jumps = []
        return self._code
