//! `cyclescope,overlay` of a memory: it answers inside a range of another node, in place of that node.

use engine::bus::overlays::OVERLAY_BYTES;
use engine::bus::{MapEntry, Target};
use engine::dt::fault::{BoardFault, FaultKind};
use engine::dt::node::Node;

use super::memories::RamPlan;

/// The property, and its meaning.
pub const OVERLAY: (&str, &str) = (
    "cyclescope,overlay",
    "the memory answers in another's stead: each of its ranges lies inside one of another memory, or inside a device's \
     window, begins at a multiple of 64 bytes and has a multiple of them",
);

/// A map entry, and its node.
type Placed<'a> = (MapEntry, &'a Node);

/// Splits the ranges that lie below overlays. An invalid overlay is a fault, and not in the map.
pub fn lay<'a>(entries: Vec<Placed<'a>>, rams: &[RamPlan], faults: &mut Vec<BoardFault>) -> Vec<Placed<'a>> {
    let is_overlay = |(entry, _): &Placed| matches!(entry.target, Target::Ram(ram) if rams[ram].overlay);
    let (mut overlays, others): (Vec<Placed>, Vec<Placed>) = entries.into_iter().partition(is_overlay);
    overlays.sort_by_key(|(entry, _)| (entry.base, entry.last));
    let mut laid: Vec<Vec<Placed>> = others.iter().map(|_| Vec::new()).collect();
    let mut before: Option<MapEntry> = None;
    for (entry, node) in overlays {
        let found = match before.as_ref().filter(|before| entry.base <= before.last) {
            Some(other) => Err(overlaps(&entry, other)),
            None => place(&entry, &others, rams).map_err(|why| refused(&entry, why)),
        };
        if before.as_ref().is_none_or(|before| before.last < entry.last) {
            before = Some(entry.clone());
        }
        match found {
            Ok(below) => laid[below].push((entry, node)),
            Err(kind) => {
                let at = node.property("reg").map_or(&node.at, |property| &property.at).clone();
                faults.push(BoardFault { at, node: node.name.clone(), kind });
            }
        }
    }
    let ranges = others.into_iter().zip(laid);
    ranges.flat_map(|((entry, node), laid)| split(entry, node, laid)).collect()
}

/// The entry that an overlay covers, or why it can't lie where it does.
fn place(entry: &MapEntry, others: &[Placed], rams: &[RamPlan]) -> Result<usize, String> {
    let bytes = entry.last.wrapping_sub(entry.base).wrapping_add(1);
    if !entry.base.is_multiple_of(OVERLAY_BYTES) || !bytes.is_multiple_of(OVERLAY_BYTES) {
        return Err(format!("an overlay begins at a multiple of {OVERLAY_BYTES} bytes, and has a multiple of them"));
    }
    let shares = |(_, (other, _)): &(usize, &Placed)| other.base <= entry.last && entry.base <= other.last;
    let below: Vec<(usize, &Placed)> = others.iter().enumerate().filter(shares).collect();
    let rule = "an overlay lies wholly inside one range of another node";
    let &[(index, (other, _))] = &below[..] else {
        let names: Vec<&str> = below.iter().map(|(_, (other, _))| other.name.as_str()).collect();
        return Err(match &names[..] {
            [] => format!("{rule}, and nothing is there"),
            names => format!("{rule}, and this one is in {}", names.join(" and in ")),
        });
    };
    let there = format!("{} {:#010x}-{:#010x}", other.name, other.base, other.last);
    if entry.base < other.base || other.last < entry.last {
        return Err(format!("{rule}, and this one goes beyond {there}"));
    }
    match other.target {
        Target::Device(_, 0) => Err(format!(
            "an overlay lies over a memory, or over a device's window after its registers, and the first range of a \
             device, as {there} is, has registers"
        )),
        Target::Ram(ram) if rams[ram].timing.idle_grant_cycles > 0 => {
            Err(format!("no overlay can lie over a memory with cyclescope,idle-grant-cycles, which {there} has"))
        }
        _ => Ok(index),
    }
}

fn refused(entry: &MapEntry, allowed: String) -> FaultKind {
    let bytes = u64::from(entry.last - entry.base) + 1;
    FaultKind::OutOfRange { property: "reg".to_owned(), value: format!("{:#x} + {bytes:#x}", entry.base), allowed }
}

fn overlaps(entry: &MapEntry, other: &MapEntry) -> FaultKind {
    FaultKind::Overlap {
        base: entry.base,
        last: entry.last,
        other: other.name.clone(),
        other_base: other.base,
        other_last: other.last,
    }
}

/// Splits a range around its overlays.
fn split<'a>(entry: MapEntry, node: &'a Node, laid: Vec<Placed<'a>>) -> Vec<Placed<'a>> {
    let nodes: Vec<(u32, &Node)> = laid.iter().map(|(overlay, node)| (overlay.base, *node)).collect();
    let of = |part: &MapEntry| {
        let found = nodes.iter().find(|(base, _)| part.below.is_some() && *base == part.base);
        found.map_or(node, |(_, node)| *node)
    };
    let parts = entry.with_overlays(laid.into_iter().map(|(overlay, _)| overlay).collect());
    parts.into_iter().map(|part| (part.clone(), of(&part))).collect()
}
