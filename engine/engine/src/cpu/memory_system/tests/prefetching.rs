//! The data prefetcher: streams of misses, and misses of no stream.

use super::super::access::Lines;
use super::super::prefetching::MOST_AHEAD;
use super::*;

const LINE_BYTES: u32 = 32;
/// A line's fill: 4 beats through the RAM's port.
const LINE: u64 = READ + 3 * 3;

fn prefetching(lines: u32) -> Rig {
    let at_once = MemoryConfig { prefetch_lines: lines, tlb_cycles: 0, walk_hit_cycles: 0, ..config() };
    let mut rig = rig(all_on(), at_once);
    rig.memory.translation_changed(&rig.registers);
    rig.word(RAM + 0x800);
    empty(&mut rig);
    rig
}

fn empty(rig: &mut Rig) {
    rig.maintain(Maintenance::Dcache { lines: Lines::All, clean: false, invalidate: true });
    rig.now += 1000;
}

impl Rig {
    /// Loads a word of each line of a list, with 1000 cycles after each: the cycles of their waits.
    fn load_lines(&mut self, lines: &[u32]) -> Vec<u64> {
        let load = |line: &u32| {
            let (cycles, _) = self.word(RAM + line * LINE_BYTES);
            self.now += 1000;
            cycles
        };
        lines.iter().map(load).collect()
    }
}

#[test]
fn three_misses_at_a_fixed_stride_make_a_stream() {
    for stride in 1..=4 {
        let lines: Vec<u32> = (0..6).map(|n| n * stride).collect();
        assert_eq!(prefetching(3).load_lines(&lines), [LINE, LINE, LINE, 0, 0, 0], "stride {stride}");
    }
    let mut rig = prefetching(3);
    assert_eq!(rig.load_lines(&[8, 0, 1, 2, 3]), [LINE, LINE, LINE, LINE, 0]);
    assert_eq!(rig.load_lines(&[10, 4, 5]), [LINE, 0, 0], "they wait in their buffers");
}

#[test]
fn other_misses_make_none() {
    for lines in [[5, 4, 3, 2, 1], [0, 5, 10, 15, 20], [0, 1, 3, 4, 6], [0, 1, 32, 2, 33]] {
        assert_eq!(prefetching(3).load_lines(&lines), [LINE; 5], "{lines:?}");
    }
    // Hits do not matter.
    assert_eq!(prefetching(3).load_lines(&[0, 0, 1, 0, 2, 1, 3]), [LINE, 0, LINE, 0, LINE, 0, 0]);
}

#[test]
fn a_core_that_is_quicker_waits_for_the_rest() {
    let waits = |ahead| {
        let mut rig = prefetching(ahead);
        let waits: u64 = (0..20).map(|line| rig.word(RAM + line * LINE_BYTES).0).sum();
        waits
    };
    assert_eq!(waits(0), 20 * LINE);
    // The next line is under way while a load waits for the rest of its own.
    assert!(waits(1) < 20 * LINE && waits(2) <= waits(1) && waits(MOST_AHEAD as u32) <= waits(2));
}

#[test]
fn a_stream_ends_with_its_page() {
    let mut rig = prefetching(3);
    let lines: Vec<u32> = (120..136).collect();
    let expected = [LINE, LINE, LINE, 0, 0, 0, 0, 0, LINE, 0];
    assert_eq!(rig.load_lines(&lines)[..10], expected, "the stride of the stream is known still");
}

#[test]
fn a_register_limits_the_lines_and_maintenance_drops_them() {
    let mut rig = prefetching(3);
    rig.registers.prefetched_lines = 0;
    rig.memory.translation_changed(&rig.registers);
    assert_eq!(rig.load_lines(&[0, 1, 2, 3]), [LINE; 4]);
    let mut rig = prefetching(3);
    rig.load_lines(&[0, 1, 2]);
    empty(&mut rig);
    assert_eq!(rig.load_lines(&[3, 4]), [LINE; 2]);
}

#[test]
fn a_store_takes_a_line_that_was_requested() {
    let mut rig = prefetching(3);
    rig.load_lines(&[0, 1, 2]);
    let fills = rig.memory.accounts().total();
    rig.put(RAM + 3 * LINE_BYTES, 7);
    rig.now += 1;
    assert_eq!(rig.word(RAM + 3 * LINE_BYTES), (0, 7));
    assert_eq!(rig.memory.accounts().total(), fills, "it was there");
}
