"""firmware/apps/<app>/<board>.elf: apps that come built, from their sources.

python scripts/shipped_elfs.py builds all existing ones again.
"""

import shutil
from pathlib import Path

from cyclescope import firmware

APPS = Path(__file__).parent.parent / "firmware" / "apps"


def main() -> None:
    """Build each of them for its board, with default settings."""
    for elf in sorted(APPS.glob("*/*.elf")):
        shutil.copyfile(firmware.build_app(elf.parent.name, elf.stem, {}), elf)


main()
