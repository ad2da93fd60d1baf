"""Images of chips that runs start from: each run has copies, and what it leaves is checked."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from cyclescope import disks
from cyclescope.bench.experiment import Run
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import RunRecord
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.errors import DiskError, OutputError
from cyclescope.host import outputs

IMAGE = ".cyclescope,image"
"""The end of an override's path that names the image of a chip."""


@contextlib.contextmanager
def of_run(run: Run) -> Iterator[tuple[Mapping[str, OverrideValue], Path | None]]:
    """A run's overrides with copies of images in place, and the copy of its disk's."""
    with inserted(run.overrides, run.disk, run.slot(run.settings)) as found:
        yield found


@contextlib.contextmanager
def inserted(
    overrides: Mapping[str, OverrideValue], disk: disks.Disk | None = None, slot: str = ""
) -> Iterator[tuple[Mapping[str, OverrideValue], Path | None]]:
    """Overrides with copies of the images that they name, and the copy of the `disk` in the `slot`.

    Images that the user names are copied too: other runs may start from them at the same time. Only
    the board gets the copies' paths: results do not contain them.
    """
    named = {
        path: Path(str(own))
        for path, own in overrides.items()
        if path.endswith(IMAGE) and own and (disk or Path(str(own)).exists())
    }
    if disk is not None and slot not in named:
        named[slot] = disks.image(disk)
    with contextlib.ExitStack() as open_copies:
        copies = {
            path: open_copies.enter_context(disks.copy_of(image)) for path, image in named.items()
        }
        # an image that does not exist yet is an erased flash
        unnamed = {path: "" for path in overrides if path.endswith(IMAGE)}
        at = {path: str(copy) for path, copy in copies.items()}
        yield dict(overrides) | unnamed | at, copies.get(slot)


def checked(job: Job, record: RunRecord, image: Path, keep: Path | None) -> RunRecord:
    """The record with the error of its disk, if the run has no error of its own."""
    error = record.error or _damage(job.configured, image)
    if error is not None and keep is not None:
        words = re.sub(r"[^\w.=]+", "-", f"{job.experiment.name} {record.label}")
        error = f"{error}; {_kept(image, keep / f'{words}.img')}"
    return replace(record, error=error)


def _kept(image: Path, place: Path) -> str:
    """Keep the disk of a run that failed; returns where it is, or why it was lost."""
    try:
        outputs.make_folder(place.parent)
        with outputs.opened(place, "wb") as new:
            disks.copy_into(image, new)
    except OutputError as error:
        return f"its disk is lost: {error}"
    return f"its disk is {place}"


def _damage(run: Run, image: Path) -> str | None:
    """The damage of the image that a run left; None if it is sound."""
    try:
        disks.check(image)
        disks.compare(image, run.files(run.settings))
        # the places of files are known only for the disk that the run brings
        if run.disk is not None and run.slot(run.settings) not in run.overrides:
            disks.compare_deleted(image, run.disk, run.deleted(run.settings))
    except DiskError as error:
        return str(error)
    return None
