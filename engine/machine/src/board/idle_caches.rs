//! Caches that nothing can use.
//!
//! The board's map decides first what a core's caches may keep, for every core type: only ranges marked
//! `cyclescope,cacheable`, and never tightly coupled memory. Page tables (Cortex-A, XBurst) may exclude more, but never
//! add a range. So a cache is useless on a board where nothing is marked.

use crate::CoreInfo;
use engine::bus::{Bus, MapEntry, Target};
use engine::dt::linux::CACHEABLE;
use engine::dt::node::Node;

/// A warning for each core whose caches can keep nothing of what could be marked. `cpus` are the nodes of `cores`, in
/// the same order.
pub fn warnings(bus: &Bus, cpus: &[&Node], cores: &[CoreInfo]) -> Vec<String> {
    if !bus.map.iter().any(may_be_marked) {
        return Vec::new();
    }
    let first_level = cpus.iter().zip(cores).enumerate().filter(|(core, (_, info))| {
        !info.caches.is_empty() && !(0..bus.map.len()).any(|entry| can_keep(bus, *core, entry))
    });
    let mut warnings: Vec<String> =
        first_level.map(|(_, (node, info))| text(&node.at.to_string(), &info.name, info.caches.len())).collect();
    if bus.outer.is_some() && !bus.map.iter().any(|entry| entry.cacheable) {
        warnings.push(format!("the second-level cache never keeps anything: {}", nothing_is_marked()));
    }
    warnings
}

/// True for memory, and for windows of devices after their registers.
fn may_be_marked(entry: &MapEntry) -> bool {
    !matches!(entry.target, Target::Device(_, 0))
}

/// True if the first-level caches of a core may keep what is at a map entry.
fn can_keep(bus: &Bus, core: usize, entry: usize) -> bool {
    let place = &bus.map[entry];
    let at_once = matches!(place.target, Target::Ram(ram) if bus.rams[ram].is_local()) && place.route.is_none();
    let local = bus.views.get(core).map_or(at_once, |views| views[entry].local);
    place.cacheable && !local
}

fn text(at: &str, core: &str, caches: usize) -> String {
    let what = if caches == 1 { "its cache never keeps" } else { "its caches never keep" };
    format!("{at}: {core}: {what} anything: {}", nothing_is_marked())
}

fn nothing_is_marked() -> String {
    format!("no memory below it is marked {}", CACHEABLE.0)
}
