"""Panics of the kernel, by its words on the console."""

from __future__ import annotations

_BEGIN, _END = "Kernel panic - not syncing:", "---[ end Kernel panic"
# The number of the console's last characters in which a panic's words are sought.
_MOST_HELD_CHARACTERS = 4096

# What to do about the panics that the files of a boot cause.
_HINTS = (
    ("Unable to mount root fs", "give an --initrd, or name its root= in --append"),
    ("No working init found", "the initrd needs an executable /init for this core"),
    ("Requested init", "the initrd has no such program: see init= and rdinit= in --append"),
    ("Attempted to kill init", "its first program ended: an /init must not return"),
)


class PanicWatch:
    """Reads the console's text, and finds a panic in it."""

    def __init__(self) -> None:
        self.panic: str | None = None
        self._held = ""

    def take(self, text: str) -> bool:
        """Read a piece of the text; whether the kernel has said its last word."""
        self._held = self._held[-_MOST_HELD_CHARACTERS:] + text
        at = self._held.find(_BEGIN)
        if self.panic is None and at >= 0 and "\n" in self._held[at:]:
            words = self._held[at + len(_BEGIN) :].partition("\n")[0].strip()
            hint = next((hint for part, hint in _HINTS if part in words), "see the console above")
            self.panic = f"kernel panic: {words}: {hint}"
        last = self._held.find(_END)
        return last >= 0 and "\n" in self._held[last:]
