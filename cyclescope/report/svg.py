"""From a matplotlib figure to SVG that stands inside HTML and follows the page's colours."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from cyclescope.report.colours import VARIABLES

_NAMESPACE = re.compile(r"\{[^}]*\}")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"font: ([^;']*?)'[^;]*")
_SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "cyclescope", "svg.image_inline": True}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def inline(figure: Figure, prefix: str, title: str, marks: Mapping[str, str]) -> Markup:
    """A figure as an `<svg>` element.

    `prefix` keeps its ids apart from other figures'; `title` says to those who don't see it what
    it shows; `marks` maps the gid of an artist to the text that explains it.
    """
    text = io.BytesIO()
    with matplotlib.rc_context(_SETTINGS):
        figure.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    root = ElementTree.fromstring(text.getvalue())
    for element in root.iter():
        _clean(element)
    _remove(root, {"metadata", "style"})
    _mark(root, marks)
    _keep_needed_ids(root, prefix)
    for size in ("width", "height"):
        del root.attrib[size]
    root.attrib |= {"role": "img", "aria-label": title}
    # escaped by ElementTree
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=True))


def _clean(element: ElementTree.Element) -> None:
    """Plain HTML names, and the page's colours and font."""
    element.tag = _NAMESPACE.sub("", element.tag)
    element.attrib = {
        _NAMESPACE.sub("", name): _themed(value) for name, value in element.attrib.items()
    }


def _remove(root: ElementTree.Element, tags: set[str]) -> None:
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in tags]:
            parent.remove(child)


def _themed(value: str) -> str:
    value = _FONT.sub(r"font: \1var(--font)", value)
    return _COLOUR.sub(lambda found: VARIABLES[found[0]], value)


def _mark(root: ElementTree.Element, marks: Mapping[str, str]) -> None:
    """A class and an explanation for each artist of a known gid."""
    for element in root.iter("g"):
        gid = element.get("id", "")
        if gid in marks:
            element.set("class", gid.partition("-")[0])
            explanation = ElementTree.Element("title")
            explanation.text = marks[gid]
            element.insert(0, explanation)


def _keep_needed_ids(root: ElementTree.Element, prefix: str) -> None:
    """Drop ids that nothing refers to, and make the others this figure's own."""
    needed = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            needed.update(_REFERENCE.findall(value))
            if name == "href":
                needed.add(value.removeprefix("#"))
    for element in root.iter():
        attributes = element.attrib
        if attributes.get("id") in needed:
            attributes["id"] = f"{prefix}-{attributes['id']}"
        else:
            attributes.pop("id", None)
        for name, value in list(attributes.items()):
            attributes[name] = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
        if "href" in attributes:
            attributes["href"] = f"#{prefix}-{attributes['href'].removeprefix('#')}"
