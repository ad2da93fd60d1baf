"""docs/reference/results.md: the files of results, from their JSON schemas."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import markdown

FOLDER = resources.files("cyclescope") / "schemas"
NAMES = ("bench", "run", "ipc", "profile", "compare", "sweep", "uncertainty", "fit", "advise")
WORDS = """\
Results for other programs are JSON: `results.json` of `cyclescope bench` (also `bench --json`), and
the output of `run`, `ipc`, `profile`, `compare`, `sweep`, `fit` and `advise` with `--json`. Each
has a JSON Schema (draft 2020-12) in the package, in `cyclescope/schemas/`. This page is generated
from the schemas, and files have no other keys. Units are in the names: `_ps`, `_ns`, `_pct`, `hz`.
`results.csv` of `cyclescope bench` has the same rows, with a column `settings.NAME` for each
setting that occurs.
"""
Schema = dict[str, Any]


def text() -> str:
    """The page."""
    parts = [WORDS]
    for command in NAMES:
        name = f"{command}.schema.json"
        schema = json.loads((FOLDER / name).read_text())
        parts.append(f"## {schema['title']}")
        parts.append(
            markdown.paragraph(f"{schema['description']} Schema: `cyclescope/schemas/{name}`.")
        )
        if "properties" in schema:
            parts.append(_keys(schema))
        for definition in schema["$defs"].values():
            parts.append(f"### {definition['title']}")
            parts.append(markdown.paragraph(definition.get("description", "")))
            parts.append(_keys(definition.get("items", definition)))
    return markdown.page("Results", *parts)


def _keys(schema: Schema) -> str:
    required = schema.get("required", [])
    return markdown.items(
        f"`{name}` ({_kind(prop)}{'' if name in required else ', not always there'}): "
        f"{prop.get('description', 'see below.')}"
        for name, prop in schema["properties"].items()
    )


def _kind(schema: Schema) -> str:
    """The type of a value, in words."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(value) for value in schema["enum"])
    kinds = schema["type"]
    if isinstance(kinds, list):
        return " or ".join(kind for kind in kinds if (kind, "number" in kinds) != ("integer", True))
    if kinds == "array":
        return f"array of {_kind(schema['items'])}"
    if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])} by name"
    return kinds
