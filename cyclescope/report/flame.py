"""A profile as a page that needs only a browser: speedscope with the profile in it.

speedscope (MIT; `speedscope/` has its version) shows flame graphs that zoom and search, and the
callers and callees of each function. Each core has two profiles: its call paths, and the same with
causes as innermost frames.
"""

from __future__ import annotations

import base64
import html
import json
import re
from functools import cache
from importlib import resources

from cyclescope.profile.profile import Profile
from cyclescope.profile.speedscope import speedscope

_FOLDER = "speedscope"
# References to files of speedscope's release, which a single page does not have.
_BESIDE = re.compile(r"/[/*][#] sourceMappingURL=\S+( \*/)?|@font-face\{[^}]*\}")
# speedscope opens pasted text; the view is part of the address.
_SHOW = """
function show(profile) {
  if (!document.createElement("canvas").getContext("webgl"))
    return say("The flame graph needs WebGL, which this browser has not.");
  const data = new DataTransfer();
  data.setData("text/plain", profile);
  document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data }));
}
function say(why) { document.body.textContent = why; }
"""
_OWN = """
if (!location.hash) history.replaceState(null, "", "#view=left-heavy");
const profile = () => document.getElementById("profile").textContent;
addEventListener("load", () => setTimeout(() => show(profile())));
"""
# A script beside the page has the profile: without a server, browsers read no other file.
_BESIDE_IT = """
const run = () => new URLSearchParams(location.hash.slice(1)).get("run") ?? "";
const shown = run();
if (!/[#&]view=/.test(location.hash))
  history.replaceState(null, "", `#run=${shown}&view=left-heavy`);
addEventListener("hashchange", () => { if (run() !== shown) location.reload(); });
async function cyclescopeProfile(title, packed) {
  document.title = title;
  if (!window.DecompressionStream) return say("This browser can't unpack the profile.");
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  show(await new Response(stream).text());
}
addEventListener("load", () => {
  if (!/^[a-z0-9-]+$/.test(shown))
    return say("The address names no run: the report has links with names.");
  const script = document.createElement("script");
  script.src = `${shown}.js`;
  script.onerror = () => say(`${shown}.js, which has the profile, is not beside this page.`);
  document.head.append(script);
});
"""


def flame_page(profile: Profile, exporter: str) -> str:
    """The page as HTML; `exporter` names the program and its version."""
    # escape text that would end its element
    data = speedscope(profile, exporter).replace("<", "\\u003c")
    own = f'<script id="profile" type="application/json">\n{data}</script>\n'
    return _page(f"{profile.firmware} on {profile.board}", own, _OWN)


def viewer_page(comment: str) -> str:
    """A page that shows the profile in its address: `#run=NAME` is the script NAME.js.

    It has a comment near its start.
    """
    return _page("Flame graph", "", _BESIDE_IT).replace("<html", f"<!-- {comment} -->\n<html", 1)


def profile_script(title: str, packed: bytes) -> str:
    """The script of a profile, for the page of `viewer_page`; `packed` is gzip's."""
    data = base64.b64encode(packed).decode()
    return f'cyclescopeProfile({json.dumps(title)}, "{data}");\n'


def _page(title: str, data: str, script: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_release('speedscope.css')}\n</style>\n"
        f"{data}<script>{_SHOW}{script}</script>\n</head>\n<body>\n"
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
