//! The chip's node.

use std::sync::Arc;

use super::super::parameters::from_node;
use super::*;
use crate::board::fault::BoardFault;
use crate::board::node::{Location, Node, Property};
use crate::board::reader::{Board, NodeReader};

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

fn cells(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|cell| cell.to_be_bytes()).collect()
}

/// Reads a node in which every time is 7 units, and with more properties.
fn read(more: &[(&str, Vec<u8>)]) -> (Parameters, Vec<BoardFault>) {
    let names: Vec<String> = NAMES.iter().map(|name| format!("cyclescope,{name}")).collect();
    let mut sources = format!("{}: chosen for the tests", names.join(", ")).into_bytes();
    sources.push(0);
    let mut values = vec![("reg", cells(&[0])), ("cyclescope,sources", sources)];
    values.extend(names.iter().map(|name| (name.as_str(), cells(&[7]))));
    values.extend(more.iter().cloned());
    let at = Location { file: Arc::from("board.dts"), line: 7 };
    let property = |(name, value): (&str, Vec<u8>)| Property { name: name.to_owned(), value, at: at.clone() };
    let node = Node {
        path: "/spi/transceiver@0".to_owned(),
        name: "transceiver@0".to_owned(),
        labels: vec!["transceiver".to_owned()],
        properties: values.into_iter().map(property).collect(),
        at: at.clone(),
        phandle: None,
        children: Vec::new(),
    };
    let mut board =
        Board { root: &node, faults: Vec::new(), parameters: Vec::new(), declared: None, interrupts: &|_, _| None };
    let mut reader = NodeReader::new(&node, &mut board);
    let parameters = from_node(&mut reader);
    reader.finish();
    (parameters, board.faults)
}

#[test]
fn times_limits_and_the_peer_come_from_the_node() {
    let air = [("cyclescope,air-frame-bytes", cells(&[1, 127])), ("cyclescope,air-interval-us", cells(&[4928]))];
    let (parameters, faults) = read(&air);
    assert_eq!(faults, []);
    assert_eq!((parameters.times.reset, parameters.limits.idle), (Ps::from_us(7), Ps::from_ns(7)));
    assert_eq!((parameters.limits.sleep_pulse, parameters.limits.period), (Ps(7), Ps(133_333)));
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
        assert!(faults[0].kind.to_string().contains("1 to 127"), "{faults:?}");
    }
}
