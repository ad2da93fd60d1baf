"""A profile in pprof's format: a gzipped protocol buffer, `perftools.profiles.Profile`.

https://github.com/google/pprof/blob/main/proto/profile.proto has the schema; `_SCHEMA` is the part
that is used here. A sample is a call path and an instruction, with the cause as a label: `go tool
pprof -tagleaf=cause` shows causes as innermost frames.
"""

from __future__ import annotations

import gzip
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from cyclescope.profile.model import INLINED, CoreProfile, Cost, Path, Place
from cyclescope.profile.profile import Profile

_PACKAGE = "cyclescope.profile.pprof"
_TEXTS, _NUMBERS, _SIGNED, _FLAG = "string", "uint64", "int64", "bool"
# Message: field, number, type; `*` marks a repeated field.
_SCHEMA: dict[str, tuple[tuple[str, int, str], ...]] = {
    "ValueType": (("type", 1, _SIGNED), ("unit", 2, _SIGNED)),
    "Label": (("key", 1, _SIGNED), ("str", 2, _SIGNED)),
    "Sample": (("location_id", 1, "*uint64"), ("value", 2, "*int64"), ("label", 3, "*Label")),
    "Mapping": (
        ("id", 1, _NUMBERS),
        ("memory_start", 2, _NUMBERS),
        ("memory_limit", 3, _NUMBERS),
        ("filename", 5, _SIGNED),
        ("has_functions", 7, _FLAG),
        ("has_filenames", 8, _FLAG),
        ("has_line_numbers", 9, _FLAG),
        ("has_inline_frames", 10, _FLAG),
    ),
    "Line": (("function_id", 1, _NUMBERS), ("line", 2, _SIGNED), ("column", 3, _SIGNED)),
    "Location": (
        ("id", 1, _NUMBERS),
        ("mapping_id", 2, _NUMBERS),
        ("address", 3, _NUMBERS),
        ("line", 4, "*Line"),
    ),
    "Function": (
        ("id", 1, _NUMBERS),
        ("name", 2, _SIGNED),
        ("system_name", 3, _SIGNED),
        ("filename", 4, _SIGNED),
        ("start_line", 5, _SIGNED),
    ),
    "Profile": (
        ("sample_type", 1, "*ValueType"),
        ("sample", 2, "*Sample"),
        ("mapping", 3, "*Mapping"),
        ("location", 4, "*Location"),
        ("function", 5, "*Function"),
        ("string_table", 6, "*string"),
        ("duration_nanos", 10, _SIGNED),
        ("period_type", 11, "ValueType"),
        ("period", 12, _SIGNED),
        ("comment", 13, "*int64"),
        ("default_sample_type", 14, _SIGNED),
    ),
}
_MEMORY_BYTES = 1 << 32


def pprof(profile: Profile, creator: str) -> bytes:
    """The bytes of a file; `creator` names the program and its version."""
    message = _Writer(profile, creator).message
    return gzip.compress(message.SerializeToString(deterministic=True), mtime=0)


def _message_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="cyclescope/pprof.proto", package=_PACKAGE, syntax="proto3"
    )
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            plain = kind.lstrip("*")
            added = message.field.add(name=field, number=number)
            added.label = kinds.LABEL_REPEATED if kind != plain else kinds.LABEL_OPTIONAL
            if plain in _SCHEMA:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".{_PACKAGE}.{plain}"
            else:
                added.type = getattr(kinds, f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Profile"))


class _Writer:
    """Fills a message."""

    def __init__(self, profile: Profile, creator: str) -> None:
        self.message = _message_class()()
        self._texts: dict[str, int] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[tuple[Any, ...], int] = {}
        self._text("")
        for name in ("cycles", "instructions"):
            self.message.sample_type.add(type=self._text(name), unit=self._text("count"))
        self.message.default_sample_type = self._text("cycles")
        self.message.period_type.type = self._text("cycles")
        self.message.period_type.unit = self._text("count")
        self.message.period = 1
        self.message.duration_nanos = profile.elapsed_ps // 1000
        self.message.comment.append(self._text(f"{profile.board}, by {creator}"))
        self.message.mapping.add(
            id=1,
            memory_limit=_MEMORY_BYTES,
            filename=self._text(profile.firmware),
            has_functions=True,
            has_filenames=True,
            has_line_numbers=True,
            has_inline_frames=True,
        )
        for core in profile.cores:
            self._add_core(core)
        self.message.string_table.extend(self._texts)

    def _add_core(self, core: CoreProfile) -> None:
        callers: dict[int | None, list[int]] = {None: []}
        for index in core.walk():
            path = core.paths[index]
            if path.kind == INLINED:
                callers[index] = callers[path.parent]
            else:
                callers[index] = [self._caller(path), *callers[path.parent]]
        own_label = {"key": self._text("core"), "str": self._text(core.name)}
        cause = self._text("cause")
        for cost in core.costs:
            innermost = self._innermost(core, cost)
            # the location of its own function is the instruction's
            location = [innermost, *callers[cost.path][1:]] if innermost else callers[cost.path]
            executions = cost.executions
            for charge in cost.charges:
                sample = self.message.sample.add(
                    location_id=location, value=[charge.cycles, executions]
                )
                executions = 0
                sample.label.add(**own_label)
                sample.label.add(key=cause, str=self._text(core.causes[charge.cause]))
            if executions:
                sample = self.message.sample.add(location_id=location, value=[0, executions])
                sample.label.add(**own_label)

    def _innermost(self, core: CoreProfile, cost: Cost) -> int | None:
        """The location of an instruction with its inlined frames; None without an address."""
        if cost.address is None:
            return None
        frames = []
        index = cost.path
        for place in cost.places[:-1]:
            frames.append((core.paths[index].name, place.file, place.line, place.column))
            index = core.paths[index].parent or 0
        last = cost.places[-1] if cost.places else Place("")
        # by the path: code that was jumped into belongs to the caller
        frames.append((core.paths[index].name, last.file, last.line, last.column))
        return self._location(cost.address, tuple(frames))

    def _caller(self, path: Path) -> int:
        place = path.place or Place("")
        return self._location(path.address or 0, ((path.name, place.file, place.line, None),))

    def _location(self, address: int, frames: tuple[tuple[Any, ...], ...]) -> int:
        key = address, frames
        if key not in self._locations:
            number = self._locations[key] = len(self._locations) + 1
            location = self.message.location.add(id=number, mapping_id=1, address=address)
            for name, file, line, column in frames:
                function = self._function(name, file or "")
                location.line.add(function_id=function, line=line or 0, column=column or 0)
        return self._locations[key]

    def _function(self, name: str, file: str) -> int:
        key = name, file
        if key not in self._functions:
            number = self._functions[key] = len(self._functions) + 1
            text = self._text(name)
            self.message.function.add(
                id=number, name=text, system_name=text, filename=self._text(file)
            )
        return self._functions[key]

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))
