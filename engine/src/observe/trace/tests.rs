use std::collections::BTreeMap;

use prost::Message;

use super::*;
use crate::activity::{Activity, Kinds};

static PROGRAM: Activity = Activity::new(Kind::Busy, "page program", "");
static FRAME: Activity = Activity::new(Kind::Frame, "frame", "");
static SENT: Activity = Activity::new(Kind::Serial, "character sent", "");

/// Trace, to read what was written.
#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

fn read(timeline: Timeline) -> Vec<TracePacket> {
    Trace::decode(timeline.flatten().collect::<Vec<u8>>().as_slice()).unwrap().packet
}

/// Events: time, track, name or what it is, and flows.
fn events(packets: &[TracePacket]) -> Vec<(u64, String, String, usize)> {
    let (mut tracks, mut names) = (BTreeMap::new(), BTreeMap::new());
    let mut events = Vec::new();
    for packet in packets {
        if let Some(track) = &packet.track_descriptor {
            let parent = track.parent_uuid.and_then(|parent| tracks.get(&parent).cloned());
            let name = track.name.clone().unwrap();
            tracks
                .insert(track.uuid.unwrap(), parent.map_or(name.clone(), |parent: String| format!("{parent}/{name}")));
        }
        for interned in packet.interned_data.iter().flat_map(|data| &data.event_names) {
            names.insert(interned.iid.unwrap(), interned.name.clone().unwrap());
        }
        let Some(event) = &packet.track_event else { continue };
        let name = match event.r#type() {
            EventType::SliceEnd => "end".to_owned(),
            EventType::Counter => event.counter_value.unwrap().to_string(),
            _ => event.name.clone().unwrap_or_else(|| names[&event.name_iid.unwrap()].clone()),
        };
        let flows = event.flow_ids.len() + event.terminating_flow_ids.len();
        events.push((packet.timestamp.unwrap(), tracks[&event.track_uuid.unwrap()].clone(), name, flows));
    }
    events
}

#[test]
fn devices_have_slices_with_their_details() {
    let activities = Activities::default();
    let (flash, uart) = (activities.scope("flash0"), activities.scope("uart0"));
    activities.start(Kinds::ALL, 1 << 20);
    flash.span(&PROGRAM, Ps(2_000), Ps(9_999), Detail::Address { address: 0x100, bytes: 256 });
    flash.begin(&FRAME, Ps(1_000), Detail::None);
    flash.bits(&FRAME, 40, None, Some(0x55));
    flash.bits(&FRAME, 8, Some(0x9f), None);
    flash.end(&FRAME, Ps(3_000));
    uart.span(&SENT, Ps(4_000), Ps(5_000), Detail::Value(b'\n'.into()));
    let packets = read(Timeline::new(&activities, Source { to: Ps(1_000_000), ..Source::default() }));
    let expected = [
        (1, "flash0/frame", "9f"),
        (3, "flash0/frame", "end"),
        (2, "flash0/page program", "page program"),
        (9, "flash0/page program", "end"),
        (4, "uart0/character sent", "'\\n'"),
        (5, "uart0/character sent", "end"),
    ];
    let found = events(&packets);
    let found: Vec<_> = found.iter().map(|(at, track, name, _)| (*at, track.as_str(), name.as_str())).collect();
    assert_eq!(found, expected);
    let program = packets.iter().filter_map(|packet| packet.track_event.as_ref()).nth(2).unwrap();
    let numbers: Vec<u64> = program.debug_annotations.iter().filter_map(|it| it.uint_value).collect();
    assert_eq!(numbers, [256, 2_000, 9_999]);
    assert_eq!(program.debug_annotations[0].string_value.as_deref(), Some("0x100"));
}

#[test]
fn a_window_has_what_is_in_it_and_many_repetitions_are_one_slice() {
    let activities = Activities::default();
    let flash = activities.scope("flash0");
    activities.start(Kinds::ALL, 1 << 20);
    let clock = crate::time::Hz::new(1_000_000_000).unwrap();
    let mark = activities.mark();
    flash.span(&PROGRAM, Ps(0), Ps(1_000), Detail::None);
    activities.repeat(&mark, clock, 2, 999_999);
    let slices = |from: u64, to: u64| {
        let source = Source { from: Ps(from), to: Ps(to), ..Source::default() };
        events(&read(Timeline::new(&activities, source)))
    };
    assert_eq!(slices(0, 2_000_000_000).len(), 2);
    assert_eq!(
        slices(1_000_500, 1_004_500).iter().map(|event| event.0).collect::<Vec<_>>(),
        [1000, 1001, 1002, 1003, 1004, 1005]
    );
}

#[test]
fn an_interrupt_flows_from_the_device_through_the_controller_to_the_core() {
    let activities = Activities::default();
    let [uart, gic, cpu] = ["uart0", "gic", "cpu0"].map(|label| activities.scope(label));
    activities.start(Kinds::ALL, 1 << 20);
    uart.interrupt("gic, input 33".to_owned(), true, Ps(10_000));
    gic.interrupt("core 0, input 0".to_owned(), true, Ps(12_000));
    cpu.mark(&crate::activity::EXCEPTION, Ps(15_000), Detail::Exception { name: "IRQ", number: None, input: Some(0) });
    gic.interrupt("core 0, input 0".to_owned(), false, Ps(18_000));
    uart.interrupt("gic, input 33".to_owned(), false, Ps(18_000));
    cpu.mark(&crate::activity::EXCEPTION, Ps(25_000), Detail::Exception { name: "SVC", number: None, input: None });
    let slices = ["main", "handler"].into_iter().zip([(0, 30_000), (15_000, 20_000)]);
    let slice = |(name, (begin, end)): (&str, (u64, u64))| CoreSlice {
        task: String::new(),
        core: "cpu0".to_owned(),
        name: name.to_owned(),
        begin: Ps(begin),
        end: Ps(end),
    };
    let source = Source {
        cores: vec!["cpu0".to_owned()],
        to: Ps(1_000_000),
        slices: slices.map(slice).collect(),
        ..Source::default()
    };
    let found = events(&read(Timeline::new(&activities, source)));
    let begun: Vec<_> = found.iter().filter(|it| it.2 != "end").map(|it| (it.0, it.1.as_str(), it.3)).collect();
    let expected = [
        (10, "uart0/interrupt to gic, input 33", 1),
        (12, "gic/interrupt to core 0, input 0", 1),
        (15, "cpu0/exceptions", 1),
        (25, "cpu0/exceptions", 0),
        (0, "cpu0/functions", 0),
        (15, "cpu0/functions", 0),
    ];
    assert_eq!(begun, expected);
}

#[test]
fn totals_are_counters() {
    let mut counters = Counters::new(Ps::ZERO, Ps::MAX, Ps(1_000));
    for (at, fills) in [(0, 0), (1_000, 3), (2_000, 3), (3_000, 7)] {
        counters.add(Ps(at), [("cpu0.i-cache fills".to_owned(), fills)]);
    }
    let source = Source { to: Ps(2_500), counters, cores: vec!["cpu0".to_owned()], ..Source::default() };
    let found = events(&read(Timeline::new(&Activities::default(), source)));
    let expected = [(0, "0"), (1, "3")].map(|(at, total)| (at, "cpu0/i-cache fills".to_owned(), total.to_owned(), 0));
    assert_eq!(found, expected);
}
