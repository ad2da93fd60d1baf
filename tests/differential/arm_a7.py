"""The board for random Arm programs with a Cortex-A7 in the Cortex-A5's place."""

from __future__ import annotations

import re

from arm_harness import BOARD
from conftest import ROOT

# Instructions that only this core has.
OWN = ("cyclescope,divide-cycles", "cyclescope,transfer-words")


def sourced() -> list[str]:
    """The numbers of the core's node that need a source."""
    text = (ROOT / "boards" / f"{BOARD}.dts").read_text()
    cpu = text[text.index("cpu0: cpu@0") : text.index("exit0:")]
    return [*re.findall(r"(cyclescope,[a-z-]+) = <", cpu), *OWN]


CORTEX_A7 = f"""
&cpu0 {{
	compatible = "arm,cortex-a7";
	cyclescope,fpu = "neon-vfpv4";
	cyclescope,dual-issue-branches;
	cyclescope,dual-issue-immediates;
	cyclescope,divide-cycles = <5>;
	cyclescope,transfer-words = <2>;
	cyclescope,sources = "{", ".join(sourced())}: chosen: for a test";
}};
"""
