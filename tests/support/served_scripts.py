"""A script of scripts/ that is called more than once: in the short tier by one process.

What such a script imports takes longer than what it does. All tests call it as a reader does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import ROOT
from tiers import ALL

# The status, and the lines on stderr, of a call with these arguments.
Script = Callable[..., tuple[int, list[str]]]

# Answers a line of arguments by a line with what became of them. What the function `once` of the
# script gives is made once for the same arguments.
_SERVER = """
import contextlib, functools, importlib.util, io, json, sys
folder, once = sys.argv[1:]
sys.path.insert(0, folder)
spec = importlib.util.spec_from_file_location("script", f"{folder}/__main__.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
if once:
    setattr(script, once, functools.cache(getattr(script, once)))
for line in sys.stdin:
    sys.argv = ["script", *json.loads(line)]
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = script.main()
    print(json.dumps([status, said.getvalue()]), flush=True)
"""


@contextmanager
def served(name: str, once: str = "") -> Iterator[Script]:
    """A caller of the script, for as long as the block lasts."""
    folder = ROOT / "scripts" / name
    if ALL:
        yield lambda *arguments: _called(folder, arguments)
        return
    command = [sys.executable, "-c", _SERVER, str(folder), once]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def call(*arguments: str | Path) -> tuple[int, list[str]]:
            print(json.dumps(list(map(str, arguments))), file=server.stdin, flush=True)
            status, said = json.loads(server.stdout.readline())
            return status, said.splitlines()

        yield call
        server.stdin.close()


def _called(folder: Path, arguments: tuple[str | Path, ...]) -> tuple[int, list[str]]:
    command = [sys.executable, folder, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()
