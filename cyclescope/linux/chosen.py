"""What a boot loader writes into every devicetree: the command line, the initrd, the memory."""

from __future__ import annotations

from dataclasses import dataclass

from cyclescope.board.description.devicetree import Node
from cyclescope.linux.boards import Ram
from cyclescope.linux.flattened import child, set_cells, set_strings


@dataclass(frozen=True)
class Chosen:
    """The kernel's command line, None for that of the devicetree, and where the initrd is."""

    command_line: str | None
    initrd: tuple[int, int] | None

    def give_to(self, tree: Node) -> None:
        """Write them to /chosen."""
        chosen = child(tree, "chosen")
        if self.command_line is not None:
            set_strings(chosen, "bootargs", self.command_line)
        if self.initrd is not None:
            set_cells(chosen, "linux,initrd-start", self.initrd[0])
            set_cells(chosen, "linux,initrd-end", self.initrd[1])


def set_memory(tree: Node, ram: Ram) -> None:
    """Let the tree have one memory: the board's RAM. The root's addresses have one cell."""
    tree.children = [one for one in tree.children if one.name.partition("@")[0] != "memory"]
    memory = child(tree, f"memory@{ram.base:x}")
    set_strings(memory, "device_type", "memory")
    set_cells(memory, "reg", ram.base, ram.size)
