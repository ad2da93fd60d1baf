"""Converts a matplotlib figure to SVG that is part of an HTML page and uses the page's colours."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from cyclescope.report.colours import VARIABLES

_NAMESPACE = re.compile(r"\{[^}]*\}")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
# Matplotlib writes millionths of a unit; only hundredths are visible.
_FINE = re.compile(r"\d+\.\d{3,}")
# Matplotlib names fonts in one of two ways, depending on its version.
_FONT = re.compile(r"font: ([^;']*?)'[^;]*")
_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_UNTURNED = re.compile(r"rotate\(-?0 [^)]*\)")
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "cyclescope", "svg.image_inline": True}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def inline(
    figure: Figure,
    prefix: str,
    title: str,
    marks: Mapping[str, str],
    links: Mapping[str, str] | None = None,
    swarms: Mapping[str, Sequence[str]] | None = None,
) -> Markup:
    """A figure as an `<svg>` element.

    `prefix` makes its ids different from other figures'; `title` describes it to readers who can't
    see it; `marks` maps the gid of an artist to its explanation, `links` to the address of its
    link. `swarms` has the explanations of an artist that draws many markers, one each.
    """
    text = io.BytesIO()
    with matplotlib.rc_context(_SETTINGS):
        figure.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    root = ElementTree.fromstring(text.getvalue())
    for element in root.iter():
        _clean(element)
    _remove(root, {"metadata", "style"})
    linked = _mark(root, marks, links or {})
    _mark_each(root, swarms or {})
    _keep_needed_ids(root, prefix)
    for element, target in linked:
        _link(element, target)
    for size in ("width", "height"):
        del root.attrib[size]
    # a screen reader can't treat an image with links as a single picture
    root.attrib |= {"role": "group" if linked else "img", "aria-label": title}
    # escaped by ElementTree
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=True))


def _clean(element: ElementTree.Element) -> None:
    """Plain HTML names, and the page's colours and font."""
    element.tag = _NAMESPACE.sub("", element.tag)
    attributes = {
        _NAMESPACE.sub("", name): _themed(value) for name, value in element.attrib.items()
    }
    element.attrib = {name: value for name, value in attributes.items() if value}
    # white space only for indentation
    element.text, element.tail = (
        text if text and text.strip() else None for text in (element.text, element.tail)
    )


def _remove(root: ElementTree.Element, tags: set[str]) -> None:
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in tags]:
            parent.remove(child)


def _themed(value: str) -> str:
    value = _FONT.sub(r"font: \1var(--font)", _FAMILY.sub("", value))
    value = _UNTURNED.sub("", value)
    value = _FINE.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
    return _COLOUR.sub(lambda found: VARIABLES[found[0]], value)


def _mark(
    root: ElementTree.Element, marks: Mapping[str, str], links: Mapping[str, str]
) -> list[tuple[ElementTree.Element, str]]:
    """A class and an explanation for each artist of a known gid; those with a link, and its target.

    The explanation of a link is inside it.
    """
    linked = []
    for element in root.iter("g"):
        gid = element.get("id", "")
        if gid in marks:
            element.set("class", gid.partition("-")[0])
            explanation = ElementTree.Element("title")
            explanation.text = marks[gid]
            element.insert(0, explanation)
        if gid in links:
            linked.append((element, links[gid]))
    return linked


def _mark_each(root: ElementTree.Element, swarms: Mapping[str, Sequence[str]]) -> None:
    """An explanation for each marker of the artists of known gids; common attributes stand once."""
    for element in [one for one in root.iter("g") if one.get("id") in swarms]:
        gid = element.attrib["id"]
        parents = [one for one in element.iter() if any(child.tag == "use" for child in one)]
        for parent in parents:
            markers = [child for child in parent if child.tag == "use"]
            parent.set("style", markers[0].get("style", ""))
            for marker, text in zip(markers, swarms[gid], strict=True):
                parent.remove(marker)
                marker.attrib.pop("style", None)
                group = ElementTree.SubElement(parent, "g", {"class": gid.partition("-")[0]})
                ElementTree.SubElement(group, "title").text = text
                group.append(marker)


def _link(element: ElementTree.Element, target: str) -> None:
    """Make all contents of an element a link."""
    anchor = ElementTree.Element("a", href=target)
    anchor.extend(list(element))
    for child in list(element):
        element.remove(child)
    element.append(anchor)


def _keep_needed_ids(root: ElementTree.Element, prefix: str) -> None:
    """Drop unused ids, and make the others unique to this figure."""
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
