"""A notebook as a page of the site: its text, its code, and the outputs of its cells."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

_STYLE = re.compile(r"<style scoped>.*?</style>", re.DOTALL)


def page(notebook: Path, download: str) -> str:
    """The Markdown; `download` is where the notebook is, seen from the page in the site."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    title, *parts = (part for cell in cells for part in _parts(cell))
    # MkDocs does not rewrite a link in HTML: it leads to the notebook, not to this page
    link = f'<p><a href="{download}" download>{notebook.name}</a> is this page as a notebook.</p>'
    return "\n\n".join([title, link, *parts]) + "\n"


def _parts(cell: dict[str, Any]) -> list[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return [text]
    return [f"```python\n{text}\n```", *map(_output, cell["outputs"])]


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        # a line of HTML, as Markdown would break the address
        return f'<p><img alt="" src="data:image/png;base64,{data["image/png"]}"></p>'
    if "text/html" in data:
        # the site's own looks, and no blank line, which would end the HTML
        table = _STYLE.sub("", "".join(data["text/html"]))
        table = re.sub(r'<table border="1" class="dataframe">', "<table>", table)
        return "\n".join(line for line in table.splitlines() if line.strip())
    text = "".join(data.get("text/plain", output.get("text", [])))
    return f"<pre>{html.escape(text.rstrip())}</pre>"
