"""Pictures of a report's overview for docs/pictures: on a desktop, on a phone, and dark.

PYTHONPATH=tests python scripts/report_pictures.py [results/report.html [docs/pictures]]; needs
Chromium with its driver, and Pillow.
"""

import base64
import io
import sys
from pathlib import Path

from browser import CHROMIUM, DRIVER, Browser, opened
from PIL import Image

# Each picture below this, so that a page that shows them opens quickly.
MOST_BYTES = 300_000
# Name: width and height in CSS pixels, pixels of the picture for each, dark.
PICTURES = {
    "report-desktop": (1440, 1600, 1.0, False),
    "report-phone": (390, 1300, 1.5, False),
    "report-dark": (1440, 1600, 1.0, True),
}


def take(browser: Browser, page: Path, width: int, height: int, scale: float, dark: bool) -> bytes:
    """The top of a page as PNG."""
    browser.show(page, width, dark, height=height, scale=scale)
    shot = browser.command("Page.captureScreenshot", format="png")
    return base64.b64decode(shot["data"])


def save(picture: bytes, path: Path) -> None:
    """Write a picture as small as it gets without a change of its colours."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.save(path, optimize=True)
    size = path.stat().st_size
    if size >= MOST_BYTES:
        sys.exit(f"report_pictures: {path} has {size} bytes, more than {MOST_BYTES}")
    print(f"{path}: {image.width} x {image.height}, {size} bytes")


def main(report: str = "results/report.html", folder: str = "docs/pictures") -> None:
    """Make all pictures of a report."""
    if CHROMIUM is None or DRIVER is None:
        sys.exit("report_pictures: chromium or chromium-driver is not installed")
    Path(folder).mkdir(parents=True, exist_ok=True)
    with opened() as browser:
        for name, look in PICTURES.items():
            save(take(browser, Path(report).resolve(), *look), Path(folder) / f"{name}.png")


main(*sys.argv[1:])
