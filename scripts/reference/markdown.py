"""Markdown that reads well as plain text: lines of up to 100 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

COLUMNS = 100
# The first line of a page that is made.
MADE = "<!-- Made by scripts/reference; changes go into what it is made from. -->"


def page(title: str, *parts: str) -> str:
    """A page of parts; the first line says that it is made, and from what."""
    return "\n\n".join([MADE, f"# {title}", *(part.strip("\n") for part in parts if part)]) + "\n"


def paragraph(text: str, first: str = "", rest: str = "") -> str:
    """A text in lines, with what begins the first one and the rest."""
    return textwrap.fill(
        " ".join(text.split()),
        COLUMNS,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def paragraphs(text: str) -> str:
    """Paragraphs as they are written, and lists with dashes, in new lines."""
    return "\n\n".join(map(_block, text.strip().split("\n\n")))


def _block(text: str) -> str:
    if text.startswith(("```", "    ")):
        return text
    items = re.split(r"(?m)^- ", text)
    if len(items) == 1:
        return paragraph(text)
    lines = [item(entry) for entry in items[1:]]
    head = [paragraph(items[0]), ""] if items[0].strip() else []
    return "\n".join(head + lines)


def item(text: str) -> str:
    """An item of a list."""
    return paragraph(text, first="- ", rest="  ")


def items(texts: Iterable[str]) -> str:
    """A list."""
    return "\n".join(map(item, texts))


def code(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```"


def anchor(heading: str) -> str:
    """The anchor of a heading, on GitHub and in MkDocs."""
    return re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-")


def sentence(text: str) -> str:
    """A clause as a sentence."""
    text = text.strip()
    upper = text[:1].upper() + text[1:] if re.match(r"[a-z]+\b(?![\d_.,=])", text) else text
    return upper if upper.endswith((".", "!", "?")) else f"{upper}."
