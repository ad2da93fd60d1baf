//! `cyclescope,unmapped` of the root: the answer to accesses at addresses where the board has nothing.
//!
//! With "fault", the default, the core takes a bus fault. With "warn" a device without a model answers at all such
//! addresses ([`devices::cyclescope::stub`]). The path to an undescribed address is unknown: the path to the
//! nearest memory or device is assumed.

use crate::Region;
use devices::cyclescope::stub::Stub;
use devices::cyclescope::stub::registers::number;
use engine::bus::device::DeviceId;
use engine::bus::{Bus, MapEntry, Target};
use engine::dt::fault::{BoardFault, FaultKind};
use engine::dt::node::{Node, Property};

/// The property, and its meaning.
pub const UNMAPPED: (&str, &str) = (
    "cyclescope,unmapped",
    "of the root: what an access to an address is where nothing is on the board: \"fault\", as without it, or \
     \"warn\": registers without a model answer there, and the end of the run lists them",
);
/// The property that lists the peripherals without a model, and its meaning.
pub const UNMODELLED: (&str, &str) = (
    "cyclescope,unmodelled",
    "of the root: peripherals that the chip has and the board has no model of, strings of \"NAME ADDRESS SIZE\": \
     messages name them",
);
/// Name of the gaps in maps, stacks and messages.
const NAME: &str = "unmapped";

/// True if unmapped addresses are answered.
pub fn are_filled(root: &Node, faults: &mut Vec<BoardFault>) -> bool {
    let Some(property) = root.property(UNMAPPED.0) else { return false };
    match property.strings().as_deref() {
        Some(["warn"]) => return true,
        Some(["fault"]) => {}
        _ => faults.push(BoardFault { at: property.at.clone(), node: root.name.clone(), kind: refused(property) }),
    }
    false
}

fn refused(property: &Property) -> FaultKind {
    let strings = property.strings().unwrap_or_default();
    let value = format!("\"{}\"", strings.join("\", \""));
    FaultKind::OutOfRange { property: property.name.clone(), value, allowed: "it is \"fault\" or \"warn\"".to_owned() }
}

/// The peripherals that the chip has and the board has no model of, by address.
pub fn unmodelled(root: &Node, faults: &mut Vec<BoardFault>) -> Vec<Region> {
    let Some(property) = root.property(UNMODELLED.0) else { return Vec::new() };
    let mut refuse = |kind| faults.push(BoardFault { at: property.at.clone(), node: root.name.clone(), kind });
    let name = property.name.clone();
    let Some(strings) = property.strings() else {
        refuse(FaultKind::WrongType { property: name, expected: "strings".to_owned() });
        return Vec::new();
    };
    let mut regions = Vec::new();
    for text in strings {
        match region(text) {
            Some(region) => regions.push(region),
            None => {
                let allowed = "a string is \"NAME ADDRESS SIZE\"".to_owned();
                refuse(FaultKind::OutOfRange { property: name.clone(), value: format!("\"{text}\""), allowed });
            }
        }
    }
    regions.sort_by_key(|region| region.base);
    regions
}

fn region(text: &str) -> Option<Region> {
    let mut words = text.split_whitespace();
    let name = words.next()?.to_owned();
    let (base, size) = (number(words.next())?, number(words.next())?);
    let last = base.checked_add(size.checked_sub(1)?)?;
    words.next().is_none().then_some(Region { name, base, last })
}

/// Fills the gaps of a sorted map without overlaps, so that it has all addresses, and adds the device that answers
/// there.
pub fn fill(map: &mut Vec<MapEntry>, bus: &mut Bus) {
    let id = DeviceId(bus.devices.len() as u32);
    let mut gaps = Vec::new();
    let mut next = Some(0);
    let ends = map.iter().map(|entry| (entry.base, entry.last.checked_add(1), entry.route));
    let mut below = None;
    for (base, after, route) in ends {
        if let Some(first) = next.filter(|first| *first < base) {
            add(&mut gaps, (first, base - 1), below.unwrap_or(route), route);
        }
        (next, below) = (after, Some(route));
    }
    if let Some(first) = next {
        let route = below.flatten();
        add(&mut gaps, (first, u32::MAX), route, route);
    }
    for (range, (base, last, route)) in gaps.into_iter().enumerate() {
        let target = Target::Device(id, range);
        map.push(MapEntry::new(NAME, base, last, target).on_route(route));
    }
    map.sort_by_key(|entry| entry.base);
    bus.devices.push(Some(Box::new(Stub::default())));
    bus.device_names.push(NAME.to_owned());
    bus.gaps = Some(id);
}

/// Adds a gap, in two halves if the routes to its neighbours `below` and `above` differ.
fn add(
    gaps: &mut Vec<(u32, u32, Option<usize>)>,
    (base, last): (u32, u32),
    below: Option<usize>,
    above: Option<usize>,
) {
    let middle = base + (last - base) / 2;
    if below == above || middle == last {
        gaps.push((base, last, below));
    } else {
        gaps.extend([(base, middle, below), (middle + 1, last, above)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::bus::device::AccessSize;
    use engine::faults::BusFaultKind;
    use engine::time::Ps;

    fn entry(base: u32, last: u32, route: Option<usize>) -> MapEntry {
        MapEntry::new("ram", base, last, Target::Ram(0)).on_route(route)
    }

    fn filled(mut map: Vec<MapEntry>) -> Vec<(u32, u32, Option<usize>)> {
        let mut bus = Bus::default();
        fill(&mut map, &mut bus);
        assert_eq!((bus.gaps, bus.device_names.len()), (Some(DeviceId(0)), 1));
        let gaps = map.iter().filter(|entry| entry.name == NAME);
        gaps.map(|entry| (entry.base, entry.last, entry.route)).collect()
    }

    #[test]
    fn all_addresses_are_in_the_map_once() {
        let map = vec![entry(0x1000, 0x1fff, None), entry(0x2000, 0x2fff, None), entry(0x4000, 0x4fff, None)];
        let expected = [(0, 0xfff, None), (0x3000, 0x3fff, None), (0x5000, u32::MAX, None)];
        assert_eq!(filled(map), expected);
        assert_eq!(filled(vec![entry(0, u32::MAX, None)]), []);
        assert_eq!(filled(Vec::new()), [(0, u32::MAX, None)]);
        assert_eq!(filled(vec![entry(0, u32::MAX - 1, Some(2))]), [(u32::MAX, u32::MAX, Some(2))]);
    }

    #[test]
    fn the_way_there_is_that_to_what_is_next_to_it() {
        let map = vec![entry(0, 0xfff, Some(1)), entry(0x2000, 0x2fff, None), entry(0x3002, u32::MAX, Some(0))];
        let expected =
            [(0x1000, 0x17ff, Some(1)), (0x1800, 0x1fff, None), (0x3000, 0x3000, None), (0x3001, 0x3001, Some(0))];
        assert_eq!(filled(map), expected);
    }

    #[test]
    fn what_has_no_model_has_a_name_and_its_addresses() {
        for (text, expected) in [
            ("adc 0xfc030000 0x100", Some((0xfc03_0000, 0xfc03_00ff))),
            ("last 0xffffff00 256", Some((0xffff_ff00, u32::MAX))),
            ("adc 0xffffff00 257", None),
            ("adc 0x100 0", None),
            ("adc 0x100", None),
            ("adc 0x100 4 4", None),
            ("", None),
        ] {
            let ends = region(text).map(|region| (region.base, region.last));
            assert_eq!(ends, expected, "{text}");
        }
    }

    #[test]
    fn accesses_there_are_answered() {
        let (mut bus, mut map) = (Bus::default(), Vec::new());
        let fault = bus.read(Ps(5), 0x4000_0000, AccessSize::Word).unwrap_err();
        assert_eq!((fault.kind, fault.entry), (BusFaultKind::Unmapped, None));
        fill(&mut map, &mut bus);
        bus.map = map;
        bus.write(Ps(5), 0x4000_0000, AccessSize::Word, 7).unwrap();
        let access = bus.read(Ps(6), 0x4000_0000, AccessSize::Word).unwrap();
        assert_eq!((access.value, access.done), (7, Ps(6)));
        assert!(!bus.peek(0x4000_0000, &mut [0]), "nothing can be fetched there");
    }
}
