"""Options of `bench quad-spi-throughput` that leave three of its runs, for the short tier.

Both of its programs are among them: what is done with runs does not depend on how many there are.
"""

from __future__ import annotations

from tiers import ALL

_NAME = "quad-spi-throughput"
_SET = (
    f"{_NAME}.mode=quad",
    f"{_NAME}.access=dma",
    f"{_NAME}.completion=polls",
    f"{_NAME}.read_command=output",
    "spi0.xlnx,spi-mode=2",
    "spi0.xlnx,fifo-depth=256",
    "spi0.xlnx,type-of-axi4-interface=1",
    "spi0.xlnx,sck-ratio=2",
    "sys_clk.clock-frequency=100000000",
)
FEW: tuple[str, ...] = () if ALL else tuple(word for one in _SET for word in ("--set", one))
