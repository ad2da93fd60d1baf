"""docs/reference/exit-statuses.md: the table of statuses.py."""

from __future__ import annotations

import markdown

from cyclescope.statuses import OF_FIRMWARE, Status


def text() -> str:
    """The page."""
    rows = [("status", "name", "meaning"), ("---:", "---", "---")]
    rows += [(str(status.value), f"`{status.name}`", status.meaning) for status in Status]
    table = "\n".join(f"| {number} | {name} | {meaning} |" for number, name, meaning in rows)
    words = (
        "What goes wrong is one line on standard error that begins with `cyclescope: error:`. "
        f"{OF_FIRMWARE} The table is `cyclescope.statuses.Status`; a program that starts "
        "cyclescope may compare with its names."
    )
    return markdown.page("Exit statuses", markdown.paragraph(words), table)
