//! Builds a machine from a board's nodes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::cluster;
use super::common;
use super::cores;
use super::gaps;
use super::idle_caches;
use super::memories::{self, RamPlan};
use super::overlays;
use super::passive;
use super::pins;
use super::routes;
use crate::{Description, DeviceInfo, Machine};
use devices::cyclescope::stub;
use devices::external::{ExternalModel, Externals};
use devices::support::bit_band::{self, BitBand};
use devices::{self, Entry, Kind as ModelKind};
use engine::activity::{Activity, CORE};
use engine::bus::device::{Device, DeviceId, IrqLine};
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::clocks::{Clocks, User};
use engine::core::Core;
use engine::dt::fault::{BoardFault, FaultKind, similar_names};
use engine::dt::inputs;
use engine::dt::linux;
use engine::dt::node::{Node, Property};
use engine::dt::reader::{self, Board, NodeReader};
use engine::host_image::{HostImage, ImageError};
use engine::isa::arm::config::BIT_BAND;
use engine::memory::ram::Ram;
use engine::memory::snoop::Snoop;
use engine::observe::signals::DeviceSignals;
use engine::pins::Pin;
use engine::serial::wave::Format;
use engine::time::{Hz, Ps};

/// Interrupt inputs of a core without a description by its interrupt controller.
const INPUTS_OF_CORES: RangeInclusive<u32> = 0..=31;
/// Cores whose data caches are kept coherent with those of others of the same kind.
const COHERENT: [&str; 1] = ["arm,cortex-a7"];
/// The compatible of a memory without a `device_type`.
const SRAM: &str = "mmio-sram";
/// Devices that other nodes refer to by a property of their own ([`NodeReader::device`]).
const REFERENCED: [&str; 3] = ["cyclescope,can-bus", "st,stm32-dac", "st,stm32f4-gcan"];
/// The input numbers that any interrupt controller can have.
const MOST_INPUTS: RangeInclusive<u32> = 0..=255;

/// The kind of a node with addresses.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Ram,
    Device(Found<'a>, DeviceId),
}

struct MappedNode<'a> {
    node: &'a Node,
    kind: Kind<'a>,
    route: Option<usize>,
}

fn nodes_of(root: &Node) -> Vec<(String, u64)> {
    root.walk().map(|node| (node.path.clone(), node.digest())).collect()
}

/// Builds the machine that a board describes.
///
/// # Errors
/// All faults of the board, by file and line.
pub fn build(root: &Node) -> Result<Machine, Vec<BoardFault>> {
    build_with(root, &Externals::default())
}

/// Like [`build`], with models in addition to the engine's own.
///
/// # Errors
/// As for [`build`], and what such a model can't do at reset.
pub fn build_with(root: &Node, externals: &Externals) -> Result<Machine, Vec<BoardFault>> {
    let mut faults = Vec::new();
    common::check(root, &mut faults);
    let goes_on = gaps::are_filled(root, &mut faults);
    let unmodelled = gaps::unmodelled(root, &mut faults);
    let mut buses = Vec::new();
    let mut mapped_nodes = Vec::new();
    collect(root, None, externals, &mut buses, &mut mapped_nodes, &mut faults);
    let cpus = cpu_nodes(root);
    let controllers = interrupt_controllers(&cpus, &mapped_nodes);
    let resolve = |phandle: u32, cells: &[u32]| resolve_interrupt(&controllers, phandle, cells);
    let mut board = Board {
        root,
        faults,
        parameters: Vec::new(),
        declared: None,
        pins: devices::pins_of,
        external: Some(externals),
        interrupts: &resolve,
    };
    let mut bus = Bus::default();
    for node in &buses {
        read_with(node, &mut board, |reader| {
            bus.routes.push(read_route(reader));
            follow_clocks(reader, &mut bus.clocks, User::Route(bus.routes.len() - 1));
        });
    }
    let routes = routes::read(&buses, &mut board, &mut bus);
    let mut cores: Vec<Box<dyn Core>> = Vec::new();
    let mut held = Vec::new();
    let mut description = Description {
        model: model_of(root),
        clocks: clocks_of(root),
        unmodelled,
        nodes: nodes_of(root),
        ..Description::default()
    };
    for (index, node) in cpus.iter().enumerate() {
        let (core, info) = read_with(node, &mut board, |reader| {
            routes::declare_core_bus(reader);
            held.push(read_held(reader));
            let core = cores::from_node(reader, index as u32);
            follow_clocks(reader, &mut bus.clocks, User::Core(index));
            core
        });
        if cpus.len() > 1 && !core.keeps_order() {
            let what = "a core of this type can't be one of several: it keeps no order with others".to_owned();
            board.faults.push(BoardFault {
                at: node.at.clone(),
                node: node.name.clone(),
                kind: FaultKind::Incomplete { what },
            });
        }
        if info.compatible.starts_with("arm,cortex-a") {
            bus.cluster |= 1 << index;
        }
        description.cores.push(info);
        cores.push(core);
        bus.add_core();
        // On a board with several cores, a core that names no second-level cache has none.
        if cpus.len() > 1 && node.property("next-level-cache").is_none() {
            bus.past_outer |= 1 << index;
        }
    }
    let coherent = description.cores.iter().map(|info| COHERENT.contains(&info.compatible.as_str()));
    let caches: Vec<_> = cores.iter().zip(coherent).map(|(core, is)| core.data_cache().filter(|_| is)).collect();
    let (mut entries, mut rams, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for mapped in &mapped_nodes {
        add_node(mapped, &mut board, &mut bus, &mut rams, &mut entries, &mut description, &mut lines);
    }
    if cores.is_empty() {
        let what = "the board has no enabled cpu: add one under /cpus".to_owned();
        board.faults.push(BoardFault {
            at: root.at.clone(),
            node: root.name.clone(),
            kind: FaultKind::Incomplete { what },
        });
    }
    let mut entries = overlays::lay(entries, &rams, &mut board.faults);
    if let Some(core) = cpus.iter().find(|node| node.property(BIT_BAND.0).is_some()) {
        add_bit_band(core, &mut bus, &mut entries, &mut description);
    }
    if caches.iter().flatten().count() > 1 {
        bus.snoop = Some(Snoop::new(&caches, cluster::read(&mut board)));
    }
    bus.shared_lines.keep_shared();
    entries.sort_by_key(|(entry, _): &(MapEntry, &Node)| (entry.base, entry.last));
    find_overlaps(&entries, &mut board.faults);
    pins::check_claims(root, &mut board.faults);
    check_images(&mut bus.devices, &mut board.faults);
    if board.faults.is_empty() {
        let memories = mapped_nodes.iter().filter(|mapped| matches!(mapped.kind, Kind::Ram)).map(|mapped| mapped.node);
        add_rams(&rams, memories, &mut bus, &mut board.faults);
    }
    if !board.faults.is_empty() {
        board.faults.sort();
        board.faults.dedup();
        return Err(board.faults);
    }
    description.parameters = board.parameters;
    let paths: BTreeMap<u32, &str> = entries.iter().map(|(entry, node)| (entry.base, node.path.as_str())).collect();
    let mut map: Vec<MapEntry> = entries.iter().map(|(entry, _)| entry.clone()).collect();
    if goes_on {
        gaps::fill(&mut map, &mut bus);
    }
    // Entries without a node of their own belong to the board.
    let path_of = |entry: &MapEntry| (*paths.get(&entry.base).unwrap_or(&root.path.as_str())).to_owned();
    description.paths = map.iter().map(path_of).collect();
    bus.map = map;
    let clocks: Vec<Hz> = cores.iter().map(|core| core.clock()).collect();
    bus.views = routes.views(&bus, &clocks);
    for (id, line) in lines {
        bus.activities.scope(&bus.device_names[id.0 as usize]).declare_line(bus.end_of(line));
    }
    description.warnings = idle_caches::warnings(&bus, &cpus, &description.cores);
    for index in 0..bus.devices.len() {
        bus.with_device(DeviceId(index as u32), Ps::ZERO, |device, ctx| device.reset(ctx));
        if let Some(what) = bus.failure.take() {
            let path = description.devices.get(index).map_or("", |info| info.path.as_str());
            let node = root.walk().find(|node| node.path == path).unwrap_or(root);
            let kind = FaultKind::Incomplete { what };
            return Err(vec![BoardFault { at: node.at.clone(), node: node.name.clone(), kind }]);
        }
    }
    bus.core_scopes = cores.iter().map(|core| bus.activities.scope(core.name())).collect();
    bus.core_scopes.iter().for_each(|scope| scope.declare(CORE));
    bus.declare_transactions(&cores.iter().map(|core| core.name()).collect::<Vec<_>>());
    bus.device_signals = DeviceSignals::declare(&bus.activities, &bus.waves);
    bus.show_pins();
    let mut machine = Machine::new(bus, cores, description);
    held.iter().enumerate().filter(|(_, held)| **held).for_each(|(core, _)| machine.hold(core));
    Ok(machine)
}

pub(super) fn read_with<'a, T>(
    node: &'a Node,
    board: &mut Board<'a>,
    read: impl FnOnce(&mut NodeReader<'a, '_>) -> T,
) -> T {
    let mut reader = NodeReader::new(node, board);
    let result = read(&mut reader);
    reader.finish();
    result
}

// ---- Nodes

/// Walks the tree: buses, and the memories and devices on them.
fn collect<'a>(
    node: &'a Node,
    route: Option<usize>,
    externals: &'a Externals,
    buses: &mut Vec<&'a Node>,
    mapped_nodes: &mut Vec<MappedNode<'a>>,
    faults: &mut Vec<BoardFault>,
) {
    for child in node.children.iter().filter(|child| child.is_enabled() && child.name != "cpus") {
        let compatibles = child.compatibles();
        if compatibles.contains(&"simple-bus") {
            buses.push(child);
            collect(child, Some(buses.len() - 1), externals, buses, mapped_nodes, faults);
        } else if is_ram(child) {
            mapped_nodes.push(MappedNode { node: child, kind: Kind::Ram, route });
        } else if let Some(model) = found_of(&compatibles, externals) {
            let devices = mapped_nodes.iter().filter(|mapped| matches!(mapped.kind, Kind::Device(..))).count();
            mapped_nodes.push(MappedNode { node: child, kind: Kind::Device(model, DeviceId(devices as u32)), route });
        } else if let Some(first) = compatibles.first() {
            if !compatibles.iter().any(|compatible| passive::is_passive(compatible)) {
                let devices = devices::entries().iter().filter(|entry| ranges_of(entry).is_some());
                let more = externals.all().filter(|model| model.ranges().is_some());
                let names = devices.map(|entry| entry.compatible).chain(passive::names()).chain([SRAM]);
                let mut names: Vec<&str> = names.collect();
                names.extend(more.map(|model| model.compatible.as_str()));
                let similar = similar_names(first, names);
                let kind = FaultKind::UnknownCompatible { compatible: (*first).to_owned(), similar };
                let at = child.property("compatible").map_or(&child.at, |property| &property.at).clone();
                faults.push(BoardFault { at, node: child.name.clone(), kind });
            }
        } else {
            collect(child, route, externals, buses, mapped_nodes, faults);
        }
    }
}

/// The first compatible that has a model; for a node that is also declared a stub, the stub.
fn found_of<'a>(compatibles: &[&str], externals: &'a Externals) -> Option<Found<'a>> {
    let stub = compatibles.iter().find(|compatible| **compatible == stub::COMPATIBLE);
    stub.into_iter().chain(compatibles).find_map(|compatible| Found::of(compatible, externals))
}

fn is_ram(node: &Node) -> bool {
    let device_type = node.property("device_type").and_then(Property::strings);
    device_type.is_some_and(|kind| kind == ["memory"]) || node.compatibles().contains(&SRAM)
}

/// The model of a device on a bus.
#[derive(Clone, Copy)]
enum Found<'a> {
    Own(&'static Entry),
    External(&'a ExternalModel),
}

impl<'a> Found<'a> {
    /// The model of a compatible.
    fn of(compatible: &str, externals: &'a Externals) -> Option<Found<'a>> {
        let external = externals.find(compatible).map(Found::External);
        let found = external.or_else(|| devices::find(compatible).map(Found::Own))?;
        found.ranges().map(|_| found)
    }

    fn ranges(self) -> Option<usize> {
        match self {
            Found::Own(entry) => ranges_of(entry),
            Found::External(model) => model.ranges(),
        }
    }

    fn compatible(self) -> &'a str {
        match self {
            Found::Own(entry) => entry.compatible,
            Found::External(model) => &model.compatible,
        }
    }

    fn activities(self) -> &'static [&'static Activity] {
        match self {
            Found::Own(entry) => entry.model.activities,
            Found::External(_) => &[],
        }
    }

    /// Number of pin banks of a port; 0 for other devices.
    fn banks(self) -> u32 {
        match self {
            Found::Own(entry) => entry.model.banks,
            Found::External(_) => 0,
        }
    }

    fn is_serial_port(self) -> bool {
        matches!(self, Found::Own(entry) if entry.model.group == devices::Group::Serial)
    }

    /// The device of a node; `None`, with a fault, where it can't be made.
    fn device(self, reader: &mut NodeReader) -> Option<Box<dyn Device>> {
        match self {
            Found::Own(entry) => match entry.model.kind {
                ModelKind::Device(_, from_node) | ModelKind::Port(_, from_node) => Some(from_node(reader)),
                ModelKind::SpiChip(_) | ModelKind::I2cChip(_) => None,
            },
            Found::External(model) => model.device(reader),
        }
    }
}

/// Minimum number of ranges of a device's node; `None` for a node that is no device on a bus.
fn ranges_of(entry: &Entry) -> Option<usize> {
    match entry.model.kind {
        ModelKind::Device(ranges, _) | ModelKind::Port(ranges, _) => Some(ranges),
        ModelKind::SpiChip(_) | ModelKind::I2cChip(_) => None,
    }
}

fn cpu_nodes(root: &Node) -> Vec<&Node> {
    let cpus = root.children.iter().find(|node| node.name == "cpus");
    let children = cpus.into_iter().flat_map(|cpus| cpus.children.iter());
    children.filter(|node| node.is_enabled() && node.name.starts_with("cpu@")).collect()
}

fn model_of(root: &Node) -> String {
    let model = root.property("model").and_then(Property::strings);
    model.and_then(|model| model.first().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn clocks_of(root: &Node) -> Vec<(String, u64)> {
    let is_clock =
        |node: &&Node| ["fixed-clock", reader::VARIABLE].iter().any(|name| node.compatibles().contains(name));
    let clocks = root.walk().filter(is_clock);
    clocks
        .filter_map(|node| {
            let hz = reader::frequency_property(node).and_then(Property::cells)?;
            Some((node.label().to_owned(), u64::from(*hz.first()?)))
        })
        .collect()
}

// ---- Interrupts

/// The targets of interrupt specifiers: a line without its number, and the valid numbers.
type Controllers = BTreeMap<u32, (IrqLine, RangeInclusive<u32>)>;

fn interrupt_controllers(cpus: &[&Node], mapped_nodes: &[MappedNode]) -> Controllers {
    let mut controllers = Controllers::new();
    for (core, cpu) in cpus.iter().enumerate() {
        for child in &cpu.children {
            if let Some(phandle) = child.phandle {
                let line = IrqLine::Core { core: core as u32, bit: 0 };
                controllers.insert(phandle, (line, inputs::of(child).unwrap_or(INPUTS_OF_CORES)));
            }
        }
    }
    for mapped in mapped_nodes {
        if let (Kind::Device(_, device), Some(phandle)) = (mapped.kind, mapped.node.phandle)
            && (devices::is_port(mapped.node)
                || REFERENCED.iter().any(|name| mapped.node.compatibles().contains(name))
                || ["interrupt-controller", "#dma-cells"].iter().any(|name| mapped.node.property(name).is_some()))
        {
            let line = IrqLine::Device { device, input: 0 };
            controllers.insert(phandle, (line, inputs::of(mapped.node).unwrap_or(MOST_INPUTS)));
        }
    }
    controllers
}

fn resolve_interrupt(controllers: &Controllers, phandle: u32, cells: &[u32]) -> Option<IrqLine> {
    let number = *cells.first()?;
    let (line, inputs) = controllers.get(&phandle)?;
    inputs.contains(&number).then_some(match *line {
        IrqLine::Core { core, .. } => IrqLine::Core { core, bit: number },
        IrqLine::Device { device, .. } => IrqLine::Device { device, input: number },
    })
}

// ---- Parts

pub(super) fn read_route(reader: &mut NodeReader) -> Route {
    reader.known(&["ranges"]);
    Route {
        name: reader.node.label().to_owned(),
        clock: reader.clock_input(0, "clock of the interconnect").rate,
        request_cycles: reader.timing_cycles("cyclescope,request-cycles", "from a master's request to the target"),
        response_cycles: reader.timing_cycles("cyclescope,response-cycles", "from the target's answer to the master"),
    }
}

/// Registers `user` with each clock that the node's reader has found.
fn follow_clocks(reader: &NodeReader, clocks: &mut Clocks, user: User) {
    reader.followed_clocks().iter().for_each(|clock| clocks.add_user(*clock, user));
}

fn add_node<'a>(
    mapped: &MappedNode<'a>,
    board: &mut Board<'a>,
    bus: &mut Bus,
    rams: &mut Vec<RamPlan>,
    entries: &mut Vec<(MapEntry, &'a Node)>,
    description: &mut Description,
    lines: &mut Vec<(DeviceId, IrqLine)>,
) {
    let name = mapped.node.label().to_owned();
    let mut reader = NodeReader::new(mapped.node, board);
    let cacheable = reader.flag(linux::CACHEABLE.0, linux::CACHEABLE.1);
    let ranges: Vec<(u32, u32)> = match mapped.kind {
        Kind::Ram => memories::read_ranges(&mut reader),
        Kind::Device(model, _) => memories::read_device_ranges(&mut reader, model.ranges().unwrap_or(0)),
    };
    for (index, (base, last)) in ranges.iter().enumerate() {
        let target = match mapped.kind {
            Kind::Ram => Target::Ram(rams.len()),
            Kind::Device(_, id) => Target::Device(id, index),
        };
        // Of a device, only the windows after its registers can be cached.
        let cacheable = cacheable && (matches!(mapped.kind, Kind::Ram) || index > 0);
        let entry = MapEntry::new(entry_name(&name, mapped.kind, index), *base, *last, target)
            .on_route(mapped.route)
            .kept_in_caches(cacheable);
        entries.push((entry, mapped.node));
    }
    match mapped.kind {
        Kind::Ram => {
            let mut plan = memories::read(&mut reader, &ranges);
            // On a board with a single core, the flag has no effect.
            plan.shared &= bus.core_irqs.len() > 1;
            follow_clocks(&reader, &mut bus.clocks, User::Ram(rams.len()));
            rams.push(plan);
        }
        Kind::Device(model, id) => {
            let mut device = model.device(&mut reader);
            if let Some(device) = &mut device {
                if bus.outer.is_none() {
                    bus.outer = device.outer_cache();
                    description.outer = if bus.outer.is_some() { name.clone() } else { String::new() };
                }
                if device.has_core_registers() {
                    bus.core_registers = Some(id);
                }
                if device.is_counter_interrupt() {
                    bus.monitors = Some(id);
                }
                if device.is_firmware() {
                    bus.firmware = Some(id);
                }
            }
            follow_clocks(&reader, &mut bus.clocks, User::Device(id));
            bus.shared_lines.add(reader.interrupt_lines().iter().copied(), id);
            if model.banks() > 0 {
                bus.wires.add_port(id, model.banks());
                for pull in pins::read_pulls(&mut reader, model.banks()) {
                    bus.wires.pull(Pin::new(id, pull.number), pull.up, pull.is_strong);
                }
            }
            if model.is_serial_port() && reader.is_stdout() {
                bus.lines.console = Some(id);
                bus.lines.console_format = reader.stdout_options().and_then(Format::of_options);
            }
            // A device that can't be made has left a fault, and no machine is built.
            bus.devices.push(device);
            bus.device_names.push(name.clone());
            bus.activities.scope(&name).declare(model.activities());
            // Chips below it have their own labels; a device below it comes later, and has its own index.
            bus.hosts.extend(mapped.node.walk().map(|below| (below.label().to_owned(), id)));
            lines.extend(reader.interrupt_lines().iter().map(|line| (id, *line)));
            let (compatible, path) = (model.compatible().to_owned(), mapped.node.path.clone());
            description.devices.push(DeviceInfo { name, compatible, path, ranges });
        }
    }
    reader.finish();
}

/// The alias regions of a core that has bit-banding: the core itself answers there, so there is no route.
fn add_bit_band<'a>(
    core: &'a Node,
    bus: &mut Bus,
    entries: &mut Vec<(MapEntry, &'a Node)>,
    description: &mut Description,
) {
    let id = DeviceId(bus.devices.len() as u32);
    let mut ranges = Vec::new();
    for (range, region) in bit_band::REGIONS.iter().enumerate() {
        let (name, last) = (bit_band::NAME.to_owned(), region.alias + (bit_band::ALIAS_BYTES - 1));
        let target = Target::Device(id, range);
        entries.push((MapEntry::new(name, region.alias, last, target), core));
        ranges.push((region.alias, last));
    }
    bus.devices.push(Some(Box::new(BitBand)));
    bus.device_names.push(bit_band::NAME.to_owned());
    let (name, path) = (bit_band::NAME.to_owned(), core.path.clone());
    description.devices.push(DeviceInfo { name, compatible: String::new(), path, ranges });
}

pub(super) fn read_held(reader: &mut NodeReader) -> bool {
    reader.flag("cyclescope,held-in-reset", "the core does not run until another one lets it go")
}

/// Makes the RAMs. They do not overlap: a board has at most 4 GiB.
fn add_rams<'a>(plans: &[RamPlan], nodes: impl Iterator<Item = &'a Node>, bus: &mut Bus, faults: &mut Vec<BoardFault>) {
    for (plan, node) in plans.iter().zip(nodes) {
        if let Some(mut ram) = Ram::try_new(plan.size_bytes, plan.timing, plan.dram) {
            if plan.shared {
                ram.share();
            }
            if plan.data_only {
                ram.refuse_fetches();
            }
            bus.rams.push(ram);
        } else {
            let at = node.property("reg").map_or(&node.at, |property| &property.at).clone();
            let what = format!("this host has no memory for its {} bytes", plan.size_bytes);
            faults.push(BoardFault { at, node: node.name.clone(), kind: FaultKind::Incomplete { what } });
        }
    }
}

fn entry_name(name: &str, kind: Kind, range: usize) -> String {
    match kind {
        _ if range == 0 => name.to_owned(),
        Kind::Ram => format!("{name} alias"),
        Kind::Device(..) => format!("{name} window"),
    }
}

fn find_overlaps(entries: &[(MapEntry, &Node)], faults: &mut Vec<BoardFault>) {
    for pair in entries.windows(2) {
        let ((one, _), (other, node)) = (&pair[0], &pair[1]);
        if other.base <= one.last {
            let kind = FaultKind::Overlap {
                base: other.base,
                last: other.last,
                other: one.name.clone(),
                other_base: one.base,
                other_last: one.last,
            };
            let at = node.property("reg").map_or(&node.at, |property| &property.at).clone();
            faults.push(BoardFault { at, node: node.name.clone(), kind });
        }
    }
}

/// Reports a fault at the second of two chips with the same image file, unless both only read it.
fn check_images(devices: &mut [Option<Box<dyn Device>>], faults: &mut Vec<BoardFault>) {
    let mut seen: Vec<&mut HostImage> = Vec::new();
    for image in devices.iter_mut().flatten().flat_map(|device| device.images()) {
        if let Some(other) = seen.iter().find(|other| image.clashes_with(other)) {
            faults.push(image.fault(&ImageError::Shared { other: other.label().to_owned() }));
        }
        seen.push(image);
    }
}
