//! The node's properties, right and wrong.

use std::sync::Arc;

use super::*;
use engine::dt::fault::BoardFault;
use engine::dt::node::{Location, Node, Property};
use engine::dt::reader::{Board, NodeReader};

const VALUES: [(&str, u32); 11] = [
    ("cyclescope,page-bytes", 2048),
    ("cyclescope,pages-per-block", 64),
    ("cyclescope,open-blocks", 1),
    ("cyclescope,page-mapped-bytes", 262_144),
    ("cyclescope,page-program-us", 830),
    ("cyclescope,sector-copy-us", 500),
    ("cyclescope,page-copy-us", 1_100),
    ("cyclescope,block-erase-us", 1_500),
    ("cyclescope,page-read-us", 60),
    ("cyclescope,read-access-us", 200),
    ("cyclescope,stop-us", 7),
];

/// Reads a node with [`VALUES`], some of them replaced by `changes` (`None` removes), for a card of `sectors`.
fn read(changes: &[(&str, Option<u32>)], sectors: u32) -> (Translation, Vec<String>) {
    let at = Location { file: Arc::from("board.dts"), line: 7 };
    let change = |name: &str| changes.iter().find(|(changed, _)| *changed == name).map(|(_, value)| *value);
    let values = VALUES.iter().filter_map(|(name, value)| Some((*name, change(name).unwrap_or(Some(*value))?)));
    let values: Vec<(&str, u32)> = values.collect();
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let sources = format!("{}: a datasheet\0", names.join(", ")).into_bytes();
    let mut properties = vec![Property { name: "cyclescope,sources".into(), value: sources, at: at.clone() }];
    properties.extend(values.iter().map(|(name, value)| Property {
        name: (*name).into(),
        value: value.to_be_bytes().to_vec(),
        at: at.clone(),
    }));
    let node = Node {
        path: "/mmc@0".into(),
        name: "mmc@0".into(),
        labels: Vec::new(),
        at,
        phandle: None,
        properties,
        children: Vec::new(),
    };
    let mut board = Board {
        root: &node,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: None,
        pins: crate::pins_of,
        external: None,
        interrupts: &|_, _| None,
    };
    let mut reader = NodeReader::new(&node, &mut board);
    let translation = Translation::from_node(&mut reader, sectors);
    reader.finish();
    (translation, board.faults.iter().map(|fault: &BoardFault| fault.to_string()).collect())
}

#[test]
fn a_sound_node_is_what_it_says() {
    let (translation, faults) = read(&[], GEOMETRY.card);
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(translation.geometry, GEOMETRY);
    assert_eq!(translation.times, TIMES);
}

#[test]
fn each_property_must_be_there() {
    for (name, _) in VALUES {
        let (_, faults) = read(&[(name, None)], GEOMETRY.card);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains(&format!("property '{name}' is missing")), "{faults:?}");
    }
}

#[test]
fn sizes_are_checked() {
    for (name, value) in [
        ("cyclescope,page-bytes", 2_000),
        ("cyclescope,page-bytes", 256),
        ("cyclescope,page-bytes", 131_072),
        ("cyclescope,pages-per-block", 0),
        ("cyclescope,pages-per-block", 96),
        ("cyclescope,pages-per-block", 2048),
        ("cyclescope,open-blocks", 0),
        ("cyclescope,open-blocks", 65),
        ("cyclescope,page-mapped-bytes", 131_072 + 512),
        ("cyclescope,page-mapped-bytes", 131_072 * 101),
    ] {
        let (_, faults) = read(&[(name, Some(value))], GEOMETRY.card);
        assert!(
            faults.iter().any(|fault| fault.contains(&format!("{name} is {value}; "))),
            "{name} {value}: {faults:?}"
        );
    }
}

#[test]
fn no_area_mapped_by_page_is_fine() {
    let (translation, faults) = read(&[("cyclescope,page-mapped-bytes", Some(0))], GEOMETRY.card);
    assert_eq!((faults, translation.geometry.mapped), (Vec::new(), 0));
}
