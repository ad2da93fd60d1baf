"""The programs of runs: an app's firmware, or a Linux that runs an app's program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Settings
from cyclescope.firmware import build_app, digest_of, load_app

_Overrides = Mapping[str, OverrideValue]


def built(
    app: str,
    board: str,
    settings: Settings,
    overrides: _Overrides | None = None,
    flags: Sequence[str] = (),
) -> Path:
    """The ELF of an app for a board; `flags` are for the compiler of firmware.

    Raises `FirmwareError` as `build_app` does, `UsageError` if a package of Linux is missing.
    """
    found = load_app(app)
    if found.linux is None:
        return build_app(app, board, settings, overrides, flags)
    from cyclescope.linux import applications  # only such apps need it

    return applications.build_system(found, board, settings, overrides)


def digest(
    app: str,
    board: str,
    settings: Settings,
    overrides: _Overrides | None = None,
    flags: Sequence[str] = (),
) -> str:
    """Digest of all inputs of `built`, without building; raises the same errors."""
    found = load_app(app)
    if found.linux is None:
        return digest_of(app, board, settings, overrides, flags)
    from cyclescope.linux import applications

    return applications.digest_of_system(found, board, settings, overrides)
