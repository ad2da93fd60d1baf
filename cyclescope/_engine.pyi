"""The engine's Python module: machines made from a board's tree, run in one call."""

from collections.abc import Callable
from typing import Any

class EngineError(Exception):
    """The base of every error of the engine; its text is one line a fault."""

class BoardError(EngineError):
    """A board that can't be built.

    `faults` has one line a fault, `file:line: node: what`, sorted by file and line.
    """

    faults: list[str]

class ElfError(EngineError):
    """An ELF that can't be loaded; one line that names the file."""

def disassemble(encoding: int, pc: int) -> str:
    """The text of the RISC-V instruction that begins with `encoding`, at `pc`."""

class Machine:
    """A board ready to be loaded and run, once."""

    def __init__(self, board: dict[str, Any]) -> None:
        """Build a machine from a tree (`cyclescope.devicetree.Node.to_dict`)."""

    def describe(self) -> dict[str, Any]:
        """Model, cores, clocks, memory map, devices and parameters."""

    def load(self, data: bytes, name: str) -> None:
        """Load an ELF's segments; `name` is for messages."""

    def watch(self, functions: list[str]) -> None:
        """Keep a cycle stack of its own for each function; `EngineError` for one that is not."""

    def run(
        self,
        limit_ps: int | None,
        console: Callable[[bytes], None] | None,
        stream: Callable[[str, bytes], None] | None = None,
    ) -> dict[str, Any]:
        """Run until exit, fault or limit (simulated picoseconds); the GIL is released.

        `stream` gets what devices print on lines of their own, with their labels.
        """

    def compile_after(self, runs: int) -> None:
        """Blocks become host code after this many runs; 0: never. Results do not depend on it."""

    def skip_polling(self, skip: bool) -> None:
        """Rounds of polling loops are skipped, or not. Results do not depend on it."""

    def record_waves(self) -> None:
        """Changes of wires are recorded from now on."""

    def take_waves(self) -> tuple[list[tuple[str, str, bool]], bytes]:
        """What was recorded: signals as (scope, name, first level), and changes by time.

        A change is 12 little-endian bytes: 8 of the time in picoseconds, 4 of twice the signal's
        index plus the new level.
        """

    def skipped(self) -> list[int]:
        """Cycles of each core that were skipped."""

    def trace(self, count: int) -> bytes:
        """Run instructions one by one; 33 little-endian words after each: pc, x0 to x31."""

    def registers(self) -> list[int]:
        """pc, then x0 to x31, of the first core."""

    def read_memory(self, addr: int, length: int) -> bytes:
        """Bytes of memory, without time; `EngineError` where there is none."""
