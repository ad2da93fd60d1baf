"""`_engine.pyi` says what the built module has: no more, no less."""

import ast
from pathlib import Path

import cyclescope
from cyclescope import _engine

STUB = Path(cyclescope.__file__).with_name("_engine.pyi")


BODY = ast.parse(STUB.read_text()).body


def names(body: list[ast.stmt]) -> set[str]:
    """The public classes and functions that some lines of the stub define."""
    definitions = [item for item in body if isinstance(item, ast.ClassDef | ast.FunctionDef)]
    return {item.name for item in definitions if not item.name.startswith("_")}


def test_the_stub_has_the_modules_names() -> None:
    assert {name for name in vars(_engine) if not name.startswith("_")} == names(BODY)


def test_the_stub_has_the_machines_methods() -> None:
    machine = next(
        item for item in BODY if isinstance(item, ast.ClassDef) and item.name == "Machine"
    )
    built = {name for name in vars(_engine.Machine) if not name.startswith("_")}
    assert built == names(machine.body)
