"""docs/report.png from a report: what was published, what was simulated, where the time went.

python scripts/report_picture.py [results/report.html [docs/report.png]]; needs chromium and Pillow.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

# Of the page, only the first experiment's title and its first plots; none of the tables.
ONLY = """<style>
  header, footer, #trust, .experiment ~ .experiment, .experiment > p, .experiment details,
  .experiment > .wide, h3:not(:has(+ figure.bars)) { display: none }
  .experiment > figure.stacks ~ * { display: none }
  h2 { margin-top: 0 !important; border: 0 !important }
  body { max-width: 56rem !important; padding: 1rem 1.5rem !important }
</style></head>"""
FLAGS = (
    "headless no-sandbox disable-gpu disable-quic no-first-run hide-scrollbars "
    "disable-background-networking disable-component-update disable-sync "
    "blink-settings=preferredColorScheme=1 force-device-scale-factor=1.5 window-size=900,1400"
)


def screenshot(page: Path, picture: Path, profile: str) -> None:
    """A picture of a page by headless Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("report_picture: chromium is not installed")
    flags = [f"--{flag}" for flag in FLAGS.split()]
    flags += [f"--user-data-dir={profile}", f"--screenshot={picture}"]
    subprocess.run([chromium, *flags, page.as_uri()], check=True, capture_output=True, timeout=120)


def crop(picture: Path) -> None:
    """Cut the empty rows below the page's content, but for a margin."""
    image = Image.open(picture).convert("RGB")
    empty = Image.new("RGB", image.size, image.getpixel((0, image.height - 1)))
    bottom = ImageChops.difference(image, empty).getbbox()[3]
    image = image.crop((0, 0, image.width, min(bottom + 24, image.height)))
    image.quantize(128).save(picture, optimize=True)


def main(report: str = "results/report.html", picture: str = "docs/report.png") -> None:
    """Make the picture of a report."""
    html = Path(report).read_text(encoding="utf-8").replace("</head>", ONLY, 1)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(html, encoding="utf-8")
        screenshot(page, Path(picture).resolve(), f"{folder}/profile")
    crop(Path(picture))


main(*sys.argv[1:])
