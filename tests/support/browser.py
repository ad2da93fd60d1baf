"""A browser for those who look at the report: headless Chromium, driven by selenium.

Selenium fetches nothing here: browser and driver are those that the host has.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
_FLAGS = (
    "headless no-sandbox disable-gpu disable-quic no-first-run hide-scrollbars "
    "disable-background-networking disable-component-update disable-sync disable-dev-shm-usage"
)


class Browser(webdriver.Chrome):
    """Chromium with the options that a report's readers change: window, colours, medium."""

    def show(
        self,
        page: Path,
        width: int,
        dark: bool = False,
        place: str = "",
        height: int = 900,
        scale: float = 1,
    ) -> None:
        """Load a page again, in a window of this size in pixels; `place` is an id in it."""
        self.settle(width, dark, height=height, scale=scale)
        self.get("about:blank")
        self.get(page.as_uri() + (f"#{place}" if place else ""))

    def settle(
        self,
        width: int,
        dark: bool = False,
        medium: str = "",
        height: int = 900,
        scale: float = 1,
    ) -> None:
        """Change the window and the medium of the page."""
        is_phone = width < 500
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_phone}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        self.command("Emulation.setEmulatedMedia", media=medium, features=[scheme])

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self.execute_cdp_cmd(name, parameters)

    def script(self, body: str, *arguments: Any) -> Any:
        """The return value of a function with this body in the page."""
        return self.execute_script(body, *arguments)

    def wait_for(self, condition: str, *arguments: Any) -> None:
        """Draw frames until an expression of the page holds; else raises `TimeoutException`."""
        self.execute_async_script(
            "const [done, given] = [[...arguments].pop(), arguments];"
            f"const holds = function () {{ return {condition}; }};"
            "const look = () => holds.apply(null, given) ? done() : requestAnimationFrame(look);"
            "look();",
            *arguments,
        )


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser that ends with the block; there has to be one on the host."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in _FLAGS.split():
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Browser(options=options, service=Service(DRIVER))
    browser.set_script_timeout(20)
    try:
        yield browser
    finally:
        browser.quit()
