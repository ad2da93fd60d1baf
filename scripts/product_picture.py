"""docs/pictures/product.png, at the top of the README: a slow STM32F4 program, before and after.

PYTHONPATH=tests/support python scripts/product_picture.py [docs/pictures]; needs Chromium with its
driver, and Pillow. The program is that of `cyclescope demo`; "after" sets the bits of FLASH_ACR
that `cyclescope advise` names. Above, the cycle stacks of both runs; below, the flame graph of the
first, as `cyclescope profile --flame` writes it.
"""

from __future__ import annotations

import base64
import io
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import CHROMIUM, DRIVER, opened
from matplotlib import pyplot
from PIL import Image
from selenium.webdriver.common.by import By

from cyclescope import Board, RunResult, firmware
from cyclescope.board.description.presets import Preset, snapshot
from cyclescope.units import format_ps, format_share

APP, BOARD = "fir_filter", "stm32f4-disco"
WIDTH_PX, STACKS_PX, FLAME_PX = 1200, 260, 300
# The page's tool bar and its overview.
BARS_PX = 122
# PRFTEN, ICEN and DCEN of FLASH_ACR (RM0090, 3.9.1).
ACR, CACHES_ON = 0x40023C00, 0x700
COLOURS = ("#b04a5a", "#3b6fb6", "#d9822b", "#6a8f4e", "#8a6fb0", "#b8b8b8")
MOST_CAUSES = len(COLOURS) - 1


def runs(elf: Path) -> dict[str, RunResult]:
    """The program unchanged, and with the flash's prefetch and caches on."""
    board = Board(BOARD)
    board.load(elf)
    slow = board.run()
    board = Board(BOARD)
    board.load(elf)
    begin = snapshot(board, [Preset(ACR, CACHES_ON, CACHES_ON)], "1s")
    return {"as it is": slow, "flash caches on": board.run(start_from=begin)}


def stacks(results: dict[str, RunResult]) -> Image.Image:
    """A bar for each run, divided among the causes that matter most."""
    first = next(iter(results.values())).cores[0].stack
    causes = [entry.cause for entry in sorted(first, key=lambda entry: -entry.ps)][:MOST_CAUSES]
    figure, axes = pyplot.subplots(figsize=(WIDTH_PX / 100, STACKS_PX / 100), dpi=100)
    for place, result in enumerate(results.values()):
        by_cause = {entry.cause: entry.ps for entry in result.cores[0].stack}
        shown = {cause: by_cause.get(cause, 0) for cause in causes}
        shown["all other"] = result.elapsed_ps - sum(shown.values())
        left = 0.0
        for (cause, ps), colour in zip(shown.items(), COLOURS, strict=True):
            label = cause if place == 0 else None
            axes.barh(place, ps / 1e9, left=left, color=colour, label=label, height=0.62)
            if ps > result.elapsed_ps / 20:
                share = format_share(ps, result.elapsed_ps)
                middle = left + ps / 2e9
                axes.text(middle, place, share, ha="center", va="center", color="white")
            left += ps / 1e9
        axes.text(left + 0.05, place, format_ps(result.elapsed_ps), va="center", weight="bold")
    axes.set_yticks(range(len(results)), list(results))
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    axes.set_title("Where the time of a FIR filter goes on an STM32F407 at 168 MHz", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="lower center", ncols=6, frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    written = io.BytesIO()
    figure.savefig(written)
    return Image.open(written).convert("RGB")


def flame(elf: Path, folder: Path) -> Image.Image:
    """The flame graph by cause, as a browser shows its page."""
    page = folder / "flame.html"
    command = ["-m", "cyclescope", "profile", str(elf), "--board", BOARD, "--flame", str(page)]
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    with opened() as browser:
        browser.show(page, WIDTH_PX, height=FLAME_PX)
        shown = "document.body.innerText.includes(arguments[0])"
        browser.wait_for(shown, "cycles (1/2)")
        browser.find_element(By.TAG_NAME, "body").send_keys("n")
        browser.wait_for(shown, "by cause (2/2)")
        # drawn with the frame after the next
        browser.wait_for("(window.frames_drawn = (window.frames_drawn ?? 0) + 1) > 30")
        shot = browser.command("Page.captureScreenshot", format="png")
    whole = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    return whole.crop((0, BARS_PX, whole.width, whole.height))


def main(pictures: str = "docs/pictures") -> None:
    """Make the picture."""
    if CHROMIUM is None or DRIVER is None:
        sys.exit("product_picture: chromium or chromium-driver is not installed")
    elf = firmware.build_app(APP, BOARD, {})
    with tempfile.TemporaryDirectory() as name:
        parts = [stacks(runs(elf)), flame(elf, Path(name))]
    height = sum(part.height for part in parts)
    whole = Image.new("RGB", (WIDTH_PX, height), "white")
    top = 0
    for part in parts:
        whole.paste(part, (0, top))
        top += part.height
    path = Path(pictures) / "product.png"
    whole.save(path, optimize=True)
    print(f"{path}: {whole.width} x {whole.height}, {path.stat().st_size} bytes")


main(*sys.argv[1:])
