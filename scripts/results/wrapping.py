"""Paragraphs of Markdown with markers, in lines of at most 100 columns.

A marker stays on the line of the word before it: in Markdown a line that begins with a comment is a
block of HTML, which ends the paragraph.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

COLUMNS = 100

# A placeholder for a space at which a line must not be wrapped.
_KEPT = "\0"
_MARKED = re.compile(r"\S* ?<!--=.*?-->.*?<!--/-->\S*")
_INLINE = re.compile(r"\s*<!--=(?! *table:)")
_OPENING = re.compile(r"<!--=.*?-->")
_CODE = re.compile(r"`[^`]{1,58}`")
_LINK = re.compile(r"\[[^\]\[]*\]\([^)]*\)")
_LONGEST_LINK = 85
_LEAD = re.compile(r"\s*(?:[-*]|\d+\.)\s+|\s*")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s")
_NO_PROSE = ("#", "!", "|", "<", "```")
# A line that begins with this text would be a list, a heading or a quotation.
_BEGINS_A_BLOCK = re.compile(r"(?:[-*+#>]|\d+[.)])(?:\s|$)")


def wrapped(text: str) -> str:
    """A page whose paragraphs with markers are wrapped again if a line is too long."""
    return "\n".join(
        line
        for is_prose, block in _blocks(text)
        for line in (_wrapped_block(block) if is_prose else block)
    )


def _blocks(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Paragraphs and items of lists with their lines; other lines alone, marked as not prose."""
    block: list[str] = []
    in_code = False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith("```")
        is_prose = bool(line.strip()) and not in_code and _is_prose(line)
        if block and (not is_prose or _ITEM.match(line)):
            yield True, block
            block = []
        if is_prose:
            block.append(line)
        else:
            yield False, [line]
        in_code ^= is_fence
    if block:
        yield True, block


def _is_prose(line: str) -> bool:
    return is_inline(line) or not line.lstrip().startswith(_NO_PROSE)


def is_inline(line: str) -> bool:
    """Whether a line begins with an inline marker."""
    return _INLINE.match(line) is not None


def _wrapped_block(lines: list[str]) -> list[str]:
    is_wrong = any(len(line) > COLUMNS for line in lines) or any(map(is_inline, lines[1:]))
    if not is_wrong or not any("<!--=" in line for line in lines):
        return lines
    match = _LEAD.match(lines[0])
    lead = match[0] if match else ""
    text = " ".join(" ".join(lines).split())[len(lead.strip()) :].strip()
    return [line.replace(_KEPT, " ") for line in _filled(lead, _kept_together(text))]


def _kept_together(text: str) -> str:
    """A text without spaces in parts that must stay on a line."""

    def marked(match: re.Match[str]) -> str:
        # a key may be broken over lines, but not after the words that open it
        found = match[0]
        opening = _OPENING.search(found)
        if opening is None or len(found) < COLUMNS // 2:
            return found.replace(" ", _KEPT)
        before, after = found[: opening.start()], found[opening.end() :]
        key = opening[0].replace("<!--= ", f"<!--={_KEPT}")
        key = key.replace(" -->", f"{_KEPT}-->").replace(" |", f"{_KEPT}|")
        return before.replace(" ", _KEPT) + key + after.replace(" ", _KEPT)

    def whole(match: re.Match[str]) -> str:
        found = match[0]
        return found.replace(" ", _KEPT) if len(found) < _LONGEST_LINK else found

    for pattern, how in ((_MARKED, marked), (_CODE, whole), (_LINK, whole)):
        text = pattern.sub(how, text)
    return text


def _filled(lead: str, text: str) -> list[str]:
    wrapper = textwrap.TextWrapper(
        COLUMNS,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
    while True:
        lines = wrapper.wrap(text)
        wrong = [
            line for line in lines[1:] if _BEGINS_A_BLOCK.match(line.replace(_KEPT, " ").strip())
        ]
        if not wrong:
            return lines
        before = lines[lines.index(wrong[0]) - 1].split(" ")[-1]
        first = wrong[0].split()[0]
        joined = text.replace(f"{before} {first}", f"{before}{_KEPT}{first}", 1)
        if joined == text:
            return lines
        text = joined


def _begins(line: str) -> bool:
    return _BEGINS_A_BLOCK.match(line.replace(_KEPT, " ").strip()) is not None
