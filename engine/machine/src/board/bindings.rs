//! The reference of bindings: the properties that each model reads, as the model itself declares them.
//!
//! Each model reads a node that has only a compatible, on a board that collects the declarations. Every branch that
//! depends on a property is taken. So the reference describes what the readers do.

use super::build::{read_held, read_route, read_with};
use super::cores;
use super::gaps;
use super::memories;
use super::passive::{PASSIVE, is_passive};
use super::pins;
use super::routes;
use devices::jedec::spi_nor;
use devices::{self, Entry, Group, Kind};
use engine::activity::{Activity, BUS, CORE};
use engine::dt::linux;
use engine::dt::node::{Location, Node, Property};
use engine::dt::reader::{Board, Declared, NodeReader};

/// The reference of one compatible.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// The group that it belongs to.
    pub group: Group,
    /// What the node stands for, the document that specifies it, what is modelled and what is not: paragraphs.
    pub about: &'static str,
    /// Its properties, in the order in which they are read.
    pub properties: Vec<Declared>,
    /// The activities that it records.
    pub activities: &'static [&'static Activity],
}

/// All bindings, by groups.
pub fn all() -> Vec<Binding> {
    let mut all: Vec<Binding> = cores().chain(memories()).chain(buses()).chain(models()).collect();
    all.extend(PASSIVE.iter().map(|node| Binding {
        compatible: node.compatible,
        group: Group::Passive,
        about: node.about,
        properties: declared(node.compatible, node.declare),
        activities: &[],
    }));
    all.sort_by_key(|binding| binding.group);
    all
}

/// Properties that any node may have, with their meanings; then two of the root, and one of any memory or device.
pub fn common() -> Vec<(&'static str, &'static str)> {
    linux::COMMON.into_iter().chain([gaps::UNMAPPED, gaps::UNMODELLED, linux::CACHEABLE]).collect()
}

/// True for a compatible of [`all`], and for those that only partitions of a flash's node have.
pub fn is_listed(compatible: &str) -> bool {
    cores::TYPES.iter().any(|core| core.compatible == compatible)
        || ["memory", "mmio-sram"].contains(&compatible)
        || is_passive(compatible)
        || devices::find(compatible).is_some()
        || spi_nor::parts::PARTS.iter().any(|part| part.compatible == compatible)
}

fn cores() -> impl Iterator<Item = Binding> {
    cores::TYPES.iter().map(|core| {
        let properties = declared(core.compatible, |reader| {
            routes::declare_core_bus(reader);
            read_held(reader);
            cores::from_node(reader, 0);
        });
        Binding { compatible: core.compatible, group: Group::Core, about: core.about, properties, activities: CORE }
    })
}

fn memories() -> impl Iterator<Item = Binding> {
    let memories = [
        (
            "memory",
            "A memory: a node with `device_type = \"memory\"`, and no compatible of its own. Behind its port may be \
             an SDRAM (`cyclescope,banks`), with open rows and refreshes.",
        ),
        ("mmio-sram", "A memory on the chip. The same as a node with `device_type = \"memory\"`."),
    ];
    memories.into_iter().map(|(compatible, about)| {
        let properties = declared(compatible, |reader| {
            let ranges = memories::read_ranges(reader);
            memories::read(reader, &ranges);
        });
        Binding { compatible, group: Group::Memory, about, properties, activities: &[] }
    })
}

fn buses() -> impl Iterator<Item = Binding> {
    let bus = Binding {
        compatible: "simple-bus",
        group: Group::Bus,
        about: "An interconnect: an access to what is below it takes the request's cycles there, and the response's \
                back.",
        properties: declared("simple-bus", |reader| drop(read_route(reader))),
        activities: BUS,
    };
    let route = Binding {
        compatible: routes::COMPATIBLE,
        group: Group::Bus,
        about: "A child of a bus: the route to it from another bus, on which a core sits (`cyclescope,bus` of the \
                `cpu` node), where that differs from the route that the board's other masters have.",
        properties: declared(routes::COMPATIBLE, |reader| drop(routes::read_between(reader, "", ""))),
        activities: &[],
    };
    [bus, route].into_iter()
}

/// Devices and chips on wires; each flash part has properties of its own.
fn models() -> impl Iterator<Item = Binding> {
    devices::entries().iter().flat_map(|entry| {
        let parts: Vec<&str> = spi_nor::parts::PARTS.iter().map(|part| part.compatible).collect();
        let names = if entry.compatible == spi_nor::COMPATIBLE { parts } else { vec![entry.compatible] };
        names.into_iter().map(|compatible| Binding {
            compatible,
            group: entry.model.group,
            about: entry.about,
            properties: declared(compatible, |reader| read_model(entry, reader)),
            activities: entry.model.activities,
        })
    })
}

fn read_model(entry: &Entry, reader: &mut NodeReader) {
    match entry.model.kind {
        Kind::Device(ranges, from_node) => {
            memories::read_device_ranges(reader, ranges);
            from_node(reader);
        }
        Kind::Port(ranges, from_node) => {
            memories::read_device_ranges(reader, ranges);
            from_node(reader);
            pins::read_pulls(reader, entry.model.banks);
        }
        Kind::SpiChip(from_node) => drop(from_node(reader)),
        Kind::I2cChip(from_node) => drop(from_node(reader)),
    }
}

/// The properties that a reader declares for a node with this compatible.
pub(super) fn declared(compatible: &str, read: impl FnOnce(&mut NodeReader)) -> Vec<Declared> {
    let at = Location { file: "".into(), line: 1 };
    let value = [compatible.as_bytes(), &[0]].concat();
    let node = Node {
        path: "/node".to_owned(),
        name: "node".to_owned(),
        labels: Vec::new(),
        at: at.clone(),
        phandle: None,
        properties: vec![Property { name: "compatible".to_owned(), value, at }],
        children: Vec::new(),
    };
    let no_lines = |_: u32, _: &[u32]| None;
    // Faults do not matter here: the node is empty.
    let mut board = Board {
        root: &node,
        faults: Vec::new(),
        parameters: Vec::new(),
        declared: Some(Vec::new()),
        pins: devices::pins_of,
        external: None,
        interrupts: &no_lines,
    };
    read_with(&node, &mut board, |reader| read(reader));
    board.declared.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_model_is_described_once() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|binding| binding.compatible).collect();
        assert_eq!(names.len(), all.len());
        let has_parts = |entry: &&Entry| entry.compatible == spi_nor::COMPATIBLE;
        assert!(devices::entries().iter().all(|entry| names.contains(entry.compatible) || has_parts(&entry)));
        for binding in &all {
            assert!(binding.about.trim().ends_with('.'), "{}: {:?}", binding.compatible, binding.about);
        }
    }

    #[test]
    fn each_property_has_a_meaning() {
        for binding in all() {
            for property in &binding.properties {
                let meanings = &property.meaning;
                let said = meanings.iter().any(|meaning| !meaning.is_empty());
                assert!(said, "{}: {}", binding.compatible, property.name);
            }
        }
    }

    #[test]
    fn what_depends_on_the_node_says_on_what() {
        let properties = |name: &str| all().into_iter().find(|it| it.compatible == name).expect(name).properties;
        let find = |name: &str, property: &str| {
            let all = properties(name);
            all.into_iter().find(|it| it.name == property).expect(property)
        };
        let banks = find("memory", "cyclescope,banks");
        assert_eq!((banks.required, banks.when.as_deref()), (false, None));
        let row = find("memory", "cyclescope,row-bytes");
        assert_eq!((row.required, row.when.as_deref()), (true, Some("`cyclescope,banks` is there")));
        assert_eq!(
            (row.timing, row.unit, row.range.as_deref()),
            (true, "bytes", Some("a power of two, 64 to 1048576"))
        );
        let inputs = find("xlnx,xps-intc-1.00.a", "xlnx,num-intr-inputs");
        assert_eq!((inputs.required, inputs.range.as_deref()), (true, Some("1 to 32")));
        let clocks = find("riscv,clint0", "clocks");
        assert_eq!(clocks.meaning.len(), 2);
    }
}
