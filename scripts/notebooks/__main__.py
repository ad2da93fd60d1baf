"""Runs a notebook in a copy of its folder, and stores the outputs of its cells.

    python scripts/notebooks [NOTEBOOK.ipynb]...

Without a name: all of docs/examples. `tests/project/test_notebooks.py` finds stale outputs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import cells

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def main(paths: list[Path]) -> None:
    """Run each, and write it with its outputs."""
    for path in paths:
        notebook = cells.load(path)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(shutil.copytree(path.parent, Path(scratch) / "notebook"))
            for number, (cell, outputs) in enumerate(cells.run(notebook, folder), 1):
                cell["execution_count"], cell["outputs"] = number, outputs
        cells.write(notebook, path)
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main([Path(name).resolve() for name in sys.argv[1:]] or sorted(EXAMPLES.glob("*.ipynb")))
