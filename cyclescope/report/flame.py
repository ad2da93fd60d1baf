"""A profile as a page that needs nothing but a browser: speedscope with the profile in it.

speedscope (MIT; `speedscope/` has its version) shows flame graphs, in which it zooms and searches,
and for each function who calls it and whom it calls. Each core is there twice: its call paths, and
the same with causes as innermost frames.
"""

from __future__ import annotations

import html
import re
from functools import cache
from importlib import resources

from cyclescope.profile.profile import Profile
from cyclescope.profile.speedscope import speedscope

_FOLDER = "speedscope"
# A file beside the release's own, which a page alone has not.
_BESIDE = re.compile(r"/[/*][#] sourceMappingURL=\S+( \*/)?|@font-face\{[^}]*\}")
# speedscope takes what is pasted; the view is part of the address.
_SCRIPT = """
if (!location.hash) history.replaceState(null, "", "#view=left-heavy");
addEventListener("load", () => setTimeout(() => {
  if (!document.createElement("canvas").getContext("webgl")) {
    document.body.textContent = "The flame graph needs WebGL, which this browser has not.";
    return;
  }
  const data = new DataTransfer();
  data.setData("text/plain", document.getElementById("profile").textContent);
  document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data }));
}));
"""


def flame_page(profile: Profile, exporter: str) -> str:
    """The page as HTML; `exporter` names the program and its version."""
    title = html.escape(f"{profile.firmware} on {profile.board}")
    # no text within ends the element that it stands in
    data = speedscope(profile, exporter).replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_release('speedscope.css')}\n</style>\n"
        f'<script id="profile" type="application/json">\n{data}</script>\n'
        f"<script>{_SCRIPT}</script>\n</head>\n<body>\n"
        "<noscript>The flame graph needs scripts.</noscript>\n"
        f"<!--\n{_licence()}-->\n"
        f"<script>\n{_release('speedscope.js')}\n</script>\n</body>\n</html>\n"
    )


@cache
def _release(name: str) -> str:
    text = (resources.files("cyclescope.report") / _FOLDER / name).read_text(encoding="utf-8")
    return _BESIDE.sub("", text).strip()


def _licence() -> str:
    text = (resources.files("cyclescope.report") / _FOLDER / "LICENSE").read_text(encoding="utf-8")
    return f"speedscope, https://github.com/jlfwong/speedscope\n\n{text}"
