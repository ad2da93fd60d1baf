"""The pages of docs/reference/, from what the package says of itself.

python scripts/reference            writes them
python scripts/reference --check    says which are stale, with status 1 if any is
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import api_page
import binding_pages
import command_page
import result_page
import status_page

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def pages() -> dict[Path, str]:
    """All pages: their texts by their places."""
    texts = {
        **binding_pages.pages(),
        "command-line.md": command_page.text(),
        "exit-statuses.md": status_page.text(),
        "python-api.md": api_page.text(),
        "results.md": result_page.text(),
    }
    return {FOLDER / name: text for name, text in texts.items()}


def stale(texts: dict[Path, str]) -> list[str]:
    """The pages that are not as they should be, and those that nothing makes."""
    old = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    left = [path for path in sorted(FOLDER.rglob("*.md")) if path not in texts]
    return [str(path.relative_to(FOLDER.parents[1])) for path in old + left]


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    check = parser.parse_args().check
    texts = pages()
    if check:
        for page in stale(texts):
            print(f"{page} is stale: run python scripts/reference", file=sys.stderr)
        return 1 if stale(texts) else 0
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in stale(texts):
        (FOLDER.parents[1] / path).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
