"""Pictures of a report for docs/pictures: its overview on a desktop, on a phone, and dark; an
experiment's waits, and its timeline.

PYTHONPATH=tests/support python scripts/report_pictures.py [results/report.html [docs/pictures]]
needs Chromium with its driver, and Pillow.
"""

import base64
import io
import sys
from pathlib import Path

from browser import CHROMIUM, DRIVER, Browser, opened
from PIL import Image

# The limit of a picture's bytes, so that a page with them opens quickly.
MOST_BYTES = 300_000
# Name: width and height in CSS pixels, pixels of the picture for each, dark.
PICTURES = {
    "report-desktop": (1440, 1600, 1.0, False),
    "report-phone": (390, 1300, 1.5, False),
    "report-dark": (1440, 1600, 1.0, True),
}
# Name: the section, and the element of it for the picture.
PARTS = {
    "report-waits": ("quad-spi-throughput", "figure.stacks"),
    "report-timeline": ("quad-spi-throughput", "figure.moment"),
}
PART_WIDTH, PART_HEIGHT, MARGIN = 1200, 900, 12


def take(browser: Browser, page: Path, width: int, height: int, scale: float, dark: bool) -> bytes:
    """The top of a page as PNG."""
    browser.show(page, width, dark, height=height, scale=scale)
    shot = browser.command("Page.captureScreenshot", format="png")
    return base64.b64decode(shot["data"])


def take_part(browser: Browser, page: Path, section: str, selector: str) -> bytes:
    """The first matching element of a section as PNG."""
    browser.show(page, PART_WIDTH, height=PART_HEIGHT)
    box = browser.script(
        "const box = document.getElementById(arguments[0]).querySelector(arguments[1])"
        ".getBoundingClientRect();"
        "return [box.left + scrollX, box.top + scrollY, box.width, box.height];",
        section,
        selector,
    )
    left, top, width, height = box
    clip = {"x": left - MARGIN, "y": top - MARGIN, "scale": 1}
    clip |= {"width": width + 2 * MARGIN, "height": height + 2 * MARGIN}
    shot = browser.command(
        "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
    )
    return base64.b64decode(shot["data"])


def save(picture: bytes, path: Path) -> None:
    """Write a picture in the smallest size that keeps its colours."""
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
        for name, part in PARTS.items():
            save(take_part(browser, Path(report).resolve(), *part), Path(folder) / f"{name}.png")


main(*sys.argv[1:])
