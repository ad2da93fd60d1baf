"""The pages of docs/reference/, from the package's own declarations.

python scripts/reference            writes them
python scripts/reference --check    says which are stale, with status 1 if any is
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import activity_page
import api_page
import binding_pages
import command_page
import result_page
import status_page
from markdown import MADE

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def pages(folder: Path) -> dict[Path, str]:
    """All pages: their texts by their places."""
    texts = {
        **binding_pages.pages(),
        "activities.md": activity_page.text(),
        "command-line.md": command_page.text(),
        "exit-statuses.md": status_page.text(),
        "python-api.md": api_page.text(),
        "results.md": result_page.text(),
    }
    return {folder / name: text for name, text in texts.items()}


def stale(texts: dict[Path, str]) -> list[Path]:
    """The pages that are not as they should be."""
    return [path for path, text in texts.items() if not path.exists() or path.read_text() != text]


def left_over(folder: Path, texts: dict[Path, str]) -> list[Path]:
    """Made pages that nothing makes any more; pages that people write stay."""
    made = (path for path in folder.rglob("*.md") if path.read_text().startswith(MADE))
    return sorted(path for path in made if path not in texts)


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the pages are")
    given = parser.parse_args()
    texts = pages(given.folder)
    if given.check:
        found = stale(texts) + left_over(given.folder, texts)
        for path in found:
            print(f"{path} is stale: run python scripts/reference", file=sys.stderr)
        return 1 if found else 0
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in left_over(given.folder, texts):
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
