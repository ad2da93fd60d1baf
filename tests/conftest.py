"""The command line as a user has it, and small programs built for the virtual board."""

from __future__ import annotations

import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import tiers
from hypothesis import settings
from processor_time import check_processor_time
from warm_start import WarmStart

ROOT = Path(__file__).resolve().parent.parent
BOARD = "kc705-axi-quad-spi"

os.environ.setdefault("CYCLESCOPE_CACHE", str(ROOT / ".cache"))
# The runner's workers have one, and tables have as many columns as it says.
os.environ.pop("COLUMNS", None)

# A host that is busy with something else is no fault: no test is timed.
settings.register_profile("all", deadline=None)
settings.register_profile("short", deadline=None, max_examples=tiers.SHORT_EXAMPLES)
settings.load_profile("all" if tiers.ALL else "short")

WARM = WarmStart()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `CYCLESCOPE_TESTS=all`, the long tests are left out."""
    if tiers.ALL:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """No short test takes long, however fast or busy the host is: processor time is counted."""
    with check_processor_time(WARM, limit_s=None if tiers.ALL else tiers.MOST_CPU_S):
        return (yield)


def _has_device_nodes() -> bool:
    """Whether device nodes can be made, and opened: only by root, and not in every container."""
    with tempfile.TemporaryDirectory() as folder:
        node = Path(folder) / "null"
        try:
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            node.write_bytes(b"")
        except OSError:
            return False
    return True


NEEDS_NODES = pytest.mark.skipif(not _has_device_nodes(), reason="no device node can be made")


def plugin_is_installed() -> bool:
    """Whether pytest finds our plugin by itself; it does once the package is installed anew."""
    found = entry_points(group="pytest11")
    return any(entry.value == "cyclescope.testing.plugin" for entry in found)


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Signals as a terminal gives them: commands in the background and under nohup ignore some."""
    asked = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in asked.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@dataclass(frozen=True)
class Finished:
    """The end of a call of the command line."""

    status: int
    stdout: str
    stderr: str

    @property
    def error(self) -> str:
        """The one line that says what went wrong."""
        lines = [line for line in self.stderr.splitlines() if line.startswith("cyclescope: error:")]
        assert len(lines) == 1, self.stderr
        return lines[0].removeprefix("cyclescope: error: ")


Command = Callable[..., Finished]


@pytest.fixture(scope="session")
def command_line() -> Iterator[WarmStart]:
    """The server that starts the command line, in this process of pytest's workers."""
    yield WARM
    WARM.close()


@pytest.fixture
def cyclescope(tmp_path: Path, command_line: WarmStart) -> Command:
    """Calls the command line in a folder of its own; no call may end in a traceback or a panic."""

    def call(*arguments: object, timeout_s: float = 300, folder: Path = tmp_path) -> Finished:
        texts = [str(argument) for argument in arguments]
        status, output, errors = command_line.call(texts, folder, os.environ, timeout_s)
        finished = Finished(status, output.decode(), errors.decode())
        assert "Traceback" not in finished.stderr, finished.stderr
        assert "panicked" not in finished.stderr, finished.stderr
        return finished

    return call


@pytest.fixture(scope="session")
def program() -> Callable[[str], Path]:
    """The ELF of a program of tests/firmware, by its name."""
    from cyclescope import firmware

    def build(name: str) -> Path:
        source = ROOT / "tests" / "firmware" / f"{name}.c"
        return firmware.build(firmware.board_recipe(name, BOARD, [source]))

    return build


@pytest.fixture
def changed_board(tmp_path: Path) -> Callable[..., Path]:
    """A .dts that is a shipped board with lines of devicetree source after it."""
    from cyclescope import resources

    def change(source: str, board: str = BOARD) -> Path:
        shipped = resources.boards().resolve() / f"{board}.dts"
        path = tmp_path / "changed.dts"
        path.write_text(f'/dts-v1/;\n/include/ "{shipped}"\n{source}\n', encoding="utf-8")
        return path

    return change
