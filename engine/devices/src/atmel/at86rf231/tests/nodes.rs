//! The chip's node.

use super::super::limits::Limit;
use super::super::parameters::from_node;
use super::*;
use crate::bench::{cells, node, read_tree};

const NAMES: [&str; 20] = [
    "power-on-us",
    "filter-tuning-us",
    "wake-up-us",
    "fall-asleep-us",
    "pll-start-us",
    "state-change-us",
    "transmit-start-us",
    "transmit-end-us",
    "reset-us",
    "channel-us",
    "interrupt-latency-us",
    "measurement-us",
    "sel-to-miso-ns",
    "miso-out-ns",
    "mosi-setup-ns",
    "mosi-hold-ns",
    "byte-gap-ns",
    "sleep-pulse-ps",
    "sel-idle-ns",
    "sel-release-ns",
];

/// Reads a node in which every time is 7 units, and with more properties.
fn read(more: &[(&str, Vec<u8>)]) -> (Parameters, Vec<String>) {
    let names: Vec<String> = NAMES.iter().map(|name| format!("cyclescope,{name}")).collect();
    let mut sources = format!("{}: chosen for the tests", names.join(", ")).into_bytes();
    sources.push(0);
    let mut values = vec![("reg", cells(&[0])), ("cyclescope,sources", sources)];
    values.extend(names.iter().map(|name| (name.as_str(), cells(&[7]))));
    values.extend(more.iter().cloned());
    let root = node("", None, Vec::new(), vec![node("transceiver", None, values, Vec::new())]);
    read_tree(&root, from_node)
}

#[test]
fn times_limits_and_the_peer_come_from_the_node() {
    let air = [("cyclescope,air-frame-bytes", cells(&[1, 127])), ("cyclescope,air-interval-us", cells(&[4928]))];
    let (parameters, faults) = read(&air);
    assert_eq!(faults, [""; 0]);
    assert_eq!((parameters.times.reset, parameters.limits[Limit::T8 as usize]), (Ps::from_us(7), Ps::from_ns(7)));
    assert_eq!((parameters.limits[Limit::T7 as usize], parameters.limits[Limit::Clock as usize]), (Ps(7), Ps(133_333)));
    assert_eq!((parameters.peer.lengths, parameters.peer.interval), (vec![1, 127], Ps::from_us(4928)));
    for air in [&air[..1], &[air[0].clone(), ("cyclescope,air-interval-us", cells(&[0]))]] {
        let (silent, faults) = read(air);
        assert_eq!((silent.peer.lengths, faults), (Vec::new(), Vec::new()));
    }
}

#[test]
fn frames_that_cannot_be_are_faults_of_the_board() {
    for lengths in [&[20, 128][..], &[0]] {
        let air = [("cyclescope,air-frame-bytes", cells(lengths)), ("cyclescope,air-interval-us", cells(&[1]))];
        let (_, faults) = read(&air);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("1 to 127"), "{faults:?}");
    }
}

#[test]
fn the_air_comes_from_the_node() {
    let number = |value: u32| cells(&[value]);
    let (parameters, faults) = read(&[
        ("cyclescope,air-rate-kbps", number(2000)),
        ("cyclescope,air-destination", number(0x1234_5678)),
        ("cyclescope,air-acknowledged-percent", number(75)),
        ("cyclescope,air-busy-us", number(300)),
        ("cyclescope,air-busy-interval-us", number(1000)),
        ("cyclescope,air-busy-ed-level", number(20)),
    ]);
    assert_eq!(faults, [""; 0]);
    let Parameters { peer, others, .. } = parameters;
    assert_eq!((peer.rate, peer.destination, peer.acknowledged_pct), (3, Some((0x1234, 0x5678)), 75));
    assert_eq!((others.busy, others.interval, others.ed_level), (Ps::from_us(300), Ps::from_us(1000), 20));
    let (_, faults) = read(&[("cyclescope,air-rate-kbps", number(300))]);
    assert!(faults[0].contains("250, 500, 1000 or 2000"), "{faults:?}");
    let short = [("cyclescope,air-destination", number(1)), ("cyclescope,air-frame-bytes", number(10))];
    let (_, faults) = read(&short);
    assert!(faults[0].contains("11 to 127"), "{faults:?}");
}
