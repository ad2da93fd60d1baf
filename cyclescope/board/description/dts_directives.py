"""Lines of a devicetree source that are for the C preprocessor.

Linux's boards go through it first. Here `#include "..."` is what `/include/` is, so that boards may
say either; headers of constants (dt-bindings) and macros need the preprocessor itself.
"""

from __future__ import annotations

import re

_INCLUDE = re.compile(r"^([ \t]*)#[ \t]*include[ \t]+(?:\"([^\"\n]*)\"|(<[^>\n]*>))", re.MULTILINE)
_WORDS = "define|undef|ifdef|ifndef|if|elif|else|endif|error|pragma"
_OTHER = re.compile(rf"^([ \t]*)(#[ \t]*(?:{_WORDS}))(?=\s)[^\n]*", re.MULTILINE)
_HOW = (
    "have the C preprocessor do it first: "
    "cpp -nostdinc -undef -x assembler-with-cpp -I INCLUDES board.dts > ready.dts"
)


def resolved(source: str) -> str:
    """The source with each directive as an `/include/`, in its line.

    What can't be done is the inclusion of a name that `refusal` knows.
    """
    if "#" not in source:
        return source
    source = _INCLUDE.sub(lambda found: f'{found[1]}/include/ "{found[2] or found[3]}"', source)
    return _OTHER.sub(lambda found: f'{found[1]}/include/ "{found[2]}"', source)


def refusal(name: str) -> str | None:
    """Why such a file can't be included, and what to do; None for one that may be looked for."""
    if name.startswith("#"):
        return f"{name} is for the C preprocessor: {_HOW}"
    if name.startswith("<") and not name.endswith(".dtsi>"):
        return f"#include {name}: headers are for the C preprocessor: {_HOW}"
    return None


def plain(name: str) -> str:
    """The name of a file, without what stands around it."""
    return name[1:-1] if name.startswith("<") else name
