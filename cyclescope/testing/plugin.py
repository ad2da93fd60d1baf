"""The pytest plugin: the fixture `cyclescope` and the option `--cyclescope-update`.

Every pytest imports this module if Cyclescope is installed, so other modules are imported only when
a test uses the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from cyclescope.testing.fixture import Bench

_WRITTEN = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes snapshots."""
    parser.getgroup("cyclescope", "virtual boards").addoption(
        "--cyclescope-update",
        action="store_true",
        help="write the snapshots that cyclescope.check compares with, in place of comparing",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the list of written snapshots."""
    config.stash[_WRITTEN] = []


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the written snapshots, which are to be committed."""
    for path in config.stash[_WRITTEN]:
        terminalreporter.write_line(f"cyclescope: wrote {path}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report an error of a board or a run as one line, without a traceback."""
    report = yield
    if call.excinfo is not None and "cyclescope" in getattr(item, "fixturenames", ()):
        from cyclescope.errors import EngineError, error_text

        if isinstance(call.excinfo.value, EngineError):
            own = [entry for entry in call.excinfo.traceback if entry.path == item.path]
            line = f":{own[-1].lineno + 1}" if own else ""
            report.longrepr = f"{item.location[0]}{line}: {error_text(call.excinfo.value)}"
    return report


@pytest.fixture
def cyclescope(request: pytest.FixtureRequest) -> Bench:
    """Virtual boards that run firmware, and snapshots of their runs."""
    from cyclescope.testing.fixture import Bench

    config = request.config
    return Bench(
        request.node,
        config.rootpath,
        config.getoption("--cyclescope-update"),
        config.stash[_WRITTEN].append,
    )
