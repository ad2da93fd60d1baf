"""Inputs: plain data that describes a whole run, and files of inputs."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parent / "corpus"

Input = dict[str, Any]
"""The input of a target: "target" names the target; "why", if present, names an earlier finding."""

# More than this is packed in a file.
_READABLE_BYTES = 256


class MisbehaviourError(Exception):
    """An input caused something that must never happen: the message says what."""


def save(path: Path, made: Input) -> None:
    """Write an input to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(made, default=_encoded, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def load(path: Path) -> Input:
    """Read an input from a file."""
    found = json.loads(path.read_text(encoding="utf-8"), object_hook=_decoded)
    if not isinstance(found, dict) or "target" not in found:
        raise ValueError(f"{path}: no input of a fuzzing target")
    return found


def corpus(target: str) -> list[Input]:
    """The inputs of a target that are kept in the repository, by their names."""
    return [load(path) for path in corpus_files([target])]


def corpus_files(targets: Iterable[str]) -> list[Path]:
    """Their files."""
    return [path for name in targets for path in sorted((CORPUS / name).glob("*.json"))]


def _encoded(value: object) -> dict[str, str]:
    if not isinstance(value, bytes):
        raise TypeError(f"an input has no place for a {type(value).__name__}")
    if len(value) <= _READABLE_BYTES:
        return {"hex": value.hex()}
    return {"packed": base64.b64encode(zlib.compress(value, 9)).decode()}


def _decoded(value: dict[str, Any]) -> Any:
    match value:
        case {"hex": str(text), **rest} if not rest:
            return bytes.fromhex(text)
        case {"packed": str(text), **rest} if not rest:
            return zlib.decompress(base64.b64decode(text))
    return value
