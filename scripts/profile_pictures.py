"""Pictures of docs/how-to/profile.md: its flame graph by cause, and its annotated function.

PYTHONPATH=tests/support python scripts/profile_pictures.py [docs/pictures]; needs Chromium with its
driver, and Pillow.
"""

import base64
import io
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import CHROMIUM, DRIVER, Browser, opened
from PIL import Image
from selenium.webdriver.common.by import By

ROOT = Path(__file__).resolve().parent.parent
BOARD = "kc705-axi-quad-spi"
OPTIONS = "-target riscv32-freestanding -mcpu=generic_rv32+m+c -O2 -g -ffreestanding -fno-builtin"
OPTIONS += " -nostdlib -Wl,--image-base=0x80000000"
WIDTH = 1200


def make(folder: Path) -> None:
    """The page's program, and its pages."""
    (folder / "turn.c").write_bytes((ROOT / "docs" / "examples" / "turn.c").read_bytes())
    cyclescope = [sys.executable, "-m", "cyclescope"]
    # the pictures show no scratch folder
    options = [*OPTIONS.split(), f"-ffile-prefix-map={folder}=."]
    for command in (
        [sys.executable, "-m", "ziglang", "cc", *options, "turn.c", "-o", "turn.elf"],
        [*cyclescope, "profile", "turn.elf", "--board", BOARD, "--flame", "flame.html"],
        [*cyclescope, "annotate", "turn.elf", "turn", "--board", BOARD, "--html", "annotate.html"],
    ):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def take(browser: Browser, path: Path) -> None:
    """The window as a picture, in the smallest size that keeps its colours."""
    shot = browser.command("Page.captureScreenshot", format="png")
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    image.save(path, optimize=True)
    print(f"{path}: {image.width} x {image.height}, {path.stat().st_size} bytes")


def main(pictures: str = "docs/pictures") -> None:
    """Make both pictures."""
    if CHROMIUM is None or DRIVER is None:
        sys.exit("profile_pictures: chromium or chromium-driver is not installed")
    with tempfile.TemporaryDirectory() as name, opened() as browser:
        folder = Path(name)
        make(folder)
        shown = "document.body.innerText.includes(arguments[0])"
        browser.show(folder / "flame.html", WIDTH, height=340)
        browser.wait_for(shown, "cycles (1/2)")
        browser.find_element(By.TAG_NAME, "body").send_keys("n")
        browser.wait_for(shown, "by cause (2/2)")
        # drawn with the frame after the next
        browser.wait_for("(window.frames_drawn = (window.frames_drawn ?? 0) + 1) > 30")
        take(browser, Path(pictures) / "flame.png")
        browser.show(folder / "annotate.html", 1500, height=760)
        take(browser, Path(pictures) / "annotate.png")


main(*sys.argv[1:])
