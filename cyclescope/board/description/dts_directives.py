"""C preprocessor lines in a devicetree source.

Linux's boards are preprocessed first. Here `#include "..."` is equal to `/include/`; headers of
constants (dt-bindings) and macros need the preprocessor itself.
"""

from __future__ import annotations

import re

_INCLUDE = re.compile(r"^([ \t]*)#[ \t]*include[ \t]+(?:\"([^\"\n]*)\"|(<[^>\n]*>))", re.MULTILINE)
_WORDS = "define|undef|ifdef|ifndef|if|elif|else|endif|error|pragma"
_OTHER = re.compile(rf"^([ \t]*)(#[ \t]*(?:{_WORDS}))(?=\s)[^\n]*", re.MULTILINE)
_HOW = (
    "preprocess the file first: "
    "cpp -nostdinc -undef -x assembler-with-cpp -I INCLUDES board.dts > ready.dts"
)


def resolved(source: str) -> str:
    """The source with each directive replaced by an `/include/` in the same line.

    An unsupported directive becomes the inclusion of a name that `refusal` knows.
    """
    if "#" not in source:
        return source
    source = _INCLUDE.sub(lambda found: f'{found[1]}/include/ "{found[2] or found[3]}"', source)
    return _OTHER.sub(lambda found: f'{found[1]}/include/ "{found[2]}"', source)


def refusal(name: str) -> str | None:
    """The reason why a file can't be included, and what to do; None if it can."""
    if name.startswith("#"):
        return f"{name} needs the C preprocessor: {_HOW}"
    if name.startswith("<") and not name.endswith(".dtsi>"):
        return f"#include {name}: headers need the C preprocessor: {_HOW}"
    return None


def plain(name: str) -> str:
    """The name of a file, without its quotes or brackets."""
    return name[1:-1] if name.startswith("<") else name
