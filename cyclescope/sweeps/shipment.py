"""The files that the runs of a sweep need on another machine, packed to be sent there.

The target contains its programs. Boards are sent as trees, images and SVD files as bytes, devices
in Python as source. The other machine needs the same build of Cyclescope.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cyclescope._engine import Stop
from cyclescope.bench.images import IMAGE
from cyclescope.board.description import digests, trees
from cyclescope.board.description.devicetree import Node
from cyclescope.board.setup import users_devices
from cyclescope.errors import EngineError, UsageError, error_text
from cyclescope.sweeps import outcomes
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.targets import BOARD, ELF, Target


@dataclass(frozen=True)
class Shipment:
    """A target with the files of this machine that its runs need, by their paths here."""

    target: Target
    build: str
    boards: Mapping[str, Node]
    files: Mapping[str, bytes]
    devices: Mapping[str, str]


def packed(planned: Plan) -> Shipment:
    """All that the plan's runs need.

    Raises `OSError` for a file that can't be read, `UsageError` for devices that can't be sent.
    """
    target = planned.target
    varied = {axis.path: axis.values for axis in planned.axes}
    named = [value for path, values in varied.items() if path.endswith(IMAGE) for value in values]
    for elf in varied.get(ELF, ()):
        # programs that no row's check has read yet
        target.trial(0, {ELF: elf})
    files = [name for name in (*named, *target.files()) if name and Path(name).is_file()]
    return Shipment(
        target=target,
        build=digests.of_build(),
        boards={name: trees.board_tree(name) for name in varied.get(BOARD, target.boards())},
        files={name: Path(name).read_bytes() for name in files},
        devices={file: _source(file) for file in sorted(users_devices.files())},
    )


def _source(file: str) -> str:
    """The source of devices in Python, which another machine can run."""
    own = getattr(sys.modules.get("__main__"), "__file__", None)
    if not Path(file).is_file() or (own is not None and Path(file).samefile(own)):
        raise UsageError(
            f"{file}: its devices can't be sent to another machine, as its program goes with them: "
            "put them into a file of their own, and load it with cyclescope.devices.load"
        )
    return Path(file).read_text("utf-8")


class Unpacked:
    """A sweep's shipment on another machine, until it is closed."""

    def __init__(self, shipment: Shipment) -> None:
        """Raises `RuntimeError` if this machine's build of Cyclescope is another."""
        if shipment.build != digests.of_build():
            raise RuntimeError("this worker has another build of Cyclescope")
        self._folder = tempfile.TemporaryDirectory(prefix="cyclescope-sweep-")
        folder = Path(self._folder.name)
        self._files: dict[str, str] = {}
        for number, (name, content) in enumerate(shipment.files.items()):
            place = folder / f"file{number}"
            place.write_bytes(content)
            self._files[name] = str(place)
        self._devices = list(shipment.devices.values())
        for number, (name, text) in enumerate(shipment.devices.items()):
            _take_devices(folder / f"devices{number}" / Path(name).name, text)
        for board, tree in shipment.boards.items():
            trees.give(board, tree)
        self._target = shipment.target.moved(self._files)

    def run(self, base: int, values: Mapping[str, str]) -> Outcome:
        """Run a base of the target with these values."""
        here = {
            path: self._files.get(value, value) if path.endswith(IMAGE) else value
            for path, value in values.items()
        }
        try:
            return self._target.trial(base, here).run(Stop())
        except (EngineError, OSError) as error:
            return outcomes.failed(error_text(error))

    def close(self) -> None:
        """Remove its files and its devices: another sweep may have others for the same node."""
        for text in self._devices:
            _leave_devices(text)
        self._folder.cleanup()


@dataclass
class _Used:
    """Devices in Python in this process: the path of their source, and the number of sweeps."""

    place: Path
    sweeps: int


# By their source text.
_devices: dict[str, _Used] = {}


def _take_devices(place: Path, text: str) -> None:
    """Load the devices of a source. Raises `UsageError` for others with the same compatible."""
    from cyclescope.devices import load  # few boards need it

    if text in _devices:
        _devices[text].sweeps += 1
        return
    place.parent.mkdir()
    place.write_text(text, "utf-8")
    load(place)
    _devices[text] = _Used(place, 1)


def _leave_devices(text: str) -> None:
    """Unload devices that the last sweep no longer needs."""
    from cyclescope.devices import registry

    used = _devices[text]
    used.sweeps -= 1
    if not used.sweeps:
        del _devices[text]
        registry.forget(used.place)
