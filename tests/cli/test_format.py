"""Formatted output as small C libraries have it: what is printed, and when it is written."""

import shutil
import subprocess
import sys
from pathlib import Path

import tiers
from conftest import ROOT

RUNTIME = ROOT / "firmware" / "runtime"
# stream.c
BUFFER_BYTES = 1024


def compiler() -> list[str]:
    """Of this machine's programs; undefined behaviour ends them.

    Zig first makes libraries for this machine, which takes a minute: the short tier has another
    compiler where there is one.
    """
    other = shutil.which("cc")
    if tiers.ALL or other is None:
        return [sys.executable, "-m", "ziglang", "cc"]
    return [other, "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]


def test_lines_are_formatted_as_in_c_and_written_at_their_ends(tmp_path: Path) -> None:
    program = tmp_path / "format"
    sources = [ROOT / "tests/firmware/format_host.c", RUNTIME / "format.c", RUNTIME / "stream.c"]
    # not the runtime's folder itself: its <string.h> is not this machine's
    (tmp_path / "include").mkdir()
    for header in ("format.h", "stream.h"):
        (tmp_path / "include" / header).symlink_to(RUNTIME / header)
    command = [*compiler(), "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{tmp_path / 'include'}", *map(str, sources), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    lines = subprocess.run([program], check=True, capture_output=True).stdout.decode().splitlines()
    long_line = "".join(chr(ord("a") + i % 26) for i in range(1030))
    assert lines == [
        "[00003.041][INFO ]UART0: 992/-2048",
        "-7|   -7|-7   |-0007|+7| 7|007|0",
        "4294967295|beef|BEEF|0000001f|4000000000|5|",
        "text|   ab|ab   |ab|x|  y|%|",
        "2147483647|-2147483648",
        long_line,
        # five lines, a full buffer, and the rest of the long line
        f"{5 + len(long_line) // BUFFER_BYTES + 1} writes",
    ]
