//! `cache`: a second-level cache inside the cores' cluster, without registers of its own (Cortex-A7 MPCore TRM DDI
//! 0464F, chapter 7). It is on while a core's data cache is on (SCTLR.C), and is maintained by the cores' own
//! operations. The node is Linux's node for such a cache, named by the cores' `next-level-cache`; it has no address.

use crate::prelude::*;
use engine::dt::fault::FaultKind;
use engine::dt::reader::PowerOfTwo;
use engine::memory::cache::{CacheShape, MOST_BYTES, Replacement, WritePolicy};
use engine::memory::outer::{OuterCache, OuterTiming};

/// The device, whose parameters the bus takes.
#[derive(Debug, State, Polled)]
struct ClusterCache {
    clock: ClockInput,
    /// Present until the machine is built.
    #[state(skip)]
    cache: Option<OuterCache>,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Memory, &["cache"], 0, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["cache-unified", "cache-level"]);
    let clock = reader.clock_input(0, "the clock of the cache");
    let timing = OuterTiming {
        clock: clock.rate,
        request_cycles: reader.timing_cycles("cyclescope,request-cycles", "from a core's request to the cache's RAMs"),
        response_cycles: reader.timing_cycles("cyclescope,response-cycles", "from an answer to the core"),
        beat_cycles: reader.timing_cycles("cyclescope,beat-cycles", "from one beat of a line to the next"),
        beat_bytes: reader.timing_u32(
            "cyclescope,beat-bytes",
            PowerOfTwo(4..=64),
            "a beat has 4 to 64 bytes, a power of two",
        ),
    };
    let ram_cycles = [
        reader.timing_cycles("cyclescope,tag-cycles", "cycles of a look at the tags"),
        reader.timing_cycles("cyclescope,data-cycles", "cycles of a read of the data"),
    ];
    let cache = read_shape(reader).map(|shape| {
        let mut cache = OuterCache::new(shape, timing);
        cache.follow_core(ram_cycles);
        cache
    });
    Box::new(ClusterCache { clock, cache })
}

fn read_shape(reader: &mut NodeReader) -> Option<CacheShape> {
    let size_bytes = reader.u32("cache-size", 1..=MOST_BYTES, "a cache has 1 byte to 16 MiB");
    let line_bytes = reader.u32("cache-line-size", 8..=256, "a line of the cache has 8 to 256 bytes, a power of two");
    let sets = reader.u32("cache-sets", 1..=MOST_BYTES / 8, "a cache has 1 to 2097152 sets, a power of two");
    if size_bytes == 0 || line_bytes == 0 || sets == 0 {
        return None; // which is a fault already
    }
    let (replacement, write) = (Replacement::PseudoRandom, WritePolicy::WriteBack);
    let shape = CacheShape::of_sets(size_bytes, line_bytes, sets, replacement, write);
    if shape.is_some() {
        return shape;
    }
    let kind = FaultKind::OutOfRange {
        property: "cache-size".into(),
        value: format!("{size_bytes} ({line_bytes}-byte lines, {sets} sets)"),
        allowed: "size, lines and sets must be powers of two, and size a multiple of lines times sets, with up to \
                  1024 ways"
            .into(),
    };
    reader.fault_at("cache-size", kind);
    None
}

impl Device for ClusterCache {
    fn outer_cache(&mut self) -> Option<OuterCache> {
        self.cache.take()
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
        if let Some(cache) = &mut ctx.bus.outer {
            cache.set_clock(self.clock.rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;

    #[test]
    fn a_node_needs_its_shape_and_times() {
        let shape: [(&str, &[u32]); 3] =
            [("cache-size", &[256 << 10]), ("cache-line-size", &[64]), ("cache-sets", &[512])];
        let (_, faults) = read_plain_node(from_node, &shape);
        assert_eq!(faults.len(), 6, "{faults:?}");
        assert!(faults.iter().all(|fault| fault.contains("is missing")), "{faults:?}");
        let shape: [(&str, &[u32]); 3] =
            [("cache-size", &[256 << 10]), ("cache-line-size", &[64]), ("cache-sets", &[500])];
        let (_, faults) = read_plain_node(from_node, &shape);
        assert!(faults.iter().any(|fault| fault.contains("64-byte lines, 500 sets")), "{faults:?}");
    }

    #[test]
    fn what_no_cache_has_is_refused_before_one_is_made() {
        let shape: [(&str, &[u32]); 4] = [
            ("cache-size", &[1 << 31]),
            ("cache-line-size", &[1 << 30]),
            ("cache-sets", &[u32::MAX]),
            ("cyclescope,tag-cycles", &[u32::MAX]),
        ];
        let (_, faults) = read_plain_node(from_node, &shape);
        let expected = [
            "cache-size is 2147483648; a cache has 1 byte to 16 MiB",
            "cache-line-size is 1073741824; a line of the cache has 8 to 256 bytes, a power of two",
            "cache-sets is 4294967295; a cache has 1 to 2097152 sets, a power of two",
            "cyclescope,tag-cycles is 4294967295; it may be 0 to 1000000",
        ];
        assert!(expected.iter().all(|fault| faults.iter().any(|found| found == fault)), "{faults:?}");
    }
}
