//! Routes from cores to buses: a core may be on a bus of its own, from which other buses are nearer or farther than
//! for the board's other masters.
//!
//! `cyclescope,bus = <&mlahb>` of a `cpu` node names the core's bus. Targets on that bus need no interconnect. A memory
//! there that answers in one cycle of the core's own clock costs nothing, since the instruction that accesses it has
//! that cycle. Another bus takes the time in its own node, unless it has a child for this route:
//!
//! ```text
//! from-mlahb {
//!     compatible = "cyclescope,route";
//!     cyclescope,from = <&mlahb>;
//!     clocks = <&ck_mcu>;
//!     cyclescope,request-cycles = <1>;
//!     cyclescope,response-cycles = <1>;
//! };
//! ```

use super::build::{read_route, read_with};
use engine::bus::path::View;
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::dt::fault::{BoardFault, FaultKind};
use engine::dt::node::{Node, Property};
use engine::dt::reader::{Board, Declared, NodeReader};
use engine::memory::ram::PortTiming;
use engine::time::{Cycles, Hz};

/// The compatible of a bus's child that is a route to it.
pub const COMPATIBLE: &str = "cyclescope,route";
/// The compatible in older boards.
const OLD_COMPATIBLE: &str = "cyclescope,way";
/// The property of a `cpu` node that names its bus.
pub const CORE_BUS: &str = "cyclescope,bus";
/// The property of a route that says where it begins.
const FROM: &str = "cyclescope,from";

/// The buses of cores, and the routes from there.
#[derive(Debug, Default)]
pub struct Routes {
    /// The bus of each core that has one of its own, by its index among the routes.
    core_buses: Vec<Option<usize>>,
    /// From a bus, to a bus: the route.
    between: Vec<(usize, usize, usize)>,
}

/// Reads the routes to `buses`, which are the first routes of the bus in their order, and adds routes for them.
pub fn read<'a>(buses: &[&'a Node], board: &mut Board<'a>, bus: &mut Bus) -> Routes {
    let mut routes = Routes::default();
    for (to, node) in buses.iter().enumerate() {
        let is_route = |child: &&Node| child.is_enabled() && child.compatibles().into_iter().any(is_compatible);
        for child in node.children.iter().filter(is_route) {
            let from = bus_of(buses, child, FROM, board);
            let name = from.map_or("", |from| buses[from].label());
            let route = read_with(child, board, |reader| read_between(reader, node.label(), name));
            bus.routes.push(route);
            routes.between.extend(from.map(|from| (from, to, bus.routes.len() - 1)));
        }
    }
    let cpus = board.root.children.iter().filter(|node| node.name == "cpus").flat_map(|cpus| &cpus.children);
    for cpu in cpus.filter(|node| node.is_enabled() && node.name.starts_with("cpu@")) {
        let core_bus = cpu.property(CORE_BUS).and_then(|_| bus_of(buses, cpu, CORE_BUS, board));
        routes.core_buses.push(core_bus);
    }
    routes
}

/// True for a compatible of a route.
pub fn is_compatible(compatible: &str) -> bool {
    [COMPATIBLE, OLD_COMPATIBLE].contains(&compatible)
}

/// Declares that a `cpu` node may name its bus.
pub fn declare_core_bus(reader: &mut NodeReader) {
    declare(reader, CORE_BUS, "the bus that the core sits on, if not where the board's other masters are", false);
}

fn declare(reader: &mut NodeReader, name: &str, meaning: &str, required: bool) {
    reader.declare(Declared { required, ..Declared::new(name, "bus", meaning) });
}

/// Reads a route between two buses, by their names.
pub fn read_between(reader: &mut NodeReader, to: &str, from: &str) -> Route {
    declare(reader, FROM, "the bus that the route leads from", true);
    Route { name: format!("{to} from {from}"), ..read_route(reader) }
}

/// The bus that a property of a node refers to.
fn bus_of(buses: &[&Node], node: &Node, property: &str, board: &mut Board) -> Option<usize> {
    let found = node.property(property);
    let phandle = found.and_then(Property::cells).and_then(|cells| cells.first().copied());
    let bus = phandle.and_then(|phandle| buses.iter().position(|bus| bus.phandle == Some(phandle)));
    if bus.is_none() {
        let at = found.map_or(&node.at, |property| &property.at).clone();
        let expected = "an enabled simple-bus".to_owned();
        let kind = FaultKind::BadReference { property: property.to_owned(), expected };
        board.faults.push(BoardFault { at, node: node.name.clone(), kind });
    }
    bus
}

/// The number of a slave, from its index. The last number is not used: the core has it for another master's port.
fn slave(index: usize) -> u8 {
    u8::try_from(index + 1).unwrap_or(u8::MAX).min(u8::MAX - 1)
}

impl Routes {
    /// How each core reaches each map entry, for these clocks; empty where no core has a bus of its own.
    pub fn views(&self, bus: &Bus, clocks: &[Hz]) -> Vec<Vec<View>> {
        if self.core_buses.iter().all(Option::is_none) {
            return Vec::new();
        }
        let of_core = |(core_bus, clock): (&Option<usize>, &Hz)| {
            bus.map.iter().map(|entry| self.view(bus, entry, *core_bus, *clock)).collect()
        };
        self.core_buses.iter().zip(clocks).map(of_core).collect()
    }

    fn view(&self, bus: &Bus, entry: &MapEntry, core_bus: Option<usize>, clock: Hz) -> View {
        let timing = match entry.target {
            Target::Ram(ram) => Some(bus.rams[ram].timing()),
            Target::Device(..) => None,
        };
        let Some(core_bus) = core_bus else {
            let local = timing.is_some_and(|timing| timing.first_word_cycles == Cycles(0)) && entry.route.is_none();
            return View { route: entry.route, local, slave: 0 };
        };
        if entry.route == Some(core_bus) {
            let at_once = |timing: PortTiming| {
                timing.clock == clock && timing.first_word_cycles.max(timing.write_first_word_cycles) <= Cycles(1)
            };
            let slave = slave(match entry.target {
                Target::Ram(ram) => ram,
                Target::Device(id, _) => bus.rams.len() + bus.routes.len() + id.0 as usize,
            });
            return View { route: None, local: timing.is_some_and(at_once), slave };
        }
        let between = self.between.iter().find(|(from, to, _)| (*from, Some(*to)) == (core_bus, entry.route));
        // Another bus is one slave of this one, whatever the targets on it.
        let slave = entry.route.map_or(0, |route| slave(bus.rams.len() + route));
        View { route: between.map_or(entry.route, |(.., route)| Some(*route)), local: false, slave }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::bus::Route;
    use engine::bus::device::DeviceId;
    use engine::dt::testing::{cells, node};
    use engine::memory::ram::Ram;

    const MHZ: u64 = 1_000_000;

    #[test]
    fn a_route_is_found_under_its_old_name_too() {
        for (compatible, found) in [("cyclescope,route", true), ("cyclescope,way", true), ("simple-bus", false)] {
            let compatible = [compatible.as_bytes(), &[0]].concat();
            let properties = vec![("compatible", compatible), (FROM, cells(&[1]))];
            let route = node("from-mlahb", None, properties, Vec::new());
            let buses = [node("mlahb", Some(1), Vec::new(), Vec::new()), node("axi", Some(2), Vec::new(), vec![route])];
            let root = node("", None, Vec::new(), buses.to_vec());
            let mut board = Board {
                root: &root,
                faults: Vec::new(),
                parameters: Vec::new(),
                declared: None,
                pins: |_| 0,
                external: None,
                interrupts: &|_, _| None,
            };
            let mut bus = Bus::default();
            let routes = read(&buses.each_ref(), &mut board, &mut bus);
            assert_eq!(routes.between, if found { vec![(0, 1, 0)] } else { Vec::new() });
            assert_eq!(bus.routes.len(), usize::from(found));
        }
    }

    /// Three buses and a route from the second to the third; on each a memory or a device.
    fn bus() -> Bus {
        let mut bus = Bus::default();
        let clock = Hz::new(200 * MHZ).unwrap();
        for (name, cycles) in [("axi", 4), ("mlahb", 7), ("apb1", 9), ("apb1 from mlahb", 2)] {
            let (request_cycles, response_cycles) = (Cycles(cycles), Cycles(cycles));
            bus.routes.push(Route { name: name.into(), clock, request_cycles, response_cycles });
        }
        for (index, (name, first_word)) in [("sysram", 1), ("sram", 1), ("slow", 2)].into_iter().enumerate() {
            bus.rams.push(Ram::new(0x100, PortTiming::symmetric(clock, Cycles(first_word), Cycles(1), 4)));
            let (base, target) = (0x1000 * index as u32, Target::Ram(index));
            let route = Some(index.min(1));
            bus.map.push(MapEntry::new(name, base, base + 0xff, target).on_route(route));
        }
        let (base, target) = (0x4000, Target::Device(DeviceId(0), 0));
        bus.map.push(MapEntry::new("uart", base, base + 0xff, target).on_route(Some(2)));
        bus
    }

    #[test]
    fn what_is_on_a_cores_own_bus_is_near() {
        let mut bus = bus();
        let routes = Routes { core_buses: vec![None, Some(1)], between: vec![(1, 2, 3)] };
        let clocks = [600, 200].map(|mhz| Hz::new(mhz * MHZ).unwrap());
        bus.views = routes.views(&bus, &clocks);
        bus.set_core_clocks(clocks.to_vec());
        let taken = |bus: &Bus| [0, 1, 2, 3].map(|entry| bus.path(entry).route);
        let local = |bus: &Bus| [0, 1, 2, 3].map(|entry| bus.path(entry).local);
        for master in [None, Some(0)] {
            bus.master = master;
            assert_eq!((taken(&bus), local(&bus)), ([Some(0), Some(1), Some(1), Some(2)], [false; 4]), "{master:?}");
        }
        bus.master = Some(1);
        assert_eq!((taken(&bus), local(&bus)), ([Some(0), None, None, Some(3)], [false, true, false, false]));
    }

    #[test]
    fn cores_without_buses_of_their_own_see_the_map_as_it_is() {
        let bus = bus();
        let routes = Routes { core_buses: vec![None, None], between: vec![(1, 2, 3)] };
        let clock = Hz::new(200 * MHZ).unwrap();
        assert_eq!(routes.views(&bus, &[clock, clock]), Vec::<Vec<View>>::new());
    }
}
