"""MkDocs's hook: adds pages from outside docs/ and notebooks to the site, and converts links.

Links in pages are relative to the file, as a forge follows them. A link to a page of the site stays
in the site; all others lead to the repository.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebooks.page import page as notebook_page

ROOT = Path(__file__).resolve().parent.parent
# Files of the repository, and the pages of the site that they become.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "firmware/README.md": "firmware.md",
}
NOTEBOOKS = {"docs/examples/profile.ipynb": "how-to/notebook.md"}
MADE = ELSEWHERE | NOTEBOOKS
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)#\s]+)(#[^)\s]*)?(?=\))")
# For the tests of pages; with it, the site would not recognise a block.
NEEDS = re.compile(r'(?<=^```console) needs="[^"]*"$', re.MULTILINE)
CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/, and those of notebooks."""
    for source, page in ELSEWHERE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    for source, page in NOTEBOOKS.items():
        notebook = os.path.relpath(Path(source).relative_to("docs"), Path(page).parent)
        text = notebook_page(ROOT / source, notebook)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links within the repository into links within the site; drop what only tests read."""
    added = {uri: source for source, uri in MADE.items()}
    pages = {f"docs/{file.src_uri}": file.src_uri for file in files if file.src_uri not in added}
    pages |= MADE
    here = page.file.src_uri
    source = Path(added.get(here, f"docs/{here}"))

    def follow(link: re.Match[str]) -> str:
        target = os.path.normpath(source.parent / link[1])
        if target in pages:
            return os.path.relpath(pages[target], Path(here).parent) + (link[2] or "")
        if not (ROOT / target).exists():
            raise PluginError(f"{source}: there is no file {link[1]}")
        return f"{config.extra['repository']}/blob/main/{target}"

    parts = CODE.split(NEEDS.sub("", markdown))
    parts[::2] = [LINK.sub(follow, prose) for prose in parts[::2]]
    return "".join(parts)
