"""Timelines as Perfetto's own schema reads them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

Value = int | str


@dataclass(frozen=True)
class Slice:
    """A slice of a track; an instant ends where it begins."""

    track: str
    name: str
    begin_ns: int
    end_ns: int
    category: str
    arguments: dict[str, Value]
    flows: tuple[int, ...]

    @property
    def length_ps(self) -> int:
        """The length with the file's exact times."""
        begin = self.arguments.get("begin_ps", 1000 * self.begin_ns)
        end = self.arguments.get("end_ps", 1000 * self.end_ns)
        assert isinstance(begin, int)
        assert isinstance(end, int)
        return end - begin

    @property
    def busy_ps(self) -> int:
        """The length of an activity; the total length if the slice stands for many."""
        busy = self.arguments.get("busy_ps", self.length_ps)
        assert isinstance(busy, int)
        return busy


@dataclass
class Timeline:
    """A file's slices in the order of their begins, and its counters by tracks."""

    tracks: list[str] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    counters: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def on(self, track: str) -> list[Slice]:
        return [one for one in self.slices if one.track == track]


def read(file: Path) -> Timeline:
    """A timeline, with tracks as "device/activity"."""
    trace = Trace()
    trace.ParseFromString(file.read_bytes())
    found = Timeline()
    tracks: dict[int, str] = {}
    names: dict[str, dict[int, str]] = {"names": {}, "categories": {}, "arguments": {}}
    open_slices: dict[int, list[Slice]] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            described = packet.track_descriptor
            parent = tracks.get(described.parent_uuid)
            assert parent or not described.parent_uuid
            name = described.name or described.static_name
            tracks[described.uuid] = f"{parent}/{name}" if parent else name
            found.tracks.append(tracks[described.uuid])
        for kind, interned in (
            ("names", packet.interned_data.event_names),
            ("categories", packet.interned_data.event_categories),
            ("arguments", packet.interned_data.debug_annotation_names),
        ):
            names[kind].update({entry.iid: entry.name for entry in interned})
        if not packet.HasField("track_event"):
            continue
        event, at_ns = packet.track_event, packet.timestamp
        track = tracks[event.track_uuid]
        if event.type == TrackEvent.TYPE_COUNTER:
            found.counters.setdefault(track, []).append((at_ns, event.counter_value))
            continue
        if event.type == TrackEvent.TYPE_SLICE_END:
            begun = open_slices[event.track_uuid].pop()
            found.slices.append(Slice(**{**begun.__dict__, "end_ns": at_ns}))
            continue
        arguments: dict[str, Value] = {
            names["arguments"][one.name_iid]: (
                one.uint_value if one.HasField("uint_value") else one.string_value
            )
            for one in event.debug_annotations
        }
        flows = (*event.flow_ids, *event.terminating_flow_ids)
        begun = Slice(
            track,
            event.name or names["names"][event.name_iid],
            at_ns,
            at_ns,
            names["categories"].get(event.category_iids[0], "") if event.category_iids else "",
            arguments,
            tuple(flows),
        )
        if event.type == TrackEvent.TYPE_INSTANT:
            found.slices.append(begun)
        else:
            assert event.type == TrackEvent.TYPE_SLICE_BEGIN
            open_slices.setdefault(event.track_uuid, []).append(begun)
    assert not any(open_slices.values())
    found.slices.sort(key=lambda one: one.begin_ns)
    return found


def crossings(file: Path) -> list[tuple[int, int]]:
    """Ends, as Perfetto finds them, that are not those of the slice that began last on their track:
    the track, and when. Events count in the order of their times, and of one time as they stand.
    """
    trace = Trace()
    trace.ParseFromString(file.read_bytes())
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    # in the file, each slice's end follows its begin
    ends = {
        id(begin): end.timestamp
        for begin, end in itertools.pairwise(events)
        if end.track_event.type == TrackEvent.TYPE_SLICE_END
    }
    under_way: dict[int, list[int]] = {}
    wrong: list[tuple[int, int]] = []
    for packet in sorted(events, key=lambda packet: packet.timestamp):
        stack = under_way.setdefault(packet.track_event.track_uuid, [])
        if packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append(ends[id(packet)])
        elif packet.track_event.type == TrackEvent.TYPE_SLICE_END:
            ended_ns = stack.pop()
            if ended_ns != packet.timestamp:
                wrong.append((packet.track_event.track_uuid, packet.timestamp))
    return wrong
