"""Small files that would take for ever, or all memory, of a reader without bounds."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

# Vectors; movs r0, #0x18; ldr r1, =0x20026; bkpt 0xab: it ends at once.
_CODE = struct.pack("<HHHHI", 0x2018, 0x4901, 0xBEAB, 0xBF00, 0x20026)
_TEXT = struct.pack("<II", 0x2001_0000, 0x41) + bytes(0x38) + _CODE
_MACHINE_ARM, _V5 = 40, 0x500_0200

_COMPILE_UNIT, _SUBPROGRAM, _INLINED = 0x11, 0x2E, 0x1D
_NAME, _STMT_LIST, _LOW_PC, _HIGH_PC, _RANGES = 3, 0x10, 0x11, 0x12, 0x55
_ADDR, _DATA4, _STRING, _SEC_OFFSET, _CONSTANT = 1, 6, 8, 0x17, 0x21
_SPAN = ((_LOW_PC, _ADDR), (_HIGH_PC, _DATA4))

Sections = dict[str, bytes]


# ---- ELF


def executable(
    name: str = "main",
    sections: Mapping[str, bytes] | None = None,
    symbols: int = 1,
    copies: tuple[int, int] = (1, 0),
) -> bytes:
    """A program for a Cortex-M, with symbols that have all one name.

    `copies` is how many segments there are, and how many bytes each loads.
    """
    count, more = copies
    symbol = struct.pack("<IIIBBH", 1, 0x41, len(_CODE), 0x12, 0, 1)
    text = _TEXT + bytes(max(more - len(_TEXT), 0))
    strings = b"\0" + name.encode() + b"\0"
    own = {"": b"", ".text": text, ".symtab": bytes(16) + symbol * symbols, ".strtab": strings}
    parts = {**own, ".shstrtab": b"", **(sections or {})}
    names = b"".join(part.encode() + b"\0" for part in parts)
    parts[".shstrtab"] = names
    begin = 52 + 32 * count
    content = headers = b""
    for part, data in parts.items():
        kind = {"": 0, ".symtab": 2, ".strtab": 3, ".shstrtab": 3}.get(part, 1)
        at, link = names.index(part.encode() + b"\0"), 3 if kind == 2 else 0
        flags = 6 if part == ".text" else 0
        place = (at, kind, flags, 0, begin + len(content), len(data), link, link // 3, 4)
        headers += struct.pack("<10I", *place, 16 if link else 0)
        content += data
    content += bytes(-len(content) % 4)
    end = begin + len(content)
    counts = (52, 32, count, 40, len(parts), 4)
    head = b"\x7fELF\1\1\1" + bytes(9)
    head += struct.pack("<HHIIIII6H", 2, _MACHINE_ARM, 1, 0x41, 52, end, _V5, *counts)
    load = struct.pack("<8I", 1, begin, 0, 0, len(text), len(text), 5, 4)
    return head + load * count + content + headers


def doubled_name(levels: int) -> str:
    """f<p<int, int>, p<S, S>, ...>: by back references, each argument has the one before twice."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    twice = (f"S0_I{2 * f'S{digits[n]}_'}E" for n in range(1, levels + 1))
    return f"_Z1fI1pIiiE{''.join(twice)}Evv"


# Not a name: that is found only after all readings of its start have been tried.
MISREAD_NAME = "_ZD0nw" + "St" * 9 + "I1fSt" * 12 + "1f" * 14


def _uleb(number: int) -> bytes:
    done = b""
    while number > 127:
        done += bytes([number & 127 | 128])
        number >>= 7
    return done + bytes([number])


def _abbreviations(*tags: tuple[int, int, tuple[tuple[int, int], ...]]) -> bytes:
    text = b""
    for number, (tag, has_children, attributes) in enumerate(tags, 1):
        pairs = b"".join(_uleb(part) for pair in attributes for part in pair)
        text += _uleb(number) + _uleb(tag) + bytes([has_children]) + pairs + b"\0\0"
    return text + b"\0"


def _unit(entries: bytes) -> bytes:
    body = struct.pack("<HIB", 4, 0, 4) + entries
    return struct.pack("<I", len(body)) + body


def deep_inlines(depth: int) -> Sections:
    """Functions that are inlined in each other."""
    here = struct.pack("<II", 0x40, len(_CODE))
    entries = b"\1" + here + b"\2" + here + b"f\0" + (b"\3" + here) * depth + bytes(depth + 2)
    tags = [
        (_COMPILE_UNIT, 1, _SPAN),
        (_SUBPROGRAM, 1, (*_SPAN, (_NAME, _STRING))),
        (_INLINED, 1, _SPAN),
    ]
    return {".debug_abbrev": _abbreviations(*tags), ".debug_info": _unit(entries)}


def shared_ranges(functions: int, ranges: int) -> Sections:
    """Functions that have all one list of ranges."""
    tags = [(_COMPILE_UNIT, 1, _SPAN), (_SUBPROGRAM, 0, ((_RANGES, _SEC_OFFSET),))]
    unit = b"\1" + struct.pack("<II", 0, 0x10_0000) + (b"\2" + bytes(4)) * functions + b"\0"
    pairs = (struct.pack("<II", 0x40 + 2 * n, 0x42 + 2 * n) for n in range(ranges))
    return {
        ".debug_abbrev": _abbreviations(*tags),
        ".debug_info": _unit(unit),
        ".debug_ranges": b"".join(pairs) + bytes(8),
    }


def shared_lines(rows: int, units: int) -> Sections:
    """Units that have all one line program."""
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    header = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + lengths + b"\0a.c\0" + bytes(4)
    program = b"\0\5\2" + struct.pack("<I", 0x40) + b"\x20" * rows + b"\0\1\1"
    body = struct.pack("<HI", 4, len(header)) + header + program
    tags = [(_COMPILE_UNIT, 1, (*_SPAN, (_STMT_LIST, _SEC_OFFSET)))]
    unit = _unit(b"\1" + struct.pack("<III", 0, 0x1000_0000, 0) + b"\0")
    return {
        ".debug_abbrev": _abbreviations(*tags),
        ".debug_info": unit * units,
        ".debug_line": struct.pack("<I", len(body)) + body,
    }


def drawn_units(
    tags: list[tuple[int, int, tuple[tuple[int, int], ...]]], entries: bytes, units: int
) -> Sections:
    """Identical units of the given entries, after one that has the program's addresses."""
    first = (_COMPILE_UNIT, 1, (*_SPAN, (_STMT_LIST, _SEC_OFFSET)))
    begin = b"\1" + struct.pack("<III", 0, 0x1000, 0)
    moved = bytes((number + 1) & 7 for number in entries)
    unit = _unit(begin + moved)
    return {".debug_abbrev": _abbreviations(first, *tags), ".debug_info": unit * units}


def attributes_of_nothing(attributes: int, entries: int) -> Sections:
    """Entries with attributes that take no byte: each of one byte."""
    constant = _uleb(_CONSTANT)
    many = b"".join(_uleb(0x49) + constant + b"\1" for _ in range(attributes))
    table = _abbreviations((_COMPILE_UNIT, 1, _SPAN))[:-1]
    table += _uleb(2) + _uleb(_SUBPROGRAM) + b"\0" + many + b"\0\0\0"
    unit = b"\1" + struct.pack("<II", 0, 0x1000) + b"\2" * entries + b"\0"
    return {".debug_abbrev": table, ".debug_info": _unit(unit)}


def elf_files() -> Iterator[tuple[str, bytes]]:
    """Programs that run, each with debug information that can't be shown in full."""
    yield "a name without an end", executable(doubled_name(20))
    yield "no name at all", executable(MISREAD_NAME)
    yield "one long name for all", executable("x" * 300_000, symbols=30_000)
    yield "functions inlined 20,000 deep", executable(sections=deep_inlines(20_000))
    yield "ranges for all", executable(sections=shared_ranges(20_000, 20_000))
    yield "lines for all", executable(sections=shared_lines(100_000, 2_000))
    yield "attributes of nothing", executable(sections=attributes_of_nothing(60_000, 500_000))
    paths = {**shared_lines(10, 2_000), ".debug_str": b"x" * 500_000}
    yield "units without functions", executable(sections=paths)


# ---- CMSIS-SVD


def _dim(count: int, index: str = "") -> str:
    index = f"<dimIndex>{index}</dimIndex>" if index else ""
    return f"<dim>{count}</dim><dimIncrement>4</dimIncrement>{index}"


def _register(name: str, more: str = "") -> str:
    return f"<register><name>{name}</name><addressOffset>0</addressOffset>{more}</register>"


def _cluster(name: str, inside: str, base: str = "") -> str:
    base = f' derivedFrom="{base}"' if base else ""
    at = f"<name>{name}</name><addressOffset>0</addressOffset>"
    return f"<cluster{base}>{at}{inside}</cluster>"


def _peripheral(name: str, registers: str, more: str = "", base: str = "") -> str:
    base = f' derivedFrom="{base}"' if base else ""
    at = f"<name>{name}</name><baseAddress>0x40000000</baseAddress>{more}"
    inside = f"<registers>{registers}</registers>" if registers else ""
    return f"<peripheral{base}>{at}{inside}</peripheral>"


def svd(peripherals: str) -> str:
    """A chip with `peripherals`."""
    cpu = (
        "<cpu><name>CM4</name><revision>r0p1</revision><endian>little</endian>"
        "<mpuPresent>true</mpuPresent><fpuPresent>true</fpuPresent>"
        "<nvicPrioBits>4</nvicPrioBits><vendorSystickConfig>false</vendorSystickConfig></cpu>"
    )
    return (
        '<device schemaVersion="1.3"><name>X</name><version>1</version><description>d</description>'
        f"<addressUnitBits>8</addressUnitBits><width>32</width><size>32</size>{cpu}"
        f"<peripherals>{peripherals}</peripherals></device>"
    )


def _nested(depth: int) -> str:
    inside = _register("R")
    for _ in range(depth):
        inside = _cluster("C", inside)
    return inside


def many_fields() -> str:
    """A register whose fields nobody asks for: 50 million."""
    width = "<bitWidth>1</bitWidth>"
    field = f"<field>{_dim(50_000_000)}<name>F%s</name><bitOffset>0</bitOffset>{width}</field>"
    return svd(_peripheral("A", _register("R", f"<fields>{field}</fields>")))


def svd_files() -> Iterator[tuple[str, str, str]]:
    """Chips that are refused: a description, the text, and the expected message."""
    wide = _register("R%s", _dim(200_000))
    registers, peripherals = "more than 262144 registers", "more than 2048 peripherals"
    yield "indices", svd(_peripheral("A", _register("R%s", _dim(4, "0-400000000")))), "indices"
    derived = "".join(_peripheral(f"B{n}", "", base="A") for n in range(400))
    yield "derived peripherals", svd(_peripheral("A", wide) + derived), registers
    copies = "".join(_cluster(f"D{n}_%s", _dim(1000), "C_%s") for n in range(100))
    block = _cluster("C_%s", _dim(100) + _register("R%s", _dim(100))) + copies
    yield "derived clusters", svd(_peripheral("A", block)), registers
    pairs = "".join(
        _cluster(f"C{n}", "".join(_cluster(name, "", f"A.C{n - 1}") for name in "ab"))
        for n in range(1, 40)
    )
    doubled = svd(_peripheral("A", _cluster("C0", _register("R")) + pairs))
    yield "clusters of clusters", doubled, "nested more than 16 deep"
    ring = "".join(_cluster(name, "", base) for name, base in ("XY", "YZ", "ZY"))
    yield "a ring", svd(_peripheral("A", ring)), "self-derived"
    array = _peripheral("A%s", _register("R"), _dim(250_000))
    yield "peripherals", svd(array), peripherals
    long = _cluster("%s" + "x" * 100_000, _dim(200) + _register("R%s", _dim(200)))
    yield "a long name", svd(_peripheral("A", long)), "take more than 32 MiB"
    empty = _cluster("C%s", _dim(4_000_000_000))
    yield "clusters of nothing", svd(_peripheral("A", empty)), "take more than 32 MiB"
    yield "deep clusters", svd(_peripheral("A", _nested(3000))), "nested more than 64 deep"
    yield "deep XML", "<a>" * 30_000 + "</a>" * 30_000, "line 1: elements are nested"
    attributes = " ".join(f'a{n}=""' for n in range(80_000))
    yield "attributes", f"<device\n{attributes}/>", "line 1: an element has more than 32"


# ---- Texts


def toml_files() -> Iterator[tuple[str, str, str]]:
    """Requests that are refused, and the expected messages."""
    yield "parts", ".".join(["a"] * 200_000) + "=1", "(at line 1)"
    quoted = ".".join(['"a b"'] * 100_000)
    yield "quoted parts", f'x = "y"\n{quoted} = 1', "(at line 2)"
    yield "tables", f"\n[{'.'.join('a' * 200_000)}]", "(at line 2)"
    yield "arrays", "a=" + "[" * 100_000 + "]" * 100_000, "nest more than 32 deep (at line 1)"
    yield "inline tables", "a=" + "{a=" * 100_000, "nest more than 32 deep (at line 1)"
    yield "a text without an end", 'a = """' + '\\"""' * 200_000, "not closed (at line 1)"
    yield "digits", "a = " + "9" * 500_000, "digits"
    yield "escapes", 'a = "' + "\\n" * 250_000 + '"', "no such key"
    yield "keys", "".join(f"a{n} = 1\n" for n in range(80_000)), "no such key"
    yield "a great file", "#" * (2**20 + 1), "larger than the limit of 1 MiB"


def _ihex(kind: int, addr: int, data: bytes) -> str:
    record = bytes([len(data), addr >> 8, addr & 255, kind]) + data
    return f":{record.hex().upper()}{-sum(record) & 255:02X}\n"


def record_files() -> Iterator[tuple[str, str, str]]:
    """Programs in records that are refused, and the expected messages."""
    downwards = "".join(_ihex(0, 2 * n, b"\0") for n in range(32_000, 0, -1))
    yield "parts downwards", downwards, "more than 16384 parts"
    twice = _ihex(0, 0, bytes(16)) + _ihex(0, 8, bytes(16))
    yield "data twice", twice, "it has data for 0x8 twice"
    yield "a long record", ":" + "0" * 900_000, "..."
    high = _ihex(4, 0, b"\xff\xff") + _ihex(2, 0, b"\xff\xff") + _ihex(0, 0xFFFF, bytes(16))
    yield "after the end", high, ":3: its data at"
