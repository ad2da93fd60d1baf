"""docs/reference/bindings/: each compatible with its properties, as the models declare them."""

from __future__ import annotations

from itertools import groupby

import markdown

from cyclescope.board.description.devicetree_bindings import (
    Binding,
    BindingBit,
    BindingProperty,
    BindingRegister,
    bindings,
    common_properties,
)

INTRODUCTION = """\
A board is a devicetree (`.dts`). Its nodes have Linux's compatibles and properties where Linux has
them, and `cyclescope,` ones where Linux has none. These pages list each compatible that has a
model, with all properties that its node may have; any other property is a fault of the board. The
pages are generated from the models' own declarations. `cyclescope devices` shows the same on a
terminal, and `cyclescope.bindings()` gives it as data.

After a property's name stand the type of its value ("number" is one cell, "flag" is empty: the
property is set if it is there), its unit, its range, and whether the node must have it. A *timing*
property decides how long something takes: it has its source in `cyclescope,sources` of the same
node, as `"property: class: document or reason"`, where the class is documented, derived, assumed
(with the plausible range) or calibrated. Cycles and clocks are those of the first of `clocks`,
unless the meaning says otherwise.

After a register's name stand its offset, how firmware may use it, and its value after reset if that
is not 0: `ro` is read-only, `wo` write-only, `rw` both; of a bit that is `w1c`, `w0c`, `w1s` or
`w1t`, a written 1 clears, a written 0 clears, a written 1 sets, a written 1 toggles; a read clears
one that is `rc`.
"""

OTHER_NODES = """\
Some nodes have no compatible. The root's `model` names the board. Cores are the nodes `cpu@...`
below `/cpus`; several cores run side by side. `stdout-path` of `/chosen` names the serial port that
is the console, by its path or by an alias of `/aliases`. A node without a compatible only holds
those below it.
"""


REGISTERS = """\
Registers, as debuggers name them, with the bits that have a name in the model:
"""

# Introductions of groups.
OF_GROUPS = {
    "SPI controllers": """\
The chips on a controller's wire are the children of its node ([SPI chips](spi-chips.md)); the
`reg` of a chip is its chip select.
""",
    "SPI chips": """\
A chip is a child of the node of its controller ([SPI controllers](spi-controllers.md)). A flash
has the compatible of its part, followed by `jedec,spi-nor`.
""",
    "I2C controllers": """\
The chips on a bus are the children of its controller's node ([I2C chips](i2c-chips.md)); the `reg`
of a chip is its address of 7 bits, 0x08 to 0x77.
""",
    "I2C chips": """\
A chip is a child of the node of its controller ([I2C controllers](i2c-controllers.md)), and has a
`reg`, its address.
""",
}


def pages() -> dict[str, str]:
    """The index, and a page for each group: texts by their places."""
    found = {"bindings/index.md": _index()}
    for group, entries in groupby(bindings(), key=lambda entry: entry.group):
        sections = [_section(same) for same in _grouped(entries)]
        found[f"bindings/{_file(group)}"] = markdown.page(
            group, OF_GROUPS.get(group, ""), *sections
        )
    return found


def _file(group: str) -> str:
    return group.lower().replace(",", "").replace(" ", "-") + ".md"


def _grouped(entries: groupby) -> list[list[Binding]]:
    """Bindings that differ in their names only, together."""
    found: dict[object, list[Binding]] = {}
    for entry in entries:
        found.setdefault((entry.about, entry.properties, entry.registers), []).append(entry)
    return list(found.values())


def _index() -> str:
    parts = [INTRODUCTION]
    for group, entries in groupby(bindings(), key=lambda entry: entry.group):
        parts.append(f"## {group}")
        links = []
        for same in _grouped(entries):
            first, *others = [f"`{entry.compatible}`" for entry in same]
            link = f"[{first}]({_file(group)}#{markdown.anchor(first)})"
            links.append(f"- {', '.join([link, *others])}:\n{_indented(same[0].title)}")
        parts.append("\n".join(links))
    parts += ["## Nodes without a compatible", OTHER_NODES, "## Properties of any node"]
    parts.append(markdown.items(f"`{name}`: {text}." for name, text in common_properties().items()))
    return markdown.page("Devicetree bindings", *parts)


def _indented(text: str) -> str:
    return markdown.paragraph(markdown.sentence(text), first="  ", rest="  ")


def _section(same: list[Binding]) -> str:
    entry = same[0]
    parts = [f"## `{entry.compatible}`"]
    if len(same) > 1:
        others = ", ".join(f"`{other.compatible}`" for other in same[1:])
        parts.append(f"The same as {others}.")
    parts.append(markdown.paragraphs(entry.about))
    read = [_property(prop) for prop in entry.properties if not prop.ignored]
    ignored = [f"`{prop.name}`: {prop.meanings}." for prop in entry.properties if prop.ignored]
    if read:
        parts += ["Properties:", "\n".join(read)]
    if ignored:
        parts += [
            "Accepted for Linux's sake, without an effect unless the text says otherwise:",
            markdown.items(ignored),
        ]
    if entry.registers:
        parts += [REGISTERS, markdown.items(_register(row) for row in entry.registers)]
    return "\n\n".join(parts)


def _register(row: BindingRegister) -> str:
    reset = f", {row.reset:#x} after reset" if row.reset else ""
    head = f"`{row.name}` ({row.offset:#04x}, {row.access}{reset})"
    bits = ", ".join(_bit(row, bit) for bit in row.bits)
    return f"{head}: {bits}." if bits else f"{head}."


def _bit(row: BindingRegister, bit: BindingBit) -> str:
    facts = [bit.access] if bit.access != row.access else []
    facts += [] if bit.modelled else ["not modelled"]
    return f"{bit.name} ({', '.join(facts)})" if facts else bit.name


def _property(prop: BindingProperty) -> str:
    unit = f" in {prop.unit}" if prop.unit else ""
    facts = [f"*timing*, {prop.kind}{unit}" if prop.timing else f"{prop.kind}{unit}"]
    facts += [prop.range] if prop.range else []
    facts.append(prop.need)
    facts += [f"{prop.default} by default"] if prop.default is not None else []
    lines = [f"- **`{prop.name}`** ({'; '.join(facts)})"]
    if len(prop.meaning) == 1:
        text = f"{lines[0]}: {prop.meaning[0].rstrip('.')}."
        return markdown.paragraph(text[2:], first="- ", rest="  ")
    numbered = [(index, text) for index, text in enumerate(prop.meaning) if text]
    head = markdown.paragraph(f"{lines[0][2:]}, by number from 0:", first="- ", rest="  ")
    return "\n".join(
        [head] + [markdown.paragraph(f"{i}: {t}.", first="  - ", rest="    ") for i, t in numbered]
    )
