use std::collections::BTreeMap;

use prost::Message;

use super::*;
use crate::activity::{Activity, Kinds};

static PROGRAM: Activity = Activity::new(Kind::Busy, "page program", "");
static FRAME: Activity = Activity::new(Kind::Frame, "frame", "");
static FIFO: Activity = Activity::new(Kind::Queue, "TX FIFO", "");
static SENT: Activity = Activity::new(Kind::Serial, "character sent", "");

/// A trace, to read back what was written.
#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

fn read(timeline: Timeline) -> Vec<TracePacket> {
    Trace::decode(timeline.flatten().collect::<Vec<u8>>().as_slice()).unwrap().packet
}

/// Events: time, track, name or type, and the number of flows.
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
fn fifos_are_counters_of_their_devices() {
    let activities = Activities::default();
    let spi = activities.scope("spi0");
    activities.start(Kinds::ALL, 1 << 20);
    spi.span(&FIFO, Ps(1_000), Ps(4_500), Detail::Value(7));
    spi.span(&FIFO, Ps(2_000), Ps(9_000_000), Detail::Value(7));
    // A loop's exchanges of two bytes, in nanoseconds 5000 to 8.005 million.
    let mark = activities.mark();
    spi.span(&FIFO, Ps(5_000_000), Ps(5_000_700), Detail::Value(5));
    spi.span(&FIFO, Ps(5_000_200), Ps(5_000_900), Detail::Value(0));
    activities.repeat(&mark, crate::time::Hz::new(1_000_000_000).unwrap(), 8, 999_999);
    let packets = read(Timeline::new(&activities, Source { to: Ps(9_000_000_000), ..Source::default() }));
    let tracks: Vec<_> = packets.iter().filter_map(|packet| packet.track_descriptor.as_ref()).collect();
    assert_eq!(tracks.iter().map(|track| track.counter.is_some()).collect::<Vec<_>>(), [false, true]);
    let found: Vec<_> = events(&packets).into_iter().map(|(at, track, level, _)| (at, track, level)).collect();
    assert!(found.iter().all(|(_, track, _)| track == "spi0/TX FIFO"), "{found:?}");
    let levels: Vec<_> = found.iter().map(|(at, _, level)| (*at, level.parse::<u64>().unwrap())).collect();
    // The entry that stays until nanosecond 9000 is counted next to the loop's.
    assert_eq!(levels[..5], [(0, 0), (1, 1), (2, 2), (4, 1), (5_000, 3)]);
    assert_eq!(levels[5..], [(9_000, 2), (8_004_992, 0)]);
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
        stack: 0,
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

/// A loop with `count` skipped iterations.
fn polled(count: u64) -> Activities {
    static SHIFTING: Activity = Activity::new(Kind::Wire, "shifting", "").joining();
    let activities = Activities::default();
    let spi = activities.scope("spi0");
    activities.start(Kinds::ALL, 1 << 20);
    let mark = activities.mark();
    // An iteration of 100 cycles at 1 GHz: two frames, and the wire for each. The mark was set while the wire was in
    // use, so that is where the iteration begins.
    spi.span(&SHIFTING, Ps(100_000), Ps(110_000), Detail::None);
    spi.span(&FRAME, Ps(95_000), Ps(115_000), Detail::Value(5));
    spi.span(&SHIFTING, Ps(150_000), Ps(180_000), Detail::None);
    spi.span(&FRAME, Ps(145_000), Ps(185_000), Detail::Value(6));
    spi.span(&SHIFTING, Ps(196_000), Ps(200_000), Detail::None);
    activities.repeat(&mark, crate::time::Hz::new(1_000_000_000).unwrap(), 100, count);
    activities
}

/// Begin, end, and all numbers of each slice of a track.
fn slices_on(packets: &[TracePacket], track_name: &str) -> Vec<(u64, u64, Vec<u64>)> {
    let described = packets.iter().filter_map(|packet| packet.track_descriptor.as_ref());
    let track = described.clone().find(|track| track.name.as_deref() == Some(track_name)).unwrap().uuid;
    let mut all: Vec<(u64, u64, Vec<u64>)> = Vec::new();
    let mut events: Vec<(u64, &TrackEvent)> = packets
        .iter()
        .filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)))
        .filter(|(_, event)| event.track_uuid == track)
        .collect();
    // Like readers do: by time, and events at the same time in the order of the file. An end belongs to the innermost
    // slice.
    events.sort_by_key(|(at, _)| *at);
    let mut open = Vec::new();
    for (at, event) in events {
        if event.r#type() == EventType::SliceEnd {
            let place: usize = open.pop().unwrap();
            all[place].1 = at;
        } else {
            open.push(all.len());
            let numbers = event.debug_annotations.iter().filter_map(|it| it.uint_value).collect();
            all.push((at, 0, numbers));
        }
    }
    all
}

#[test]
fn spans_of_a_loop_on_one_track_are_one_slice_or_many_in_their_order() {
    let timeline = |count: u64| {
        let source = Source { to: Ps(1_000_000_000_000), ..Source::default() };
        read(Timeline::new(&polled(count), source))
    };
    let few = timeline(2);
    let shifting = slices_on(&few, "shifting");
    let expected = [(100, 110), (150, 180), (196, 210), (250, 280), (296, 310), (350, 380), (396, 400)];
    assert_eq!(shifting.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(), expected);
    let many = timeline(999);
    // 1000 times 10 + 30 + 4 ns, in three pieces
    assert_eq!(slices_on(&many, "shifting"), [(100, 100_100, vec![3000, 44_000_000])]);
    assert_eq!(slices_on(&many, "frame"), [(95, 100_085, vec![2000, 60_000_000])]);
}

#[test]
fn repetitions_at_edges_of_a_clock_are_as_long_as_they_are() {
    // 100 cycles of 208877930 Hz are not a whole number of picoseconds.
    let activities = Activities::default();
    let flash = activities.scope("flash0");
    activities.start(Kinds::ALL, 1 << 20);
    let clock = crate::time::Hz::new(208_877_930).unwrap();
    let at = |edge: u64| clock.ps_at_floor(crate::time::Cycles(edge));
    let mark = activities.mark();
    flash.span(&PROGRAM, at(1), at(8), Detail::None);
    activities.repeat(&mark, clock, 100, 99);
    let packets = read(Timeline::new(&activities, Source { to: Ps::MAX, ..Source::default() }));
    let busy: u64 = (0..100).map(|nth| (at(100 * nth + 8) - at(100 * nth + 1)).0).sum();
    assert_ne!(busy, 100 * (at(8) - at(1)).0);
    let expected = (at(1).0 / 1000, at(9908).0 / 1000, vec![100, busy]);
    assert_eq!(slices_on(&packets, "page program"), [expected]);
}

#[test]
fn what_interrupts_comes_before_what_it_interrupts() {
    let activities = Activities::default();
    // The controller is declared first, and all events are at one time.
    let [cpu, gic, uart] = ["cpu0", "gic", "uart0"].map(|label| activities.scope(label));
    activities.start(Kinds::ALL, 1 << 20);
    gic.interrupt("core 0, input 0".to_owned(), true, Ps(10_000));
    uart.interrupt("gic, input 33".to_owned(), true, Ps(10_000));
    cpu.mark(&crate::activity::EXCEPTION, Ps(10_000), Detail::Exception { name: "IRQ", number: None, input: Some(0) });
    gic.interrupt("core 0, input 0".to_owned(), false, Ps(18_000));
    uart.interrupt("gic, input 33".to_owned(), false, Ps(18_000));
    let source = Source { cores: vec!["cpu0".to_owned()], to: Ps(1_000_000), ..Source::default() };
    let found = events(&read(Timeline::new(&activities, source)));
    let flowing: Vec<&str> = found.iter().filter(|it| it.3 > 0).map(|it| it.1.as_str()).collect();
    assert_eq!(flowing, ["uart0/interrupt to gic, input 33", "gic/interrupt to core 0, input 0", "cpu0/exceptions"]);
}

#[test]
fn tasks_of_one_name_that_run_alternately_have_a_track_each() {
    let slice = |stack, name: &str, begin, end| CoreSlice {
        core: "cpu0".to_owned(),
        task: "worker".to_owned(),
        stack,
        name: name.to_owned(),
        begin: Ps(begin),
        end: Ps(end),
    };
    let slices = vec![
        slice(1, "work", 0, 50_000),
        slice(1, "wait", 10_000, 30_000),
        slice(2, "work", 10_000, 60_000),
        slice(2, "wait", 20_000, 40_000),
        // The first one has ended.
        slice(3, "work", 50_000, 70_000),
    ];
    let source = Source { cores: vec!["cpu0".to_owned()], to: Ps(1_000_000), slices, ..Source::default() };
    let packets = read(Timeline::new(&Activities::default(), source));
    let described = packets.iter().filter_map(|packet| packet.track_descriptor.as_ref());
    let named = described.filter(|track| track.name.as_deref() == Some("task worker"));
    let tracks: Vec<Option<u64>> = named.map(|track| track.uuid).collect();
    let on = |track| {
        let events = packets.iter().filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)));
        let mut times: Vec<u64> = events.filter(|(_, event)| event.track_uuid == track).map(|it| it.0).collect();
        times.sort_unstable();
        times
    };
    assert_eq!(tracks.len(), 2);
    assert_eq!(on(tracks[0]), [0, 10, 30, 50, 50, 70]);
    assert_eq!(on(tracks[1]), [10, 20, 40, 60]);
}

#[test]
fn the_tasks_that_a_core_runs_are_a_track_of_their_own() {
    let slice_of = |task: &str, begin, end| TaskSlice { task: task.into(), begin: Ps(begin), end: Ps(end) };
    let slices = vec![
        slice_of("from reset", 0, 1_000),
        slice_of("idle", 1_000, 2_500),
        slice_of("send", 2_500, 2_600),
        slice_of("idle", 2_600, 8_000),
    ];
    let tasks = vec![CoreTasks { core: "cpu1".to_owned(), slices }];
    let cores = vec!["cpu0".to_owned(), "cpu1".to_owned()];
    let source = Source { cores, from: Ps(1_000), to: Ps(5_000), tasks, ..Source::default() };
    let packets = read(Timeline::new(&Activities::default(), source));
    let found = events(&packets);
    let found: Vec<_> = found.iter().map(|(at, track, name, _)| (*at, track.as_str(), name.as_str())).collect();
    let track = "cpu1/tasks";
    let expected = [
        (1, track, "idle"),
        (2, track, "end"),
        (2, track, "send"),
        (2, track, "end"),
        (2, track, "idle"),
        (5, track, "end"),
    ];
    assert_eq!(found, expected);
    let slices = slices_on(&packets, "tasks");
    assert_eq!(
        slices.iter().map(|it| it.2.clone()).collect::<Vec<_>>(),
        [[1_000, 2_500], [2_500, 2_600], [2_600, 5_000]]
    );
}
