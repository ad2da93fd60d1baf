"""The cells of a Jupyter notebook, and their outputs when they are run one after the other.

It stores the same outputs as Jupyter, without a server and kernels. A cell is Python; its outputs
are its printed text, the value of its last expression, and the figures that it left open.
https://nbformat.readthedocs.io/en/latest/format_description.html, version 4.5.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import pandas
from matplotlib import pyplot

Cell = dict[str, Any]
Output = dict[str, Any]
# The size of figures in Jupyter.
_DOTS_PER_INCH = 72


def load(path: Path) -> dict[str, Any]:
    """A notebook."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(notebook: dict[str, Any], path: Path) -> None:
    """Write a notebook as Jupyter does, so that it may be edited there."""
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def source(cell: Cell) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def lines(text: str) -> list[str]:
    """A text as a list of lines, as in notebooks."""
    return text.splitlines(keepends=True)


def run(notebook: dict[str, Any], folder: Path) -> Iterator[tuple[Cell, list[Output]]]:
    """Run the cells with code in a folder; each with its outputs. Raises what a cell raises."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder)
    # the width of pages, whatever the terminal
    columns = pandas.option_context("display.width", 100, "display.max_columns", 20)
    try:
        with matplotlib.rc_context(), columns:
            matplotlib.use("Agg")
            for number, cell in enumerate(_with_code(notebook), 1):
                yield cell, list(_outputs(source(cell), namespace, number))
    finally:
        pyplot.close("all")
        os.chdir(before)


def _with_code(notebook: dict[str, Any]) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _outputs(code: str, namespace: dict[str, Any], number: int) -> Iterator[Output]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = _value(code, namespace, f"cell {number}")
    if printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())}
    if value is not None:
        data = _data(value)
        yield {
            "output_type": "execute_result",
            "execution_count": number,
            "metadata": {},
            "data": data,
        }
    for figure in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(figure).savefig(picture, dpi=_DOTS_PER_INCH, bbox_inches="tight")
        pyplot.close(figure)
        png = base64.b64encode(picture.getvalue()).decode()
        yield {"output_type": "display_data", "metadata": {}, "data": {"image/png": png}}


def _value(code: str, namespace: dict[str, Any], name: str) -> Any:
    """Run a cell; the value of its last line if that is an expression without a semicolon."""
    tree = ast.parse(code, name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or code.rstrip().endswith(";"):
        exec(compile(tree, name, "exec"), namespace)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), name, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), name, "eval"), namespace)


def _data(value: Any) -> dict[str, list[str]]:
    data = {"text/plain": lines(repr(value))}
    as_html = getattr(value, "_repr_html_", lambda: None)()
    return {"text/html": lines(as_html), **data} if as_html else data
